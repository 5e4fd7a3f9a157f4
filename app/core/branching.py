"""Which memory a branch takes along (layered.md, Edits, swipes, deletions, branches)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from app.core.model import Message
from app.core.turns import outline


@dataclass(frozen=True, slots=True)
class Node:
    """A live or absorbed snippet in its tree. `parent` is the key of what absorbed it.

    `first` and `last` are the indices of the messages it covers itself; None where only its parts cover some.
    """

    key: int
    layer: int
    parent: int | None = None
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Root:
    """A snippet that is live in the branch, and its place there."""

    key: int
    layer: int
    position: int


@dataclass(frozen=True, slots=True)
class Carried:
    """What a branch takes along: `live` in reading order; `absorbed` are the keys of all under these, level by level
    from the top.
    """

    live: tuple[Root, ...] = ()
    absorbed: tuple[tuple[int, ...], ...] = ()


def last_to_cover(newest: Sequence[Message], total: int, verbatim_turns: int) -> int | None:
    """The index of the last message that memory may cover: the one before the newest `verbatim_turns` turns begin.

    `newest` are the newest of the history's `total` messages, by index, covered or not. -1: memory may cover nothing;
    None: the window may begin before these.
    """
    turns = [turn for turn in outline(newest, total).turns if turn.coverable]
    is_all = len(newest) == total
    # The first turn of a part may lack its beginning.
    if len(turns) > verbatim_turns or (is_all and len(turns) == verbatim_turns):
        return turns[-verbatim_turns].messages[0].index - 1
    return -1 if is_all else None


def carry(nodes: Iterable[Node], last: int) -> Carried:
    """The snippets under which no message stands after `last`.

    What reaches further gives way to its parts, down to leaves. Layers never rise in reading order, whatever layer a
    part had when it was absorbed.
    """
    parts: dict[int | None, list[Node]] = defaultdict(list)
    for node in nodes:
        parts[node.parent].append(node)
    ranges = _ranges(parts)
    within: list[Node] = []
    looked_at = parts[None]
    while looked_at:
        within += (node for node in looked_at if node.key in ranges and ranges[node.key][1] <= last)
        beyond = [node for node in looked_at if node.key in ranges and ranges[node.key][1] > last]
        looked_at = _parts_of(beyond, parts)
    live = sorted(within, key=lambda node: ranges[node.key])
    below = _levels(_parts_of(live, parts), parts)
    return Carried(tuple(_place(live)), tuple(tuple(node.key for node in level) for level in below))


Parts = Mapping[int | None, Sequence[Node]]


def _ranges(parts: Parts) -> dict[int, tuple[int, int]]:
    """First and last index under each node, through whatever layers; one with nothing under it is left out."""
    found: dict[int, tuple[int, int]] = {}
    for node in chain.from_iterable(reversed(list(_levels(parts.get(None, ()), parts)))):
        spans = [found[part.key] for part in parts.get(node.key, ()) if part.key in found]
        if node.first is not None and node.last is not None:
            spans.append((node.first, node.last))
        if spans:
            found[node.key] = min(first for first, _ in spans), max(last for _, last in spans)
    return found


def _levels(top: Sequence[Node], parts: Parts) -> Iterator[Sequence[Node]]:
    """These and all under them, each after what absorbed it. Trees may be as deep as a chat is long."""
    level = top
    while level:
        yield level
        level = _parts_of(level, parts)


def _parts_of(nodes: Iterable[Node], parts: Parts) -> list[Node]:
    return [part for node in nodes for part in parts.get(node.key, ())]


def _place(live: Sequence[Node]) -> Iterator[Root]:
    """Layers as they are, but none deeper than the one before; positions from 0 in each."""
    sizes: Counter[int] = Counter()
    layer = live[0].layer if live else 0
    for node in live:
        layer = min(layer, node.layer)
        yield Root(node.key, layer, sizes[layer])
        sizes[layer] += 1
