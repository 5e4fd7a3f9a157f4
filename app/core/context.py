"""Which live snippets are sent where not all of them fit: before a passage, and in a prompt with a budget."""

from collections.abc import Sequence
from itertools import zip_longest

from app.core.model import Snippet


def cap_context(prior: Sequence[Snippet], limit: int) -> tuple[Snippet, ...]:
    """The snippets a model sees that fit `limit` tokens (0: all), in reading order (layered.md, Folding).

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


def share_of_memory(live: Sequence[Snippet], limit: int) -> tuple[Snippet, ...]:
    """The snippets of a prompt whose memory may hold `limit` tokens, in reading order (rolling-and-buffer.md).

    The deepest layer whole (if it alone is over, its newest), then the newest of each shallower one, in turn.
    """
    layers = [[s for s in live if s.layer == layer] for layer in _order_of_layers(live)] if live else []
    kept: set[int] = set()
    room = limit
    for snippets in layers[:1]:
        room, _ = _take_newest(snippets, room, kept)
    for newest in zip_longest(*(reversed(snippets) for snippets in layers[1:])):
        fitting = [s for s in newest if s is not None]
        room, complete = _take_newest(fitting[::-1], room, kept)
        if not complete:
            break
    return tuple(snippet for snippet in live if snippet.key in kept)


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
