"""JSON as people's files hold it: read leniently and piece by piece, and made safe to store.

The standard library's scanner over a sliding buffer, not an event parser: ijson 3.6's C backend crashes the process
on an integer of 5,000 digits and takes memory that grows with the square of the nesting depth, and files are hostile.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any, TextIO

from app.core.limits import MAX_DEPTH, UNSTORABLE, is_storable_int
from app.formats.parsed import MAX_RECORD_CHARS

_CHUNK_CHARS = 64 * 1024
_MAX_DIGITS = 20  # no 64-bit number is longer, its sign included
# How much text must follow a value before it is known to be whole: "0" may go on as "0.5" or "0e-5".
_LOOK_AHEAD = 4
_BLANK = re.compile(r"[ \t\r\n]*")


class BrokenJson(ValueError):
    """The text is no JSON from here on. The message says why, as the end of a sentence."""


def _float(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def _integer(digits: str) -> int | None:
    number = int(digits) if len(digits) <= _MAX_DIGITS else None
    return number if number is not None and is_storable_int(number) else None


def _no_number(_name: str) -> None:
    """NaN and the infinities are null, as JavaScript writes them."""


_decoder = json.JSONDecoder(strict=False, parse_float=_float, parse_int=_integer, parse_constant=_no_number)


def storable(value: Any, source: str) -> tuple[Any, bool]:
    """`value`, read from the JSON text `source`, with NUL and lone surrogates as U+FFFD, and whether there were any.

    Raises BrokenJson if it nests too deeply.
    """
    if not _suspicious(source):
        return value, False
    cleaned = _cleaned(value, 0)
    return cleaned, cleaned != value


def _suspicious(source: str) -> bool:
    # Almost every message is spared the walk by four fast searches.
    if "\\u" in source or "\x00" in source or source.count("[") + source.count("{") > MAX_DEPTH:
        return True
    try:
        source.encode()
    except UnicodeEncodeError:
        return True
    return False


def _cleaned(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return UNSTORABLE.sub("\ufffd", value)
    if not isinstance(value, dict | list):
        return value
    if depth == MAX_DEPTH:
        raise BrokenJson(f"it is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, list):
        return [_cleaned(item, depth + 1) for item in value]
    return {UNSTORABLE.sub("\ufffd", key): _cleaned(item, depth + 1) for key, item in value.items()}


def decode(text: str) -> Any:
    """The one JSON value `text` holds. Raises BrokenJson."""
    try:
        return _decoder.decode(text)
    except ValueError:
        raise BrokenJson("it is not valid JSON") from None
    except RecursionError:
        raise BrokenJson("it is nested too deeply") from None


class JsonCursor:
    """A place in a stream of JSON text. Holds one value at a time; every method may raise BrokenJson."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._buffer = ""
        self._at = 0

    def peek(self) -> str:
        """The next character that is not blank; empty at the end of the text."""
        while True:
            blank = _BLANK.match(self._buffer, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._read(_CHUNK_CHARS):
                return ""

    def each_key(self) -> Iterator[str]:
        """The keys of the object that begins here; after each the cursor stands before its value."""
        self._take("{")
        while self.peek() != "}":
            key, _ = self.value()
            self._take(":")
            yield str(key)
            self.value()
            self._pass_comma()

    def each_element(self) -> Iterator[tuple[Any, str]]:
        """The elements of the array that begins here, each with the text it was read from."""
        self._take("[")
        while self.peek() != "]":
            yield self.value()
            self._pass_comma()

    def value(self) -> tuple[Any, str]:
        """The value that begins here, with the text it was read from; the cursor stands behind it then."""
        self.peek()
        chars = _CHUNK_CHARS
        while True:
            found = self._scan()
            if found and len(self._buffer) - found[1] >= _LOOK_AHEAD:
                break
            if len(self._buffer) - self._at > MAX_RECORD_CHARS:
                raise BrokenJson("what follows is broken, or longer than 16 MiB")
            if not self._read(chars):
                break
            chars *= 2
        if not found:
            raise BrokenJson("the file ends in the middle, or is broken there")
        value, end = found
        source = self._buffer[self._at : end]
        self._at = end
        return value, source

    def _take(self, expected: str) -> None:
        found = self.peek()
        if found != expected:
            raise BrokenJson(f"a “{expected}” is missing" if found else "the file ends in the middle")
        self._at += 1

    def _pass_comma(self) -> None:
        if self.peek() == ",":
            self._at += 1

    def _scan(self) -> tuple[Any, int] | None:
        """The value at the cursor and where it ends, if all of it is in the buffer."""
        try:
            return _decoder.raw_decode(self._buffer, self._at)
        except ValueError:
            return None
        except RecursionError:
            raise BrokenJson("what follows is nested too deeply") from None

    def _read(self, chars: int) -> bool:
        more = self._text.read(chars)
        if more:
            self._buffer = self._buffer[self._at :] + more
            self._at = 0
        return bool(more)
