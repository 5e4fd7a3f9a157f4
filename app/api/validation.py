"""Pydantic's findings, told without the value they are about."""

from collections.abc import Iterator, Mapping, Sequence
from json import JSONDecodeError
from typing import Any

from app.errors import FieldError, InvalidRequest

MAX_ERRORS = 50
_MAX_STEP = 200

# These messages quote the value in full or in part.
_QUOTING = {
    "union_tag_invalid": "Must be of one of these kinds: {expected_tags}.",
    "uuid_parsing": "Must be a UUID.",
    "url_parsing": "Must be a URL.",
    "url_syntax_violation": "Must be a URL.",
    "datetime_from_date_parsing": "Must be a date and time as in RFC 3339.",
    "bytes_invalid_encoding": "Must be encoded text.",
    "iteration_error": "Could not be read.",
    "get_attribute_error": "Could not be read.",
    "is_instance_of": "Is of the wrong type.",
}
_RAISED = {"value_error", "assertion_error"}


def invalid_request(errors: Sequence[Any], body: object = None) -> InvalidRequest:
    """The error that stands for FastAPI's or pydantic's; `body` is the text that was no JSON, if that was it."""
    if errors and errors[0].get("type") == "json_invalid":
        return _no_json(errors[0], body)
    told = [_field_error(error) for error in errors[:MAX_ERRORS]]
    return InvalidRequest(_summary(told, len(errors)), told)


def unstorable_request(at: Sequence[str | int], msg: str) -> InvalidRequest:
    """The error for a body that holds something no database takes, at the place `at` in it."""
    return invalid_request([{"type": "unstorable", "loc": ("body", *at), "msg": msg}])


def unreadable_body(cause: BaseException | None) -> InvalidRequest:
    """The error for a body that broke the parser rather than being found wrong by it, or the error it was found by."""
    if isinstance(cause, InvalidRequest):
        return cause
    reasons: dict[type[BaseException], str] = {
        RecursionError: "it is nested too deeply",
        UnicodeDecodeError: "it is not UTF-8",
        ValueError: "it holds a number that is too long",
    }
    reason = next((why for kind, why in reasons.items() if isinstance(cause, kind)), "it ends early or is malformed")
    return InvalidRequest(
        f"The body could not be read: {reason}.", [{"loc": ["body"], "msg": f"Unreadable: {reason}."}]
    )


def _no_json(error: Mapping[str, Any], body: object) -> InvalidRequest:
    position = error["loc"][-1]
    where = ""
    if isinstance(body, str) and isinstance(position, int):
        syntax = JSONDecodeError("", body, position)
        where = f" at line {syntax.lineno}, column {syntax.colno}"
    # What stands after a colon may be a piece of the body.
    what = str(error.get("ctx", {}).get("error", "syntax error")).split(":")[0]
    msg = f"Not valid JSON: {what}{where}."
    return InvalidRequest(f"The body is not valid JSON: {what}{where}.", [{"loc": ["body"], "msg": msg}])


def _summary(told: Sequence[FieldError], total: int) -> str:
    if not told:
        return "The request is not valid."
    first = told[0]
    more = f" ({total - 1} more: see errors.)" if total > 1 else ""
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}{more}"


def _field_error(error: Mapping[str, Any]) -> FieldError:
    ctx = error.get("ctx") or {}
    loc = [_step(step) for step in error.get("loc", ())]
    return {"loc": loc, "msg": _message(error, ctx)}


def _step(step: str | int) -> str | int:
    return step[:_MAX_STEP] if isinstance(step, str) else step


def _message(error: Mapping[str, Any], ctx: Mapping[str, Any]) -> str:
    kind = error.get("type")
    if kind in _QUOTING:
        return _QUOTING[kind].format_map(ctx)
    msg = str(error.get("msg", "Is not valid."))
    if kind not in _RAISED:
        return msg
    msg = msg.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    quoted = any(text in msg for text in _texts(error.get("input")))
    return "Is not valid." if quoted else msg


def _texts(value: object) -> Iterator[str]:
    """The texts in a value that are long enough to be recognized in a message, two levels deep."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else (value,)
    for item in inner:
        nested = item.values() if isinstance(item, Mapping) else item if isinstance(item, list) else (item,)
        yield from (text for text in nested if isinstance(text, str) and len(text) > 2)
