"""A few words of a text, around what was looked for in it."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

MOST_CHARS = 160
"""About how long an excerpt is."""

_BEFORE = 50
"""How much of that stands before what was found."""

_SLACK = 25
"""How much is given up at most so that a cut falls between words."""

_WORD = re.compile(r"[^\W_]+")
_BETWEEN = r"[\W_]+"
_WORD_BEGINS = r"(?<![^\W_])"

Span = tuple[int, int]


def excerpt(text: str, wanted: Sequence[str]) -> str:
    """About 160 characters of a text on one line, with … where it is cut.

    It shows the first place where one of the words or phrases `wanted` stands, and of these the one with most of the
    others nearby; the text's beginning if none is found. Case, accents and what stands between words do not matter.
    """
    line = " ".join(text.split())
    if len(line) <= MOST_CHARS:
        return line
    found = sorted(_first_places(line, wanted))
    first, last = max(found, key=lambda span: _seen_with(span, found)) if found else (0, 0)
    begin = max(0, min(first - _BEFORE, len(line) - MOST_CHARS))
    return _cut(line, (begin, begin + MOST_CHARS), (first, last))


def _seen_with(span: Span, others: Sequence[Span]) -> int:
    """How many of these an excerpt around the first one shows."""
    begin = max(0, span[0] - _BEFORE)
    return sum(begin <= first and last <= begin + MOST_CHARS for first, last in others)


def _cut(line: str, window: Span, shown: Span) -> str:
    """What is in the window, without the halves of words at its ends; `shown` stays whole as far as it fits."""
    begin, end = window
    if begin > 0:
        space = line.find(" ", begin - 1, min(shown[0], begin + _SLACK))
        begin = space + 1 if space >= 0 else _whole(line, begin)
    if end < len(line):
        space = line.rfind(" ", max(shown[1], end - _SLACK), end + 1)
        end = space if space >= 0 else _whole(line, end)
    return f"{'…' if begin > 0 else ''}{line[begin:end].strip()}{'…' if end < len(line) else ''}"


def _whole(line: str, place: int) -> int:
    """The next place that does not part a letter from its marks."""
    while place < len(line) and unicodedata.category(line[place])[0] == "M":
        place += 1
    return place


def _first_places(line: str, wanted: Sequence[str]) -> Iterator[Span]:
    folded, places = _fold(line)
    for text in wanted:
        pieces = map(re.escape, _WORD.findall(_fold(text)[0]))
        pattern = _BETWEEN.join(pieces)
        # Where no spaces are written no word begins.
        found = re.search(_WORD_BEGINS + pattern, folded) or re.search(pattern, folded)
        if pattern and found:
            yield places[found.start()], places[found.end() - 1] + 1


def _fold(text: str) -> tuple[str, Sequence[int]]:
    """A text without case and accents, and where in it each of its characters comes from."""
    if text.isascii():
        return text.lower(), range(len(text))
    folds = [_letters(char) for char in text]
    return "".join(folds), [place for place, fold in enumerate(folds) for _ in fold]


@lru_cache(maxsize=5000)
def _letters(char: str) -> str:
    """What is left of a character, mostly one letter; nothing of accents and of what cannot be seen."""
    parts = unicodedata.normalize("NFKD", char).casefold()
    return "".join(part for part in parts if not unicodedata.combining(part) and unicodedata.category(part) != "Cf")
