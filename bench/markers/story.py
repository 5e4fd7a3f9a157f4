"""A story with numbered facts: each turn tells one or two that are new, and some tell one again."""

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench.prose import lines

_FACT = re.compile(r"\((\d+)\) ([A-Z][^.;()]+)")
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvwz" for vowel in "aeiou"]
_SPREAD = 7919  # shares no divisor with the number of names, so that neighbours get unlike ones and no two the same
_OBJECTS = ("silver key", "torn map", "blue lantern", "sealed letter", "brass bell", "iron ring")
_OTHERS = ("ferryman", "miller", "captain", "gardener", "widow", "smith", "judge")
_UNTIL = ("spring tide", "first frost", "harvest fair", "next full moon", "end of the siege")

_TWO = 0.5
"""The share of turns that tell a second new fact."""
_AGAIN = 0.3
"""The share of turns that tell an old fact again: half of these one of the last few, half any."""
_RECENT = 60
_PROSE_CHARS = 100


@dataclass(frozen=True)
class Story:
    """A chat of two. `turns` are a person's line and a reply; `told` says in which turns (0-based) each fact stands."""

    turns: tuple[tuple[str, str], ...]
    told: Mapping[int, tuple[int, ...]]

    def messages(self) -> list[dict[str, str]]:
        """The chat as messages, with ids u0, a0, u1, …"""
        return [
            {"id": f"{side}{turn}", "role": role, "name": name, "content": text}
            for turn, said in enumerate(self.turns)
            for side, role, name, text in zip("ua", ("user", "assistant"), ("Mira", "Tom"), said, strict=True)
        ]


def fact(number: int) -> str:
    """What there is to know under a number: about 22 tokens, with a name that no other fact has."""
    return (
        f"({number}) {name(number)} keeps a {_OBJECTS[number % 6]} for the {_OTHERS[number % 7]}"
        f" until the {_UNTIL[number % 5]}"
    )


def name(number: int) -> str:
    """The name in a fact, for a search."""
    rest, syllables = number * _SPREAD % len(_SYLLABLES) ** 3, []
    for _ in range(3):
        rest, place = divmod(rest, len(_SYLLABLES))
        syllables.append(_SYLLABLES[place])
    return "".join(syllables).capitalize()


def facts_in(text: str) -> dict[int, str]:
    """The facts a text tells, by number, in the order it tells them first."""
    found: dict[int, str] = {}
    for match in _FACT.finditer(text):
        found.setdefault(int(match[1]), match[0].strip())
    return found


def story(turns: int, seed: int = 4) -> Story:
    """The same for the same arguments."""
    draw, prose = random.Random(seed), lines(seed, _PROSE_CHARS)
    told: defaultdict[int, list[int]] = defaultdict(list)
    said = []
    for turn in range(turns):
        numbers = list(_numbers(draw, len(told)))
        for number in numbers:
            told[number].append(turn)
        sides: tuple[list[str], list[str]] = ([next(prose)], [next(prose)])
        for number in numbers:
            draw.choice(sides).append(f"{fact(number)}.")
        said.append((" ".join(sides[0]), " ".join(sides[1])))
    return Story(tuple(said), {number: tuple(places) for number, places in told.items()})


def _numbers(draw: random.Random, known: int) -> Iterator[int]:
    """What a turn tells; facts are numbered from 1 on as they first come up."""
    fresh = 2 if draw.random() < _TWO else 1
    yield from range(known + 1, known + fresh + 1)
    if known and draw.random() < _AGAIN:
        oldest = max(1, known - _RECENT) if draw.random() < 0.5 else 1
        yield draw.randint(oldest, known)
