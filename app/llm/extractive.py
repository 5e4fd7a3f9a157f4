"""The summarizer for people who have no model: it chooses the passage's own phrases and says who said them.

It works offline, in milliseconds, and gives the same line for the same passage. It never rewrites, so it never
invents; it cannot rephrase either, and it knows importance only by its signs: what a passage is about, names,
numbers, and what memory does not say yet.
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING

from app.core.summary import CountTokens, SummaryRequest
from app.llm.phrases import QUESTION, SENTENCE_END, phrases

if TYPE_CHECKING:
    from app.llm.embedding import Embedding, Space

SEPARATOR = "; "
_FOLD_SHARE, _MERGE_SHARE = 0.5, 0.6  # of the source's tokens, where that is less than the limit
_LONGEST_NAME = 40
_CANDIDATES = 64  # a line holds a dozen phrases at most
# Of the best phrase's worth: a line is not filled up for its own sake. Lines of memory hold little that is idle.
_FOLD_FLOOR, _MERGE_FLOOR = 0.5, 0.2
_SAME = 0.9  # likeness from which two phrases say one thing
_REDUNDANCY = 0.6
_NEW_SPEAKER = 0.06

_SPEAKER = re.compile(r"^((?:[^\s:;]{1,40} ){0,3}[^\s:;]{1,40}): +(?=\S)")
_CAPITAL_WORD = re.compile(r"\b(?!I\b)[A-Z][a-z]\w*")
_CAPITAL_INSIDE = re.compile(r"(?<=[\w,;:—–-] )(?!I\b)[A-Z][a-z]\w*")
_LOWER_WORD = re.compile(r"\b[a-z]{2,}\b")
_DIGIT = re.compile(r"\d")
# Plans, promises and duties are what a story comes back to. Other languages do without this sign.
_INTENT = re.compile(
    r"\b(?:let us|let's|must|shall|will|won't|promise|swear|vow|never|going to)\b|['’]ll\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """One phrase of a passage, and who said it ("" where no one is named)."""

    speaker: str
    text: str


class Extractive:
    """Turns a request into one line of memory. Shared by all threads; the word vectors load with the first request."""

    def __init__(self, count: CountTokens) -> None:
        self._count = count
        self._lock = Lock()
        self._loaded: Embedding | None = None

    def __call__(self, request: SummaryRequest) -> str:
        """One line of at most `request.limit` tokens, blank only if the passage is."""
        count = request.count or self._count
        if request.previous:
            return self._extended(request, request.previous, count)
        return self._line(_units(request), request.prior, _Room.of(request), count)

    def _extended(self, request: SummaryRequest, previous: str, count: CountTokens) -> str:
        """The summary so far, as far as it fits, then a line for the passage.

        What was once worth telling goes before what is new, but a third of the limit is the passage's: a summary that
        is full must not stay as it is for ever.
        """
        share = max(1, request.limit // 3, request.limit - count(previous + SEPARATOR))
        room = replace(_Room.of(request), first=share)
        new = self._line(_units(request), (*request.prior, previous), room, count)
        left = request.limit - (count(SEPARATOR + new) if new else 0)
        old = previous if count(previous) <= left else ""
        if not old and left > 0:
            old = self._line(_recalled(previous), (), _Room(left, left, 0.0), count)
        return SEPARATOR.join(filter(None, (old, new)))

    def _line(self, units: Sequence[Phrase], known: Sequence[str], room: "_Room", count: CountTokens) -> str:
        """The best of `units` that fit; "" if there are none."""
        if not units:
            return ""
        space = self._embedding().space([unit.text for unit in units], known)
        chosen = _chosen(units, _worth(units, space), space, room, count)
        return _fitted(units, chosen, room.first, count)

    def _embedding(self) -> "Embedding":
        with self._lock:
            if self._loaded is None:
                # 90 MB that a server with a model of its own never needs, hence not at the top.
                self._loaded = import_module("app.llm.embedding").Embedding(_recalled_texts)
            return self._loaded


def _chosen(
    units: Sequence[Phrase], worth: Sequence[float], space: "Space", room: "_Room", count: CountTokens
) -> list[int]:
    """Places of the chosen phrases, best first: worth against likeness to those already chosen (MMR)."""
    waiting = sorted(range(len(units)), key=lambda place: (-worth[place], place))[:_CANDIDATES]
    best = waiting[0]
    floor = worth[best] * room.floor
    likest = [0.0] * len(units)
    chosen: list[int] = []
    left = room.first
    while waiting:
        said = {units[place].speaker for place in chosen}
        value = {
            place: worth[place] - _REDUNDANCY * likest[place] + _NEW_SPEAKER * (units[place].speaker not in said)
            for place in waiting
        }
        place = max(waiting, key=lambda place: (round(value[place], 6), -place))
        if chosen and value[place] < floor:
            break
        waiting.remove(place)
        cost = count(_render(units, [place]) + SEPARATOR)
        if cost <= left and likest[place] < _SAME:
            chosen.append(place)
            left = min(left, room.all) - cost
            likest = [max(pair) for pair in zip(likest, space.likeness(place), strict=True)]
    return chosen or [best]


def _fitted(units: Sequence[Phrase], chosen: list[int], limit: int, count: CountTokens) -> str:
    for kept in range(len(chosen), 0, -1):
        line = _render(units, sorted(chosen[:kept]))
        if count(line) <= limit:
            return line
    best = units[chosen[0]]
    named = bool(best.speaker) and count(best.speaker) <= limit // 2
    return _shortened(_run(best.speaker if named else "", [best.text]), limit, count)


def _shortened(line: str, limit: int, count: CountTokens) -> str:
    low, high = 1, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(line[:middle].rstrip()) <= limit else (low, middle - 1)
    return line[:low].rstrip()


@dataclass(frozen=True, slots=True)
class _Room:
    """Tokens for the first phrase alone and for all of them; a fold keeps its best phrase whole if it can.

    `floor`: what every further phrase must be worth, as a part of what the best one is.
    """

    first: int
    all: int
    floor: float

    @classmethod
    def of(cls, request: SummaryRequest) -> "_Room":
        if request.kind == "fold":
            return cls(request.limit, round(request.source_tokens * _FOLD_SHARE), _FOLD_FLOOR)
        share = max(1, min(request.limit, round(request.source_tokens * _MERGE_SHARE)))
        return cls(share, share, _MERGE_FLOOR)


def _units(request: SummaryRequest) -> list[Phrase]:
    if request.kind == "merge":
        return [phrase for line in request.passage for phrase in _recalled(line.text)]
    return [Phrase(_one_line(line.speaker), text) for line in request.passage for text in phrases(line.text)]


def _recalled(line: str) -> list[Phrase]:
    """A line of memory, taken apart where `_render` or a model put its semicolons."""
    found = []
    for part in line.split(SEPARATOR):
        named = _SPEAKER.match(part)
        speaker, text = (named[1], part[named.end() :]) if named else ("", part)
        found += [Phrase(speaker, phrase) for phrase in phrases(text)]
    return found


def _recalled_texts(line: str) -> list[str]:
    return [phrase.text for phrase in _recalled(line)]


def _worth(units: Sequence[Phrase], space: "Space") -> list[float]:
    names = _names(units)
    return [
        round(0.3 * central + _signs(unit.text, names - _name_words(unit)) - 0.9 * max(0.0, known - 0.45), 6)
        for unit, central, known in zip(units, space.central(), space.known(), strict=True)
    ]


def _names(units: Sequence[Phrase]) -> set[str]:
    """Who speaks, and words with a capital inside a sentence that never occur without it."""
    lower = {word for unit in units for word in _LOWER_WORD.findall(unit.text)}
    inside = {word for unit in units for word in _CAPITAL_INSIDE.findall(unit.text) if word.lower() not in lower}
    return inside.union(*map(_name_words, units))


def _name_words(unit: Phrase) -> set[str]:
    return set(unit.speaker.title().split())


def _signs(text: str, names: Set[str]) -> float:
    """What the words alone say about a phrase: substance, others' names, numbers, plans."""
    size = len(text.encode("utf-8", "replace"))
    return (
        0.5 * min(1.0, size / 60)
        - 0.1 * max(0.0, size / 120 - 1)
        + 0.12 * min(2, len(names & set(_CAPITAL_WORD.findall(text))))
        + 0.12 * bool(_DIGIT.search(text))
        + 0.12 * bool(_INTENT.search(text))
        - 0.1 * bool(QUESTION.search(text))
        - 0.1 * text[:1].islower()  # a clause cut out of a sentence
    )


def _render(units: Sequence[Phrase], places: Sequence[int]) -> str:
    """`Mira: I will go. No one else can; Tom: Wait`: neighbours of one speaker share the name."""
    runs: list[tuple[str, list[str]]] = []
    for place in places:
        unit = units[place]
        text = unit.text.replace(";", ",")
        if runs and unit.speaker and runs[-1][0] == unit.speaker:
            runs[-1][1].append(text)
        else:
            runs.append((unit.speaker, [text]))
    return SEPARATOR.join(_run(speaker, texts) for speaker, texts in runs)


def _run(speaker: str, texts: Sequence[str]) -> str:
    joined = texts[0]
    for text in texts[1:]:
        whole = SENTENCE_END.search(joined) and not text[:1].islower()
        joined = f"{joined} {text}" if whole else f"{_trimmed(joined)} … {text}"
    joined = _trimmed(joined)
    return f"{speaker}: {joined}" if speaker else joined


def _trimmed(text: str) -> str:
    """Without the mark a cut leaves at the end; dots stand only where they mean something."""
    bare = text.removesuffix(" …").rstrip(" ,:—–-")
    bare = bare[:-1] if bare.endswith(".") and not bare.endswith("..") else bare
    return bare or text


def _one_line(name: str) -> str:
    return " ".join(name.replace(";", ",").split())[:_LONGEST_NAME].rstrip(" :")
