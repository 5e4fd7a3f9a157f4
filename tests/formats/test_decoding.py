"""app.formats.decoding: bytes to text."""

import gc
import io
from tempfile import SpooledTemporaryFile

import pytest

from app.errors import InvalidRequest
from app.formats.decoding import decoded

TEXT = '{"mes": "Grüße 😀"}\r\nnext\n'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_with_a_mark_and_utf8_are_read(encoding: str) -> None:
    """UTF-8 with or without BOM and UTF-16 with one give the same text, line ends included."""
    assert decoded(io.BytesIO(TEXT.encode(encoding))).read() == TEXT


def test_bytes_that_are_no_text_can_still_be_located() -> None:
    """A byte that is no UTF-8 becomes a lone surrogate where it stood."""
    assert decoded(io.BytesIO(b"a\xffb")).read() == "a\udcffb"


def test_the_callers_stream_stays_open() -> None:
    """Dropping the text half read neither closes the stream nor hinders a second reading from its start."""
    with SpooledTemporaryFile(max_size=8) as stream:
        stream.write(TEXT.encode())
        assert decoded(stream).read(3) == TEXT[:3]
        gc.collect()
        assert decoded(stream).read() == TEXT


@pytest.mark.parametrize(("start", "kind"), [(b"\x1f\x8b\x08\x00", "gzip"), (b"PK\x03\x04\x14", "zip")])
def test_compressed_files_are_refused_by_name(start: bytes, kind: str) -> None:
    """A gzip or zip file is refused with the advice to unpack it."""
    with pytest.raises(InvalidRequest, match=kind):
        decoded(io.BytesIO(start))
