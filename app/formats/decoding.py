"""From a file's bytes to text, whatever wrote it."""

import codecs
import io
from typing import Any, Protocol, TextIO

from app.errors import InvalidRequest

_BUFFER_BYTES = 256 * 1024
_ARCHIVES = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip"}


class ByteSource(Protocol):
    """What a chat is read from: an open file, an upload's spooled file."""

    def read(self, size: int, /) -> bytes: ...

    def seek(self, offset: int, /) -> int: ...


class _Borrowed(io.RawIOBase):
    """The caller's stream, which stays open when the text over it is dropped."""

    def __init__(self, stream: ByteSource) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        data = self._stream.read(len(target))
        target[: len(data)] = data
        return len(data)


def decoded(stream: ByteSource) -> TextIO:
    """The whole of a seekable stream as text: UTF-8 with or without BOM, or UTF-16 with one (Windows PowerShell).

    A byte that is no UTF-8 becomes a lone surrogate, so that whoever cleans the text can say where it was. Lines end
    at "\\n" alone and keep a "\\r". Raises InvalidRequest for compressed files.
    """
    stream.seek(0)
    start = stream.read(4)
    stream.seek(0)
    for mark, kind in _ARCHIVES.items():
        if start.startswith(mark):
            raise InvalidRequest(f"The file is compressed ({kind}): unpack it and import what is inside.")
    utf16 = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding, errors = ("utf-16", "replace") if utf16 else ("utf-8-sig", "surrogateescape")
    buffered = io.BufferedReader(_Borrowed(stream), _BUFFER_BYTES)
    return io.TextIOWrapper(buffered, encoding=encoding, errors=errors, newline="\n")
