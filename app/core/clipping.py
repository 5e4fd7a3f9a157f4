"""Shortening texts to a number of tokens. Sizes are searched by bisection: few counts, and none of a huge whole."""

import re
import unicodedata
from collections.abc import Callable, Sequence

from app.core.summary import CountTokens

_SENTENCE = r"[.!?…]+[\"'”’»)\]]*(?=\s|\Z)|[。！？]+[”’」』）]*|।"
_PART = r"[;:,](?=\s)|[；：，、]|\s[–—-](?=\s)"
# Where a phrase may end, best first, and the least share of what fits that must be left for it.
_ENDS = (
    (re.compile(_SENTENCE), 0.5),
    (re.compile(f"{_SENTENCE}|{_PART}"), 0.25),
    (re.compile(r"(?=\s)"), 0.5),  # words; Thai separates its sentences by spaces
)
_TRAILING = " \t\r\n,;:，、；：–—-"
_SLACK = 16


def cut_to_phrases(text: str, limit: int, count: CountTokens) -> str:
    """The whole phrases of `text` that fit into `limit` tokens.

    Ends at the last sentence if that keeps half of what fits, else at the last part of a sentence if that keeps a
    quarter, else at the last word, else (one endless word) between characters. "" only if not even the first character
    fits.
    """
    if _fits(text, limit, count):
        return text
    size = _largest(len(text), limit, lambda size: count(text[:size]) <= limit)
    while size > 0:
        end = _phrase_end(text, size)
        phrases = text[:end].rstrip(_TRAILING)
        if count(phrases) <= limit:
            return phrases
        size = end * 7 // 8
    return ""


def cut_middle(text: str, limit: int, count: CountTokens, mark: str) -> str:
    """`text`, or its head and tail around `mark` so that all of it holds at most `limit` tokens.

    A limit too small for the mark gives the beginning of the text alone.
    """
    if _fits(text, limit, count):
        return text
    if count(mark) > limit:
        return cut_to_phrases(text, limit, count)
    size = _largest(len(text), limit, lambda size: count(_around(text, size, mark)) <= limit)
    return _around(text, size, mark)


def _fits(text: str, limit: int, count: CountTokens) -> bool:
    """Counts beginnings first, so that a text far over the limit is never counted whole.

    A beginning can hold a few tokens more than it will as part of a longer text, hence the slack.
    """
    size = 16 * max(limit, 1)
    while size < len(text):
        if count(text[:size]) > limit + _SLACK:
            return False
        size *= 4
    return count(text) <= limit


def _largest(top: int, start: int, fits: Callable[[int], bool]) -> int:
    """The largest size below `top` known to fit, to within 1 %; 0 if none does."""
    low, high = 0, min(max(start, 1), top)
    while high < top and fits(high):
        low, high = high, min(2 * high, top)
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low


def _phrase_end(text: str, size: int) -> int:
    for pattern, share in _ENDS:
        # One character more than fits, to see whether the last mark is followed by a space.
        ends = [found.end() for found in pattern.finditer(text, 0, size + 1) if found.end() <= size]
        if ends and ends[-1] >= share * size:
            return ends[-1]
    return _between_characters(text, size)


def _between_characters(text: str, size: int) -> int:
    """The nearest place at or before `size` that does not part a character from its accents or joiners."""
    while 0 < size < len(text) and _joins(text[size - 1 : size + 1]):
        size -= 1
    return size


def _joins(pair: str) -> bool:
    return "\u200d" in pair or unicodedata.category(pair[-1]).startswith("M")


def _around(text: str, size: int, mark: str) -> str:
    """About `size` characters of `text`, half of them from each end, whole words where there are words."""
    head = _word_end(text, size // 2)
    tail = _word_end(text[::-1], size - size // 2)
    return text[:head] + mark + text[len(text) - tail :]


def _word_end(text: str, size: int) -> int:
    """The last place within `size` where a word ends, if a quarter of the size is not lost by it."""
    place = max(text.rfind(" ", 0, size + 1), text.rfind("\n", 0, size + 1))
    return place if 4 * place >= 3 * size else size


def share_out(sizes: Sequence[int], limit: int) -> list[int]:
    """How much of `limit` each gets: small ones all they want, the rest even shares of what these leave over.

    >>> share_out([2, 100, 3], 25)
    [2, 20, 3]
    """
    shares, room = [0] * len(sizes), limit
    for done, place in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[place] = min(sizes[place], room // (len(sizes) - done))
        room -= shares[place]
    return shares
