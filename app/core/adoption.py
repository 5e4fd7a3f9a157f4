"""Where the snippets of a file belong in a chat: memory that was written elsewhere, made to keep our promises.

What a file says of places is a hint. What comes out are disjoint ranges in reading order, deeper layers before
shallower ones, over messages that may be covered; whatever had to be done for it is said.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby

from app.core.ground import Ground, Held

NOT_TAKEN = "snippet_not_taken"

_MOST_DEEP = 10


@dataclass(frozen=True, slots=True)
class Claim:
    """A snippet of a file.

    `range`: first and last index of what it covers, if the file says so: not reversed, but perhaps beyond either end of
    the chat. `merged`: how many snippets of the layer above it replaced.
    """

    layer: int
    range: tuple[int, int] | None = None
    merged: int = 1

    @property
    def weight(self) -> int:
        """How much it covers, against others: each layer of merging multiplies it."""
        return int(self.merged ** min(max(self.layer, 1), _MOST_DEEP))


@dataclass(frozen=True, slots=True)
class Placed:
    """A snippet that was taken, over what may be covered from `first` to `last`. `number` is its claim's."""

    number: int
    layer: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Repair:
    """What was done otherwise than the file says. `detail` is a clause about the claim's snippet, “it”."""

    code: str
    number: int
    detail: str


@dataclass(frozen=True, slots=True)
class Adoption:
    """Snippets in reading order, and the repairs of these; of every other claim the one that says why it is none."""

    placed: tuple[Placed, ...]
    repairs: tuple[Repair, ...]


def adopt(claims: Sequence[Claim], ground: Ground, ends: Sequence[int] = (), window: int = 0) -> Adoption:
    """Find each claim its place. Claims are in reading order: deepest layer first, oldest first.

    `ends`: hints at the index of the newest message that the last claims cover, the best first; only claims without a
    range that no range follows need one. `window`: how many of the newest turns are to stay verbatim.
    """
    repairs: list[Repair] = []
    spans = _within(ground, _filled(claims, ground, ends, repairs), repairs)
    apart = list(_apart(ground, spans, repairs))
    placed = _in_order(ground, _before_window(ground, apart, window, repairs), repairs)
    taken = {snippet.number for snippet in placed}
    told = [repair for repair in repairs if (repair.code == NOT_TAKEN) != (repair.number in taken)]
    return Adoption(tuple(placed), tuple(sorted(told, key=lambda repair: (repair.code != NOT_TAKEN, repair.number))))


def _filled(claims: Sequence[Claim], ground: Ground, ends: Sequence[int], repairs: list[Repair]) -> Iterator[Placed]:
    """All claims with a range; those without one share what their neighbours leave between them."""
    for unknown, group in groupby(enumerate(claims), key=lambda pair: pair[1].range is None):
        some = [number for number, _ in group]
        gap = _gap(claims, some, ends) if unknown else None
        if gap is not None:
            yield from _shared(claims, some, gap, ground, repairs)
        elif unknown:
            why = "it has no range, and nothing says what it covers"
            repairs += (Repair(NOT_TAKEN, number, why) for number in some)
        for number in some:
            claim = claims[number]
            if claim.range is not None:
                yield Placed(number, claim.layer, *claim.range)


def _gap(claims: Sequence[Claim], some: Sequence[int], ends: Sequence[int]) -> tuple[int, int] | None:
    """First and last index between the neighbours of some claims; None where they end is anybody's guess."""
    before = claims[some[0] - 1].range if some[0] else None
    after = claims[some[-1] + 1].range if some[-1] + 1 < len(claims) else None
    first = before[1] + 1 if before else 0
    last = after[0] - 1 if after else next((end for end in ends if end >= first), None)
    return None if last is None else (first, last)


def _shared(
    claims: Sequence[Claim], some: Sequence[int], gap: tuple[int, int], ground: Ground, repairs: list[Repair]
) -> Iterator[Placed]:
    """The gap, cut at ends of turns."""
    first, last = max(gap[0], 0), min(gap[1], ground.total - 1)
    stops = [*ground.turn_ends(first, last)[:-1], last] if first <= last else []
    used = 0
    for number, now in zip(some, _shares([claims[number].weight for number in some], len(stops)), strict=True):
        if now == used:
            repairs.append(Repair(NOT_TAKEN, number, "it has no range, and its neighbours leave no turn for it"))
            continue
        told = f"it has no range; between its neighbours {_over(first, stops[now - 1])}"
        repairs.append(Repair("range_inferred", number, told))
        yield Placed(number, claims[number].layer, first, stops[now - 1])
        first, used = stops[now - 1] + 1, now


def _shares(weights: Sequence[int], turns: int) -> Iterator[int]:
    """How many turns each has used, with all before it, in proportion to its weight; one at least while there are any.

    With more claims than turns the first get one.
    """
    used, waiting, whole = 0, len(weights), sum(weights)
    for running in accumulate(weights):
        waiting -= 1
        fair = round(turns * running / whole)
        used = min(max(min(fair, turns - waiting), used + 1), turns)
        yield used


def _within(ground: Ground, spans: Iterable[Placed], repairs: list[Repair]) -> Iterator[Placed]:
    """The part of each that lies in the chat."""
    for span in spans:
        inside = replace(span, first=max(span.first, 0), last=min(span.last, ground.total - 1))
        if inside.first > inside.last:
            repairs.append(Repair(NOT_TAKEN, span.number, f"the chat has no {_messages(span)}"))
            continue
        if inside != span:
            told = f"its {_messages(span)} reach beyond the chat; {_over(inside.first, inside.last)}"
            repairs.append(Repair("range_clipped", span.number, told))
        yield inside


def _apart(ground: Ground, spans: Iterable[Placed], repairs: list[Repair]) -> Iterator[Placed]:
    """Ascending and disjoint: what begins later gives way, and all give way to what the chat has already."""
    end = -1
    for span in sorted(spans, key=lambda span: (span.first, -span.layer, span.number)):
        first = max(span.first, end + 1)
        found = ground.widest(first, span.last)
        held = ground.held_within(first, span.last)
        if found is None:
            why = "lie under other snippets" if held or first > span.first else "are none that may be covered"
            repairs.append(Repair(NOT_TAKEN, span.number, f"its {_messages(span)} {why}"))
            continue
        if held or first > span.first:
            told = f"its {_messages(span)} overlap those of another; {_over(*found)}"
            repairs.append(Repair("range_overlaps", span.number, told))
        end = found[1]
        yield replace(span, first=found[0], last=found[1])


def _before_window(ground: Ground, spans: list[Placed], window: int, repairs: list[Repair]) -> list[Placed]:
    """If fewer than half of the window's turns would be left, the newest are not taken until all of them are
    (layered.md, promise 3); what the chat has stays.
    """
    held = ground.held[-1].last if ground.held else -1
    left = list(spans)
    while left and left[-1].last > held and ground.turns_after(left[-1].last) < window:
        if len(left) == len(spans) and 2 * ground.turns_after(left[-1].last) >= window:
            break
        span = left.pop()
        why = f"its {_messages(span)} are among the newest turns, which stay verbatim"
        repairs.append(Repair(NOT_TAKEN, span.number, why))
    return left


def _in_order(ground: Ground, spans: Iterable[Placed], repairs: list[Repair]) -> list[Placed]:
    """Deeper layers cover earlier turns: each goes as deep at least as what follows it, and no deeper than what the
    chat has before it.
    """
    everything: list[Placed | Held] = [*spans, *ground.held]
    everything.sort(key=lambda one: one.first)
    layers = _descending(everything)
    placed = []
    for one, layer in zip(everything, layers, strict=True):
        if isinstance(one, Held):
            continue
        placed.append(replace(one, layer=layer))
        if layer != one.layer:
            told = f"it goes to layer {layer}, so that deeper layers cover earlier turns"
            repairs.append(Repair("layer_changed", one.number, told))
    return placed


def _descending(everything: Sequence[Placed | Held]) -> list[int]:
    """A layer for each; what the chat has keeps its own."""
    layers: list[int] = []
    for one in reversed(everything):
        deep_enough = max(one.layer, layers[-1]) if layers else one.layer
        layers.append(one.layer if isinstance(one, Held) else deep_enough)
    layers.reverse()
    return list(accumulate(layers, min))


def _messages(span: Placed) -> str:
    return f"messages {span.first}–{span.last}"


def _over(first: int, last: int) -> str:
    return f"it stands over {first}–{last}"
