"""What a prompt may hold, and what of it is taken before any history is sent."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from sqlmodel import Session

from app.core.blocks import sendable
from app.core.errors import BudgetError
from app.core.left_out import Unsent
from app.core.placement import Placement
from app.core.projection import Choice, Costs
from app.core.trim import MESSAGE_OVERHEAD, resolve_budget
from app.errors import InvalidRequest, NotFound
from app.services.blocks import Block
from app.services.connections import Connections
from app.services.counters import ChatCounters
from app.services.ports import Counter
from app.services.projection_query import ProjectionQuery
from app.services.reading import ChatState


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens the prompt may hold, None where no window is known, and warnings on the way there."""

    tokens: int | None
    warnings: tuple[str, ...] = ()

    def share(self, of_memory: float) -> int | None:
        """Tokens of it that the memory may take."""
        return None if self.tokens is None else int(self.tokens * of_memory)


class Tally:
    """Counts what a request brings, as the chat's model counts. Which that is, is looked up with the first text."""

    def __init__(self, look_up: Callable[[], Counter], remembered: Callable[[Counter, str], int]) -> None:
        self._look_up = look_up
        self._remembered = remembered

    @cached_property
    def _count(self) -> Counter:
        return self._look_up()

    def repeated(self, text: str) -> int:
        """Tokens of a text that comes with many requests."""
        return self._remembered(self._count, text)

    def tools(self, tools: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of the tools that are sent beside the messages."""
        return self._count(json.dumps(list(tools), ensure_ascii=False)) if tools else 0

    def messages(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of messages that are not stored, what each costs besides its text included."""
        return sum(self._message(message) for message in messages)

    def _message(self, message: Mapping[str, Any]) -> int:
        calls = message.get("tool_calls")
        said = self._count(message.get("content") or "")
        return said + (self._count(json.dumps(calls, ensure_ascii=False)) if calls else 0) + MESSAGE_OVERHEAD


@dataclass(frozen=True)
class Budgeting:
    """Reads how large a prompt may be."""

    connections: Connections
    counters: ChatCounters
    _remembered: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # A frontend sends the same system prompt with every request.
        object.__setattr__(self, "_remembered", lru_cache(maxsize=64)(_counted))

    def budget(self, session: Session, state: ChatState, query: ProjectionQuery) -> Budget:
        """By the request's window, else by the connection's. Raises InvalidRequest when the sizes do not fit."""
        size, warned = query.context_size, []
        if size is None and query.max_tokens is None:
            try:
                size = self.connections.describe(session, state.settings.connection).context_size
            except NotFound:
                warned = ["connection_missing"]
        try:
            tokens = resolve_budget(size, query.max_tokens)
        except BudgetError as error:
            raise InvalidRequest(str(error), [{"loc": ["max_tokens"], "msg": str(error)}]) from error
        return Budget(tokens, tuple(warned if tokens is not None else [*warned, "window_unknown"]))

    def tally(self, session: Session, state: ChatState) -> Tally:
        """What counts for a chat, while the session is open."""
        return Tally(lambda: self.counters.counter_for(session, state.settings), self._remembered)


def costs_of(
    state: ChatState, query: ProjectionQuery, choice: Choice, block: Block, placement: Placement, tally: Tally
) -> Costs:
    """Of the system message, the memory, the tools, and the messages that the request brings."""
    own = sum(message.tokens for message in sendable(state.view.prompt, Unsent(choice.omitted)))
    system = own + (tally.repeated(query.system_prompt) if query.system_prompt else 0)
    has_system = bool(system or (block.text and not placement.apart))
    return Costs(
        system=system + MESSAGE_OVERHEAD if has_system else 0,
        memory=block.tokens + (MESSAGE_OVERHEAD if block.text and placement.apart else 0),
        tools=tally.tools(query.tools),
        current=tally.messages(query.current),
    )


def _counted(count: Counter, text: str) -> int:
    return count(text)
