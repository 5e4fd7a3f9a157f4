"""Whether snippets stand in the order of what they cover (layered.md, promise 2), and where they belong."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from app.core.facts import Finding, Rank, StoredSnippet, count, listed
from app.core.lineage import roots_of
from app.core.ranks import Ranked, overlaps, places

Ranges = Mapping[int, tuple[int, int]]
"""First and last index of the messages under snippets, by key."""


def check_order(snippets: Sequence[StoredSnippet], ranges: Ranges) -> list[Finding]:
    """What is wrong with the order of snippets that are live or absorbed; all of them have a range."""
    live = [snippet for snippet in snippets if snippet.state == "live"]
    crossing = overlaps(_ranked(live, ranges))
    if crossing:
        return [_crossing(crossing, {snippet.key: snippet.id for snippet in live})]
    moved = places(_ranked(live, ranges))
    shifted = _lowered(snippets, moved)
    parts = {key: place for family in _families(shifted) for key, place in _family_places(family, ranges).items()}
    return _out_of_order(snippets, moved) + _parts_out_of_order(snippets, _changed(snippets, shifted, moved) | parts)


def _ranked(snippets: Iterable[StoredSnippet], ranges: Ranges) -> list[Ranked]:
    return [Ranked(one.key, one.layer, one.position, *ranges[one.key]) for one in snippets]


def _crossing(pairs: Sequence[tuple[Ranked, Ranked]], ids: Mapping[int, str]) -> Finding:
    told = "; ".join(
        f"{ids[one.key]} ({one.first}–{one.last}) and {ids[other.key]} ({other.first}–{other.last})"
        for one, other in pairs[:5]
    )
    return Finding(
        "snippets_overlap",
        f"{count(len(pairs), 'pair')} of live snippets cover messages in each other's range: {told}. Which of them is"
        " right only a person can tell: delete the other one; what it covers becomes visible and folds again.",
    )


def _out_of_order(snippets: Sequence[StoredSnippet], moved: Mapping[int, tuple[int, int]]) -> list[Finding]:
    found = [snippet for snippet in snippets if snippet.key in moved]
    if not found:
        return []
    crossed = any(moved[snippet.key][0] != snippet.layer for snippet in found)
    words = "in a layer that comes too soon or too late for" if crossed else "not in the order of"
    detail = (
        f"{count(len(found), 'live snippet')}: {words} what they cover ({listed(one.id for one in found)}), so that the"
        " story would be told out of order. They move; no text changes."
    )
    fix = Rank(tuple((key, *place) for key, place in moved.items()))
    return [Finding("layer_order" if crossed else "snippets_out_of_order", detail, fix)]


def _lowered(snippets: Sequence[StoredSnippet], moved: Mapping[int, tuple[int, int]]) -> list[StoredSnippet]:
    """The absorbed ones; those under a snippet that moves to a lower layer go down with it.

    Should it ever give way to its parts, these must not come before what they follow.
    """
    layers = {snippet.key: snippet.layer for snippet in snippets}
    falling = {key: layer for key, (layer, _) in moved.items() if layer < layers[key]}
    roots = roots_of(snippets)
    return [
        replace(one, layer=min(one.layer, falling.get(roots[one.key] or 0, one.layer)))
        for one in snippets
        if one.state == "absorbed"
    ]


def _families(absorbed: Iterable[StoredSnippet]) -> list[list[StoredSnippet]]:
    found: dict[int | None, list[StoredSnippet]] = {}
    for snippet in absorbed:
        found.setdefault(snippet.parent, []).append(snippet)
    return list(found.values())


def _family_places(family: Sequence[StoredSnippet], ranges: Ranges) -> dict[int, tuple[int, int]]:
    """Where the parts of one merged snippet belong, of those that stand wrong."""
    ranked = _ranked(family, ranges)
    return {} if overlaps(ranked) else places(ranked)


def _changed(
    snippets: Sequence[StoredSnippet], shifted: Iterable[StoredSnippet], moved: Mapping[int, tuple[int, int]]
) -> dict[int, tuple[int, int]]:
    layers = {snippet.key: snippet.layer for snippet in snippets} if moved else {}
    return {one.key: (one.layer, one.position) for one in shifted if layers.get(one.key, one.layer) != one.layer}


def _parts_out_of_order(snippets: Sequence[StoredSnippet], moved: Mapping[int, tuple[int, int]]) -> list[Finding]:
    found = [snippet for snippet in snippets if snippet.key in moved]
    if not found:
        return []
    detail = (
        f"{count(len(found), 'absorbed snippet')}: not in the order of what they cover among the parts of what absorbed"
        f" them ({listed(one.id for one in found)}). They move; no text changes."
    )
    return [Finding("parts_out_of_order", detail, Rank(tuple((key, *place) for key, place in moved.items())))]
