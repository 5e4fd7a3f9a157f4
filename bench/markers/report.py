"""What became of the facts, as tables."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from rich.table import Table

from bench.markers.plays import Played
from bench.markers.survey import Survey

_AGES = (100, 300, 1_000, 2_000)
"""Turns before the end of the story."""


def overview(played: Sequence[Played]) -> Table:
    """One column a play: where its facts are, how they got lost, and what it took."""
    shown = _table("", played)
    rows = [_counts(one, played[0].found) for one in played]
    for what in rows[0]:
        shown.add_row(what, *(row[what] for row in rows))
    return shown


def by_layer(played: Sequence[Played]) -> Table:
    """Of the facts first told under each layer, how many a prompt still holds."""
    layers = sorted({layer for one in played for layer in one.found.layers}, reverse=True)
    shown = _table("first told under", played)
    for layer in layers:
        shown.add_row(f"layer {layer}", *(_share(one.found, one.found.layers.get(layer, ())) for one in played))
    shown.add_row("the last turns", *(_share(one.found, _uncovered(one.found)) for one in played))
    return shown


def by_age(played: Sequence[Played]) -> Table:
    """Of the facts first told so many turns before the end, how many a prompt still holds."""
    turns = len(played[0].found.story.turns)
    bounds = [0, *(age for age in _AGES if age < turns), turns]
    shown = _table("first told … turns before the end", played)
    for newest, oldest in pairwise(bounds):
        shares = (_share(one.found, _told_within(one.found, newest, oldest)) for one in played)
        shown.add_row(f"{newest:,} to {oldest:,}", *shares)
    return shown


def share_held(found: Survey) -> float:
    """The percentage of all facts that a prompt holds."""
    return 100 * len(found.prompted) / len(found.story.told)


def _counts(played: Played, first: Survey) -> dict[str, str]:
    found, used = played.found, played.found.status["summarizer_usage"]
    dropped = {merges: sum(len(r.dropped) for r in found.readings if r.merges == merges) for merges in (False, True)}
    outage = played.outage
    counts = {
        "facts of the story": len(found.story.told),
        "in the memory": len(found.remembered),
        "in it more than once": sum(times > 1 for times in found.remembered.values()),
        "in the last turns, word for word": len(found.verbatim),
        "in neither": len(found.missing),
        "  of these held after the first play": len(first.prompted.intersection(found.missing)),
        "  of these told again later": len(found.told_again_in_vain),
        "  of these never dropped by the model": sum(1 for _ in found.unexplained()),
        "  of these not found by search": len(played.not_found),
        "messages in no place or in two": sum(1 for _ in found.holes()),
        "dropped writing a line": dropped[False],
        "dropped merging lines": dropped[True],
        "calls that answered": len(found.readings),
        "most calls at once": played.most_open,
        "tokens sent to the model": used["prompt_tokens"],
        "turns that piled up in the outage": outage.waiting if outage else None,
        "calls refused in the outage": outage.refused if outage else None,
    }
    return {what: "–" if number is None else f"{number:,}" for what, number in counts.items()}


def _table(first: str, played: Iterable[Played]) -> Table:
    shown = Table(box=None, pad_edge=False)
    shown.add_column(first)
    for one in played:
        shown.add_column(one.play.name, justify="right")
    return shown


def _share(found: Survey, numbers: Iterable[int]) -> str:
    wanted = set(numbers)
    if not wanted:
        return "–"
    held = len(wanted & found.prompted)
    return f"{held:,} of {len(wanted):,} ({100 * held / len(wanted):.0f} %)"


def _uncovered(found: Survey) -> set[int]:
    return set(found.story.told) - {number for numbers in found.layers.values() for number in numbers}


def _told_within(found: Survey, newest: int, oldest: int) -> list[int]:
    last = len(found.story.turns) - 1
    return [number for number, turns in found.story.told.items() if newest <= last - turns[0] < oldest]
