"""Chats for tests of decisions, a message at a time."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from app.core.model import Message, Outline, Role, Snippet
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
    return [replace(message, key=100 + index, index=index) for index, message in enumerate(messages)]


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
