"""Which live snippets a model sees before a passage (layered.md, Folding: prior context)."""

from collections.abc import Sequence

from app.core.model import Snippet


def cap_context(prior: Sequence[Snippet], limit: int) -> tuple[Snippet, ...]:
    """The snippets that fit `limit` tokens (0: all), in reading order.

    The deepest layer whole (if it alone is over, its newest), then layer 0 newest first, then upward.
    """
    if not limit or sum(snippet.tokens for snippet in prior) <= limit:
        return tuple(prior)
    kept: set[int] = set()
    room = limit
    for layer in _order_of_layers(prior):
        room, complete = _take_newest([s for s in prior if s.layer == layer], room, kept)
        if not complete:
            break
    return tuple(snippet for snippet in prior if snippet.key in kept)


def _order_of_layers(prior: Sequence[Snippet]) -> list[int]:
    deepest = max(snippet.layer for snippet in prior)
    return [deepest, *sorted({snippet.layer for snippet in prior} - {deepest})]


def _take_newest(snippets: Sequence[Snippet], room: int, kept: set[int]) -> tuple[int, bool]:
    for snippet in reversed(snippets):
        if snippet.tokens > room:
            return room, False
        room -= snippet.tokens
        kept.add(snippet.key)
    return room, True
