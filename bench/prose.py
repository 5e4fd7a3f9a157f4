"""Chats for measuring: lines of a set length that read like prose, the same in every run."""

import json
import random
from collections.abc import Iterator

_TEXT = """
the a of and to in her his that was with for on as at by from into over under before after lantern harbour winter letter
captain garden silver mountain kitchen window whisper shadow morning answer question promise silence bridge forest
traveller candle stranger market tower secret journey thunder village brother sister ledger compass orchard walked
turned opened carried remembered laughed waited watched followed found closed slowly quietly almost never always again
together alone bright heavy narrow broken gentle distant
"""
_WORDS = _TEXT.split()

LINE_CHARS = 250


def lines(seed: int, chars: int = LINE_CHARS) -> Iterator[str]:
    """Endless lines of exactly `chars` characters."""
    draw = random.Random(seed)
    while True:
        words: list[str] = []
        length = -1
        while length < chars:
            word = draw.choice(_WORDS)
            words.append(word)
            length += len(word) + 1
        yield " ".join(words)[: chars - 1] + "."


def messages(count: int, seed: int = 1) -> list[dict[str, str]]:
    """A chat of two: user and assistant by turns, with names and ids."""
    said = lines(seed)
    pair = (("user", "Mira"), ("assistant", "Tom"))
    return [
        {"id": f"m{index}", "role": role, "name": name, "content": next(said)}
        for index in range(count)
        for role, name in [pair[index % 2]]
    ]


def as_file(chat: list[dict[str, str]]) -> bytes:
    """The chat as OpenAI messages."""
    return json.dumps(chat).encode()
