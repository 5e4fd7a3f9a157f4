"""Why messages are not sent: ranges of a chat, each with one reason (rolling-and-buffer.md, Projection)."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from app.core.model import Message, Role

Reason = Literal["ghosted", "trimmed", "hidden", "omitted", "empty", "orphan"]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Messages first_index to last_index are not sent, for one reason."""

    first_index: int
    last_index: int
    reason: Reason


@dataclass(frozen=True)
class Unsent:
    """Keys of messages that are not sent whatever the budget: those a request omits, and halves of tool pairs."""

    omitted: frozenset[int] = frozenset()
    orphans: frozenset[int] = frozenset()

    @cached_property
    def keys(self) -> frozenset[int]:
        """All of them."""
        return self.omitted | self.orphans


def is_empty(message: Message) -> bool:
    """Whether there is nothing to send. A tool may answer with nothing; its call needs that answer beside it."""
    return message.blank and message.role is not Role.TOOL


def explain(uncovered: Sequence[Message], total: int, sent: Collection[int], unsent: Unsent) -> tuple[LeftOut, ...]:
    """Ranges of messages that are not sent, in order; what is not among the uncovered is ghosted.

    `total` counts all messages of the chat, `sent` are keys.
    """
    return tuple(_joined(_reasons(uncovered, total, sent, unsent)))


def _reasons(
    uncovered: Sequence[Message], total: int, sent: Collection[int], unsent: Unsent
) -> Iterable[tuple[int, int, Reason]]:
    expected = 0
    for message in uncovered:
        if message.index > expected:
            yield expected, message.index - 1, "ghosted"
        if message.key not in sent:
            yield message.index, message.index, _reason(message, unsent)
        expected = message.index + 1
    if expected < total:
        yield expected, total - 1, "ghosted"


def _reason(message: Message, unsent: Unsent) -> Reason:
    if message.hidden:
        return "hidden"
    if message.omitted or message.key in unsent.omitted:
        return "omitted"
    if is_empty(message):
        return "empty"
    return "orphan" if message.key in unsent.orphans else "trimmed"


def _joined(reasons: Iterable[tuple[int, int, Reason]]) -> Iterable[LeftOut]:
    started: tuple[int, int, Reason] | None = None
    for first, last, reason in reasons:
        if started and reason == started[2] and first == started[1] + 1:
            started = (started[0], last, reason)
            continue
        if started:
            yield LeftOut(*started)
        started = (first, last, reason)
    if started:
        yield LeftOut(*started)
