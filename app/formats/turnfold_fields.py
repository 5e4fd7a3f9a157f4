"""What a value in a file of our own may be: checks hand over the value, or say what it must be."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from app.core.limits import is_id, is_too_long

Record = dict[str, Any]
Check = Callable[[Any], Any]

MAX_COUNT = 2**31 - 2
"""The greatest whole number but for times; the columns of PostgreSQL hold one more."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
_WORD = re.compile(r"[a-z]{1,12}")
_REQUIRED = object()


class Wrong(ValueError):
    """A value is not what the format says. The message says what it must be, as the end of a sentence."""


class Unknown(ValueError):
    """The file says something this version does not know. The message says what, as a sentence's subject."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record: how it is read, how it is written, and what it is where the file leaves it out.

    A default is null, false, a number or a text: never something that could be changed.
    """

    read: Check
    write: Check = lambda value: value
    default: Any = _REQUIRED

    @property
    def required(self) -> bool:
        return self.default is _REQUIRED


class Shape:
    """The fields of a record, in the order in which they are written."""

    def __init__(self, fields: Mapping[str, Field]) -> None:
        self.fields = fields
        self.required = tuple(name for name, field in fields.items() if field.required)
        self.defaults = {name: field.default for name, field in fields.items() if not field.required}


def read_record(shape: Shape, value: Any) -> Record:
    """The record that a JSON object holds, with its defaults. Raises Wrong and Unknown."""
    given = json_object(value)
    record = dict(shape.defaults)
    for name, said in given.items():
        field = shape.fields.get(name)
        if field is None:
            raise Unknown(f"the field “{name[:60]}”")
        record[name] = _read(name, field, said)
    missing = next((name for name in shape.required if name not in given), None)
    if missing is not None:
        raise Wrong(f"“{missing}” is missing")
    return record


def write_record(shape: Shape, record: Mapping[str, Any]) -> Record:
    """The JSON object of a record: fields in the order of the shape, those with their default left out."""
    return {
        name: field.write(record[name])
        for name, field in shape.fields.items()
        if field.required or record[name] != field.default
    }


def _read(name: str, field: Field, value: Any) -> Any:
    if value is None and field.default is None:
        return None
    try:
        return field.read(value)
    except Wrong as error:
        raise Wrong(f"“{name}” {error}") from None


def flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Wrong("must be true or false")
    return value


def text(value: Any) -> str:
    """Any text."""
    if not isinstance(value, str):
        raise Wrong("must be a text")
    return value


def content(value: Any) -> str:
    """The text of a message or a snippet."""
    if is_too_long(text(value)):
        raise Wrong("must be at most 1 MiB of UTF-8")
    return str(value)


def not_blank(value: Any) -> str:
    """A content with something in it."""
    if not content(value).strip():
        raise Wrong("must not be blank")
    return str(value)


def identifier(value: Any) -> str:
    """An id (http-api.md, Conventions)."""
    if not isinstance(value, str) or not is_id(value):
        raise Wrong('must be 1 to 200 printable characters without "/", and not "." or ".."')
    return value


def word(value: Any) -> str:
    """A short name that programs read."""
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        raise Wrong("must be one word of at most 12 small letters")
    return value


def whole(least: int = 0, most: int = MAX_COUNT) -> Check:
    """A whole number within bounds."""

    def check(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise Wrong(f"must be a whole number from {least} to {most}")
        return value

    return check


def one_of(choices: Collection[str]) -> Check:
    """One of a few words."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in choices:
            raise Wrong(f"must be one of {', '.join(choices)}")
        return value

    return check


def json_object(value: Any) -> dict[str, Any]:
    """A JSON object with whatever in it."""
    if not isinstance(value, dict):
        raise Wrong("must be an object")
    return value


def object_of(shape: Shape) -> Check:
    """A JSON object of one shape."""

    def check(value: Any) -> Record:
        return read_record(shape, value)

    return check


def list_of(check: Check) -> Check:
    """A list of values of one kind."""

    def check_all(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise Wrong("must be a list")
        return [check(item) for item in value]

    return check_all


def read_time(value: Any) -> int:
    """Milliseconds since 1970 of a time such as 2026-03-01T12:00:00.000Z."""
    if isinstance(value, str) and _TIME.fullmatch(value):
        try:
            return (datetime.fromisoformat(value) - _EPOCH) // timedelta(milliseconds=1)
        except ValueError:
            pass  # no such day or hour
    raise Wrong("must be a time in UTC, such as 2026-03-01T12:00:00.000Z")


def write_time(milliseconds: int) -> str:
    """The time of so many milliseconds since 1970."""
    moment = (_EPOCH + timedelta(milliseconds=milliseconds)).replace(tzinfo=None)
    return f"{moment.isoformat(timespec='milliseconds')}Z"
