"""Grouping messages into turns (layered.md, Words)."""

from collections.abc import Collection, Iterable, Sequence

from app.core.model import Message, Outline, Role, Run, Turn


def outline(uncovered: Sequence[Message], total: int, later: int = 0, enclosed: Collection[int] = ()) -> Outline:
    """The turns among a chat's uncovered messages.

    `uncovered` ascends by index and holds hidden and omitted messages too, so that a gap in the indices means covered
    messages; `total` is the number of all messages of the chat. With `later` it holds only the beginning: `total` is
    then where it ends, nothing is covered after it, and at least `later` turns follow that can fold. `enclosed` are
    the keys of messages that lie inside a live snippet's range.
    """
    head = _head(uncovered)
    prompt = tuple(message for message in head if message.role is Role.SYSTEM)
    runs: list[Run] = []
    open_turn: tuple[Message, ...] = ()
    for stretch, preceded, followed in _stretches(uncovered, {message.key for message in head}, total):
        turns, tail = _close_turns(stretch)
        if followed:
            inside = any(message.key in enclosed for message in stretch)
            runs.append(Run(turns, tail, preceded, followed, inside))
        else:
            turns, open_turn = _reopen(turns, tail)
            runs.append(Run(turns, (), preceded, followed))
    listed = tuple(run for run in runs if run.turns or run.strays)
    return Outline(prompt, listed, () if later else open_turn, later)


def _head(uncovered: Sequence[Message]) -> list[Message]:
    """What stands before the first user or assistant message: in no turn and never covered, so that none is missing.

    System messages there are the chat's own prompt. A tool result there has no call.
    """
    found = []
    for place, message in enumerate(uncovered):
        if message.index != place or message.role in (Role.USER, Role.ASSISTANT):
            break
        found.append(message)
    return found


def _stretches(messages: Sequence[Message], head: set[int], total: int) -> Iterable[tuple[list[Message], bool, bool]]:
    """Messages without a gap between them, each with whether covered ones precede and follow it."""
    stretch: list[Message] = []
    preceded = False
    expected = 0
    for message in messages:
        if message.index > expected:
            if stretch:
                yield stretch, preceded, True
            stretch, preceded = [], True
        if message.key not in head:
            stretch.append(message)
        expected = message.index + 1
    if stretch:
        yield stretch, preceded, expected < total


def _close_turns(stretch: Iterable[Message]) -> tuple[tuple[Turn, ...], tuple[Message, ...]]:
    turns: list[Turn] = []
    current: list[Message] = []
    for message in stretch:
        if message.hidden or message.omitted:
            continue
        current.append(message)
        if message.closes:
            turns.append(Turn(tuple(current)))
            current = []
    return tuple(turns), tuple(current)


def _reopen(turns: tuple[Turn, ...], tail: tuple[Message, ...]) -> tuple[tuple[Turn, ...], tuple[Message, ...]]:
    """A turn whose tool call is still unanswered at the end of the chat is open, whatever was said after the call."""
    if turns and not tail and _unanswered(turns[-1]):
        return turns[:-1], turns[-1].messages
    return turns, tail


def _unanswered(turn: Turn) -> bool:
    asked = {call for message in turn.messages for call in message.calls}
    answered = {message.answers for message in turn.messages}
    return not asked <= answered
