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
    orphans = _orphans(uncovered)
    blocks = [_Block(block, orphans) for block in _blocks(view)]
    current = _sendable(view.open, orphans)
    dropped = 0 if budget is None else _dropped(blocks, costs, _cost(current), budget)
    history = tuple(m for i, block in enumerate(blocks) for m in block.sent(dropped=i < dropped))
    prompt = _sendable(view.prompt, frozenset())
    early = [m for block in blocks[:dropped] for m in block.pinned] + [
        m for block in blocks[dropped:] for m in block.pinned if m.index < block.start
    ]
    tokens = Tokens(
        system=costs.system + _cost(early),
        tools=costs.tools,
        memory=costs.memory,
        history=_cost(history) - _cost(early),
        current=costs.current + _cost(current),
        budget=budget,
    )
    sent = {message.key for part in (prompt, history, current) for message in part}
    turns = [block for block in blocks if block.turn]
    return Projection(
        prompt=prompt,
        history=history,
        current=current,
        first_index=_window_start(blocks[dropped:], current),
        window_turns=sum(1 for block in blocks[dropped:] if block.turn),
        dropped_turns=len(turns) - sum(1 for block in blocks[dropped:] if block.turn),
        tokens=tokens,
        left_out=_explain(uncovered, total, sent, orphans),
        warnings=_warnings(tokens, dropped, orphans),
    )


class _Block:
    """A turn that a budget can drop, behind what stands alone before it: pinned messages of folded turns, and strays."""

    def __init__(self, parts: "_Parts", orphans: frozenset[int]) -> None:
        self.turn = parts.turn
        self.messages = _sendable((*parts.alone, *(parts.turn.messages if parts.turn else ())), orphans)
        self.pinned = [message for message in self.messages if message.pinned]
        self.start = parts.turn.messages[0].index if parts.turn else parts.alone[0].index

    def sent(self, *, dropped: bool) -> Sequence[Message]:
        """Pinned messages are always sent."""
        return self.pinned if dropped else self.messages

    @property
    def droppable(self) -> int:
        """Cost of what a budget can take away."""
        return _cost(self.messages) - _cost(self.pinned)

    @property
    def asked(self) -> int:
        """Cost of the turn's messages before its reply: what was current when the reply was made."""
        turn = self.turn.messages[:-1] if self.turn else ()
        return _cost(message for message in _sendable(turn, frozenset()) if not message.pinned)


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
    return tuple(m for m in messages if m.visible and not m.blank and m.key not in orphans)


def _cost(messages: Iterable[Message]) -> int:
    return sum(message.tokens + MESSAGE_OVERHEAD for message in messages)


def _dropped(blocks: Sequence[_Block], costs: Costs, open_cost: int, budget: int) -> int:
    fixed = costs.system + costs.memory + costs.tools + sum(_cost(block.pinned) for block in blocks)
    currents = [*(block.asked for block in blocks), costs.current + open_cost]
    return replay([block.droppable for block in blocks], currents, fixed, budget)


def _window_start(kept: Sequence[_Block], current: Sequence[Message]) -> int | None:
    if kept:
        return kept[0].start
    return current[0].index if current else None


def _orphans(uncovered: Sequence[Message]) -> frozenset[int]:
    """Tool results without their call, and calls without all their results further back than the open turn."""
    made = {call for m in uncovered if m.visible for call in m.calls}
    given = {m.answers for m in uncovered if m.visible and m.answers is not None}
    lone_results = {m.key for m in uncovered if m.role is Role.TOOL and m.answers not in made}
    last_call = max((m.index for m in uncovered if m.closes), default=-1)
    lone_calls = {m.key for m in uncovered if m.calls and m.index < last_call and not set(m.calls) <= given}
    broken = {call for m in uncovered if m.key in lone_calls for call in m.calls}
    return frozenset(lone_results | lone_calls | {m.key for m in uncovered if m.answers in broken})


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
    if message.blank:
        return "empty"
    return "orphan" if message.key in orphans else "trimmed"


def _joined(reasons: Iterable[tuple[int, int, Reason]]) -> Iterable[LeftOut]:
    numbered = enumerate(reasons)
    for _, group in groupby(numbered, key=lambda item: (item[1][2], item[1][0] - item[0])):
        ranges = [value for _, value in group]
        yield LeftOut(ranges[0][0], ranges[-1][1], ranges[0][2])


def _warnings(tokens: Tokens, dropped: int, orphans: frozenset[int]) -> tuple[str, ...]:
    found = []
    if orphans:
        found.append("orphaned_tool_messages")
    if tokens.budget is None:
        return tuple(found)
    if dropped:
        found.append("uncovered_turns_dropped")
    if 2 * tokens.system > tokens.budget:
        found.append("system_over_half")
    if tokens.total > tokens.budget:
        found.append("over_budget")
    return tuple(found)
