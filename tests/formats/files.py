"""Files that the tests of app.formats read, made in memory."""

import io
import json
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from app.formats.decoding import ByteSource
from app.formats.parsed import ParsedMessage, Warning
from app.formats.recognize import open_chat

HEADER = {
    "user_name": "Mira",
    "character_name": "Tom",
    "create_date": "2026-03-01 @20h 00m 00s 000ms",
    "chat_metadata": {"integrity": "7b0f1d6a", "note_prompt": ""},
}

# As the Summaryception extension writes it: two layers, a seed, a merge without a range.
STORE: dict[str, Any] = {
    "layers": [
        [
            {"text": "Mira trades the key.", "turnRange": [14, 19], "timestamp": 1767000000000},
            {"text": "Storm at the ford.", "turnRange": [20, 26], "timestamp": 1767000100000, "regenerated": True},
        ],
        [
            {
                "text": "Tom leaves Harrow.",
                "turnRange": [0, 6],
                "timestamp": 1766990000000,
                "promoted": True,
                "seedFromLayer": 0,
            },
            {"text": "Road to the ford.", "fromLayer": 0, "mergedCount": 3, "timestamp": 1766999000000},
        ],
    ],
    "summarizedUpTo": 26,
    "ghostedIndices": [0, 1, 2, 3, 4, 5, 6],
}


def line(mes: str = "Hello.", *, name: str = "Tom", user: bool = False, **fields: Any) -> dict[str, Any]:
    """A SillyTavern message."""
    return {"name": name, "is_user": user, "is_system": False, "mes": mes, **fields}


def jsonl(*records: dict[str, Any] | bytes) -> BinaryIO:
    """A file with one record a line; bytes stand as they are."""
    return io.BytesIO(
        b"\n".join(record if isinstance(record, bytes) else json.dumps(record).encode() for record in records)
    )


def read(stream: ByteSource, format: str | None = None) -> tuple[list[ParsedMessage], list[Warning]]:
    """All messages of a file, then its warnings."""
    chat = open_chat(stream, format=format)
    return list(chat.messages), chat.warnings


def real_play(name: str) -> BinaryIO:
    """One of the real files that lie beside the repository on a developer's machine and in CI."""
    path = Path(__file__).parents[3] / "shared" / "data" / name
    if not path.exists():
        pytest.skip(f"{name} is not beside this repository")
    return path.open("rb")


class Repeated:
    """A file of any size that takes no memory: `unit` again and again, `times` times, between `before` and `after`."""

    def __init__(self, unit: bytes, times: int, before: bytes = b"", after: bytes = b"") -> None:
        self._repeats = -(-65536 // len(unit))
        self._block = unit * self._repeats
        self._blocks = times // self._repeats
        self._before, self._after = before, after
        self.count = self._blocks * self._repeats
        self.seek(0)

    def seek(self, offset: int, /) -> int:
        assert offset == 0
        self._blocks_read = 0
        self._pending = self._before
        self._ended = False
        return 0

    def read(self, size: int, /) -> bytes:
        while not self._pending and not self._ended:
            self._ended = self._blocks_read == self._blocks
            self._pending = self._after if self._ended else self._block
            self._blocks_read += 1
        data, self._pending = self._pending[:size], self._pending[size:]
        return data
