"""Chats for tests of decisions, a message at a time."""

import json
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from app.core.model import Message, Outline, Role, Snippet
from app.core.settings import LayeredSettings
from app.core.turns import outline

VECTORS = Path(__file__).parents[1] / "vectors"


@cache
def vectors(name: str) -> dict[str, Any]:
    """The worked examples of one file."""
    found: dict[str, Any] = json.loads((VECTORS / name).read_text(encoding="utf-8"))
    return found


def said(role: Role, tokens: int = 10, **what: Any) -> Message:
    """A message without a place yet."""
    return Message(key=-1, index=-1, role=role, tokens=tokens, **what)


def user(tokens: int = 10, **what: Any) -> Message:
    """A line of the person."""
    return said(Role.USER, tokens, **what)


def reply(tokens: int = 10, **what: Any) -> Message:
    """A text of the model: it closes a turn."""
    return said(Role.ASSISTANT, tokens, **what)


def system(tokens: int = 10, **what: Any) -> Message:
    """A system message."""
    return said(Role.SYSTEM, tokens, **what)


def call(*ids: str, **what: Any) -> Message:
    """The model calls tools."""
    return said(Role.ASSISTANT, calls=ids, **what)


def result(answers: str, **what: Any) -> Message:
    """A tool answers."""
    return said(Role.TOOL, answers=answers, **what)


def chat(*messages: Message) -> list[Message]:
    """Messages in their places; keys are 100 more than indices, so that nobody takes one for the other."""
    return [message._replace(key=100 + index, index=index) for index, message in enumerate(messages)]


def turns(count: int, tokens: int = 20, **what: Any) -> list[Message]:
    """`count` turns of a user line and a reply, `tokens` in each turn."""
    half = tokens // 2
    return [message for _ in range(count) for message in (user(half, **what), reply(tokens - half, **what))]


def uncovered(messages: Sequence[Message], covered: Collection[int] = ()) -> list[Message]:
    """The messages whose indices are not covered."""
    return [message for message in messages if message.index not in covered]


def view_of(messages: Sequence[Message], covered: Collection[int] = (), enclosed: Collection[int] = ()) -> Outline:
    """The outline of a chat; `covered` and `enclosed` are indices."""
    keys = {message.key for message in messages if message.index in enclosed}
    return outline(uncovered(messages, covered), len(messages), enclosed=keys)


def places(messages: Iterable[Message]) -> list[int]:
    """Where messages stand."""
    return [message.index for message in messages]


def layers(*counts: int, tokens: int = 10) -> list[Snippet]:
    """Live snippets in reading order, given how many there are in layer 0, 1, …; keys count up from 1."""
    deep_first = [layer for layer in reversed(range(len(counts))) for _ in range(counts[layer])]
    return [Snippet(key, layer, tokens) for key, layer in enumerate(deep_first, 1)]


# Strategies

sizes = st.integers(0, 60)
flags = st.sampled_from([{}, {}, {}, {}, {"hidden": True}, {"pinned": True}, {"omitted": True}])
ids = st.sampled_from("ab")
lines = st.one_of(
    st.builds(lambda size, what: user(size, **what), sizes, flags),
    st.builds(lambda size, what: reply(size, **what), sizes, flags),
    st.builds(lambda size, what: reply(size, **what), sizes, flags),
    st.builds(lambda size, what: system(size, **what), sizes, flags),
    st.builds(lambda name, what: call(name, **what), ids, flags),
    st.builds(lambda name, what: result(name, **what), ids, flags),
    st.just(user(0, blank=True)),
    st.just(reply(0, blank=True)),
)
histories = st.lists(
    st.one_of(lines.map(lambda line: [line]), st.integers(1, 4).map(turns)), min_size=4, max_size=20
).map(lambda pieces: list(chain.from_iterable(pieces)))


def layered(**fixed: Any) -> st.SearchStrategy[LayeredSettings]:
    """Small numbers, so that short chats meet every limit."""
    values: dict[str, Any] = {
        "verbatim_turns": st.integers(1, 5),
        "turns_per_batch": st.integers(1, 3),
        "flush_turns": st.none() | st.integers(3, 6),
        "window": st.sampled_from(["strict", "compat"]),
        "snippets_per_layer": st.integers(3, 4),
        "snippets_per_promotion": st.just(2),
        "max_layers": st.integers(1, 4),
        "deepest_layer": st.sampled_from(["merge", "keep"]),
        "passage_tokens": st.sampled_from([50, 100, 12_000]),
        "memory_tokens": st.sampled_from([0, 30, 100, 16_000]),
        "verbatim_tokens": st.sampled_from([0, 0, 1, 60]),
    }
    return st.builds(LayeredSettings, **(values | fixed))
