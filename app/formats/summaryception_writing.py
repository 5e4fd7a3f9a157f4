"""The memory of the Summaryception extension, written in the original's shape, so that the original reads it."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from app.formats.given import GivenSnippet


def write_store(snippets: Iterable[GivenSnippet], ghosted: Sequence[int]) -> dict[str, Any]:
    """The store, which is also the extension's export file: live snippets by layer, each layer oldest first.

    `snippets` are in reading order, `ghosted` the indices of all covered messages, ascending. Both count the messages
    of the SillyTavern export.
    """
    layers: list[list[dict[str, Any]]] = []
    for snippet in snippets:
        layers += [[] for _ in range(snippet.layer + 1 - len(layers))]
        layers[snippet.layer].append(_entry(snippet))
    return {
        "layers": layers,
        "summarizedUpTo": ghosted[-1] if ghosted else -1,
        "ghostedIndices": list(ghosted),
    }


def _entry(snippet: GivenSnippet) -> dict[str, Any]:
    entry = {
        **snippet.extra,
        "text": snippet.text,
        "turnRange": [snippet.first, snippet.last],
        "timestamp": _milliseconds(snippet.made_at),
    }
    if snippet.seeded:
        entry |= {"promoted": True, "seedFromLayer": max(0, snippet.layer - 1)}
    if snippet.merged:
        entry |= {"fromLayer": snippet.merged_from, "mergedCount": snippet.merged}
    if snippet.regenerated:
        entry["regenerated"] = True
    return entry


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
