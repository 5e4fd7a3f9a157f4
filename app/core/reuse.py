"""What consecutive prompts begin with in common: as much of the later one as a prompt cache need not read again."""

from collections.abc import Sequence
from typing import NamedTuple


class Shared(NamedTuple):
    """Whole texts in common, and characters of the first that differs."""

    texts: int
    chars: int


def shared(before: Sequence[str], after: Sequence[str]) -> Shared:
    """How far two prompts, each a list of texts, are the same from their beginning.

    >>> shared(["system", "hello"], ["system", "help!"])
    Shared(texts=1, chars=3)
    """
    both = min(len(before), len(after))
    same = next((place for place in range(both) if before[place] != after[place]), both)
    return Shared(same, common_chars(before[same], after[same]) if same < both else 0)


def common_chars(before: str, after: str) -> int:
    """How many characters two texts begin with in common."""
    low, high = 0, min(len(before), len(after))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if before[low:middle] == after[low:middle] else (low, middle - 1)
    return low
