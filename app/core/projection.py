"""What the model is sent now (rolling-and-buffer.md, Projection): which messages, in which order, at what cost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from app.core.model import Message, Outline, Role, Turn
from app.core.trim import MESSAGE_OVERHEAD, replay

Reason = Literal["ghosted", "trimmed", "hidden", "omitted", "empty", "orphan"]


@dataclass(frozen=True, slots=True)
class Costs:
    """Tokens of what every prompt of this request holds besides history; each part with its messages' overhead."""

    system: int = 0
    memory: int = 0
    tools: int = 0
    current: int = 0


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Messages first_index to last_index are not sent, for one reason."""

    first_index: int
    last_index: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class Tokens:
    """The parts of a prompt, in tokens; `budget` None where no window is known."""

    system: int
    tools: int
    memory: int
    history: int
    current: int
    budget: int | None

    @property
    def total(self) -> int:
        return self.system + self.tools + self.memory + self.history + self.current


@dataclass(frozen=True, slots=True)
class Projection:
    """A prompt as a plan: the chat's own system prompt, history in order, and the open turn as `current`.

    `window_turns` counts the visible closed turns sent, `dropped_turns` those a budget left out; `first_index` is
    where the window begins. Warnings are codes of the contract.
    """

    prompt: tuple[Message, ...]
    history: tuple[Message, ...]
    current: tuple[Message, ...]
    first_index: int | None
    window_turns: int
    dropped_turns: int
    tokens: Tokens
    left_out: tuple[LeftOut, ...]
    warnings: tuple[str, ...]


def project(view: Outline, uncovered: Sequence[Message], total: int, costs: Costs, budget: int | None) -> Projection:
    """The prompt for `view`, the outline of `uncovered`; `total` counts all messages of the chat.

    `costs.current` is what the request itself brings; the open turn is added here.
    """
    unfinished = frozenset(message.key for message in view.open)
    orphans = _orphans(uncovered, unfinished)
    blocks = [_Block(block, orphans) for block in _blocks(view)]
    dropped = 0
    if budget is not None:
        dropped = _dropped(blocks, costs, _cost(_sendable(view.open, orphans)), budget)
        orphans |= _torn(blocks[:dropped], uncovered, unfinished)
    history = _sendable((m for i, block in enumerate(blocks) for m in block.sent(dropped=i < dropped)), orphans)
    current = _sendable(view.open, orphans)
    prompt = _sendable(view.prompt, frozenset())
    early = _sendable((m for i, block in enumerate(blocks) for m in block.early(dropped=i < dropped)), orphans)
    tokens = Tokens(
        system=costs.system + _cost(early),
        tools=costs.tools,
        memory=costs.memory,
        history=_cost(history) - _cost(early),
        current=costs.current + _cost(current),
        budget=budget,
    )
    sent = {message.key for part in (prompt, history, current) for message in part}
    kept = [block for block in blocks[dropped:] if block.turn]
    left_out = _explain(uncovered, total, sent, orphans)
    return Projection(
        prompt=prompt,
        history=history,
        current=current,
        first_index=_window_start(kept, current),
        window_turns=len(kept),
        dropped_turns=sum(1 for block in blocks[:dropped] if block.turn),
        tokens=tokens,
        left_out=left_out,
        warnings=_warnings(tokens, left_out),
    )


class _Block:
    """A turn that a budget can drop, behind what stands alone before it: pinned messages of folded turns, strays."""

    def __init__(self, parts: "_Parts", orphans: frozenset[int]) -> None:
        self.turn = parts.turn
        own = parts.turn.messages if parts.turn else ()
        alone, self.asked = _sendable(parts.alone, orphans), _sendable(own[:-1], orphans)
        self.messages = (*alone, *_sendable(own, orphans))
        self.pinned = _pinned(self.messages)
        self.pinned_alone = _pinned(alone)
        self.start = own[0].index if own else None

    def sent(self, *, dropped: bool) -> Sequence[Message]:
        """Pinned messages are always sent."""
        return self.pinned if dropped else self.messages

    def early(self, *, dropped: bool) -> Sequence[Message]:
        """Pinned messages whose turn is not sent: they stand before the window and count as the system's."""
        return self.pinned if dropped else self.pinned_alone

    @property
    def droppable(self) -> int:
        """Cost of what a budget can take away."""
        return _cost(self.messages) - _cost(self.pinned)

    @property
    def current(self) -> int:
        """Cost of the turn's messages before its reply: what was current when the reply was made."""
        return _cost(self.asked) - _cost(_pinned(self.asked))


@dataclass(frozen=True, slots=True)
class _Parts:
    alone: tuple[Message, ...]
    turn: Turn | None


def _blocks(view: Outline) -> Iterable[_Parts]:
    alone: list[Message] = []
    for run in view.runs:
        for turn in run.turns:
            if turn.coverable:
                yield _Parts(tuple(alone), turn)
                alone = []
            else:
                alone += turn.messages
        alone += run.strays
    if alone:
        yield _Parts(tuple(alone), None)


def _sendable(messages: Iterable[Message], orphans: frozenset[int]) -> tuple[Message, ...]:
    return tuple(m for m in messages if m.visible and not _is_empty(m) and m.key not in orphans)


def _is_empty(message: Message) -> bool:
    """A tool may answer with nothing; its call needs that answer beside it."""
    return message.blank and message.role is not Role.TOOL


def _pinned(messages: Iterable[Message]) -> tuple[Message, ...]:
    return tuple(message for message in messages if message.pinned)


def _cost(messages: Iterable[Message]) -> int:
    return sum(message.tokens + MESSAGE_OVERHEAD for message in messages)


def _dropped(blocks: Sequence[_Block], costs: Costs, open_cost: int, budget: int) -> int:
    fixed = costs.system + costs.memory + costs.tools + sum(_cost(block.pinned) for block in blocks)
    currents = [*(block.current for block in blocks), costs.current + open_cost]
    return replay([block.droppable for block in blocks], currents, fixed, budget)


def _window_start(kept: Sequence[_Block], current: Sequence[Message]) -> int | None:
    """The first message of the oldest turn sent."""
    if kept:
        return kept[0].start
    return current[0].index if current else None


def _orphans(messages: Iterable[Message], unfinished: frozenset[int]) -> frozenset[int]:
    """Tool results without their call before them, and calls without all their results, with what results they have.

    A result answers the last call of its id: some servers begin to count anew in every turn. A call in the open turn
    (`unfinished`) waits for its results.
    """
    callers: dict[str | None, int | None] = {}
    missing: dict[int, set[str | None]] = {}
    answering: dict[int, int | None] = {}
    for message in messages:
        callers.update(dict.fromkeys(message.calls, message.key if message.visible else None))
        if message.visible and message.calls:
            missing[message.key] = set(message.calls)
        elif message.visible and message.role is Role.TOOL:
            caller = answering[message.key] = callers.get(message.answers)
            if caller is not None:
                missing[caller].discard(message.answers)
    broken = {key for key, calls in missing.items() if calls and key not in unfinished}
    return frozenset(broken | {key for key, caller in answering.items() if caller is None or caller in broken})


def _torn(dropped: Iterable[_Block], uncovered: Iterable[Message], unfinished: frozenset[int]) -> frozenset[int]:
    """What is orphaned because its other half is dropped: a pair may be pinned in part, or reach over two turns."""
    gone = {message.key for block in dropped for message in block.messages if not message.pinned}
    return _orphans((message for message in uncovered if message.key not in gone), unfinished)


def _explain(uncovered: Sequence[Message], total: int, sent: set[int], orphans: frozenset[int]) -> tuple[LeftOut, ...]:
    """Ranges of messages that are not sent, in order; what is not among the uncovered is ghosted."""
    reasons: list[tuple[int, int, Reason]] = []
    expected = 0
    for message in uncovered:
        if message.index > expected:
            reasons.append((expected, message.index - 1, "ghosted"))
        if message.key not in sent:
            reasons.append((message.index, message.index, _reason(message, orphans)))
        expected = message.index + 1
    if expected < total:
        reasons.append((expected, total - 1, "ghosted"))
    return tuple(_joined(reasons))


def _reason(message: Message, orphans: frozenset[int]) -> Reason:
    if message.hidden:
        return "hidden"
    if message.omitted:
        return "omitted"
    if _is_empty(message):
        return "empty"
    return "orphan" if message.key in orphans else "trimmed"


def _joined(reasons: Iterable[tuple[int, int, Reason]]) -> Iterable[LeftOut]:
    numbered = enumerate(reasons)
    for _, group in groupby(numbered, key=lambda item: (item[1][2], item[1][0] - item[0])):
        ranges = [value for _, value in group]
        yield LeftOut(ranges[0][0], ranges[-1][1], ranges[0][2])


def _warnings(tokens: Tokens, left_out: Iterable[LeftOut]) -> tuple[str, ...]:
    found = []
    reasons = {part.reason for part in left_out}
    if "orphan" in reasons:
        found.append("orphaned_tool_messages")
    if tokens.budget is None:
        return tuple(found)
    if "trimmed" in reasons:
        found.append("uncovered_turns_dropped")
    if 2 * tokens.system > tokens.budget:
        found.append("system_over_half")
    if tokens.total > tokens.budget:
        found.append("over_budget")
    return tuple(found)
