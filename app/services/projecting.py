"""The prompt as it stands: reads, plans with `app.core.projection`, and puts the texts in."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any, Literal

from sqlmodel import Session

from app.core.errors import BudgetError
from app.core.left_out import LeftOut
from app.core.model import Message
from app.core.projection import Costs, Projection, project
from app.core.trim import MESSAGE_OVERHEAD, resolve_budget
from app.errors import InvalidRequest, NotFound
from app.formats.openai_writing import is_legal_name
from app.services.asking import speaker
from app.services.blocks import Block, Blocks
from app.services.connections import Connections
from app.services.ports import Counter
from app.services.reading import ChatState, Place, read_history, require_chat, through
from app.store import counting, messages
from app.store.engine import Database
from app.store.messages import Content

Names = Literal["auto", "none", "field", "prefix"]
_GROUP = 3
"""From so many speakers on, `names` auto says who speaks."""


@dataclass(frozen=True, slots=True)
class ProjectionQuery:
    """What a request says about the prompt it wants. `current`: messages that are not stored yet."""

    system_prompt: str | None = None
    context_size: int | None = None
    max_tokens: int | None = None
    names: Names | None = None
    current: Sequence[Mapping[str, Any]] = ()
    tools: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class MemoryView:
    """The memory block in the prompt."""

    text: str
    version: int
    tokens: int
    snippets: int
    covered_through: Place | None


@dataclass(frozen=True, slots=True)
class WindowView:
    """The verbatim turns sent: where they begin, how many, and how many a budget left out."""

    first_index: int | None
    turns: int
    dropped_turns: int


@dataclass(frozen=True, slots=True)
class TokensView:
    """The parts of the prompt; `total` is their sum, `budget` None where no window is known."""

    system: int
    tools: int
    memory: int
    history: int
    current: int
    total: int
    budget: int | None


@dataclass(frozen=True, slots=True)
class WarningView:
    """Something to know about the prompt."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class ProjectionView:
    """What the model should be sent now; shapes as in http-api.md, Projection."""

    messages: list[dict[str, Any]]
    memory: MemoryView
    window: WindowView
    tokens: TokensView
    prefix_hash: str
    left_out: tuple[LeftOut, ...]
    warnings: list[WarningView]
    prefix_changed_by: str | None = None
    skipped: dict[str, Any] | None = None


WARNINGS = {
    "memory_trimmed": "The memory is larger than its share of the budget, so the newest lines of each layer are sent."
    " Raise context_size or memory_share, or lower memory_tokens.",
    "orphaned_tool_messages": "Tool calls without results, or results without their call, were left out.",
    "uncovered_turns_dropped": "The budget left out turns that no snippet covers yet: fold them or raise context_size.",
    "system_over_half": "The system prompt takes more than half of the budget.",
    "over_budget": "Even without history the prompt is over budget: shorten the system prompt or raise context_size.",
    "window_unknown": "No window size is known from the request or the connection: nothing is trimmed.",
    "connection_missing": "The chat names a connection that does not exist; choose another, or PUT it.",
}
"""What a warning of a projection means, by code."""


@dataclass(frozen=True)
class Projecting:
    """Reads prompts."""

    db: Database
    blocks: Blocks
    connections: Connections
    count: Counter
    _counted: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # A frontend sends the same system prompt with every request.
        object.__setattr__(self, "_counted", lru_cache(maxsize=64)(self.count))

    def project(self, chat_id: str, query: ProjectionQuery) -> ProjectionView:
        """The prompt of a chat. Raises NotFound, and InvalidRequest when the sizes do not fit together."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            state = read_history(session, chat, for_prompt=True)
            budget, warned = self._budget(session, state, query)
            block = self.blocks.of(session, state, _share(budget, state))
            warned += ["memory_trimmed"] if block.trimmed else []
            costs = self._costs(state, query, block)
            plan = project(state.view, state.uncovered, state.total, costs, budget)
            texts = messages.contents(session, [m.key for m in (*plan.prompt, *plan.history, *plan.current)])
            named = self._names(session, state, query)
            covered = through(session, state) if block.text else None
        return self._show(state, query, plan, _Texts(state, texts, named), block, covered, warned)

    def _budget(self, session: Session, state: ChatState, query: ProjectionQuery) -> tuple[int | None, list[str]]:
        size, warned = query.context_size, []
        if size is None and query.max_tokens is None:
            try:
                size = self.connections.describe(session, state.settings.connection).context_size
            except NotFound:
                warned = ["connection_missing"]
        try:
            budget = resolve_budget(size, query.max_tokens)
        except BudgetError as error:
            raise InvalidRequest(str(error), [{"loc": ["max_tokens"], "msg": str(error)}]) from error
        return budget, warned if budget is not None else [*warned, "window_unknown"]

    def _costs(self, state: ChatState, query: ProjectionQuery, block: Block) -> Costs:
        own = sum(message.tokens for message in state.view.prompt if message.visible)
        system = own + (self._counted(query.system_prompt) if query.system_prompt else 0)
        has_system = bool(system or block.text)
        current = sum(self._cost(message) for message in query.current)
        return Costs(
            system=system + MESSAGE_OVERHEAD if has_system else 0,
            memory=block.tokens,
            tools=self.count(json.dumps(list(query.tools))) if query.tools else 0,
            current=current,
        )

    def _cost(self, message: Mapping[str, Any]) -> int:
        calls = message.get("tool_calls")
        said = self.count(message.get("content") or "")
        return said + (self.count(json.dumps(calls, ensure_ascii=False)) if calls else 0) + MESSAGE_OVERHEAD

    def _names(self, session: Session, state: ChatState, query: ProjectionQuery) -> Names:
        wanted: Names = query.names or state.settings.names
        if wanted != "auto":
            return wanted
        chat = state.chat
        user, assistant = (speaker(chat.user_name, chat.character_name, r, None) for r in ("user", "assistant"))
        return "prefix" if counting.count_speakers(session, chat.key, user, assistant, _GROUP) >= _GROUP else "none"

    def _show(
        self,
        state: ChatState,
        query: ProjectionQuery,
        plan: Projection,
        texts: "_Texts",
        block: Block,
        covered: Place | None,
        warned: list[str],
    ) -> ProjectionView:
        system = _system(query.system_prompt, texts.plain(plan.prompt), block.text)
        past = [*system, *texts.shown(plan.history)]
        current = [*texts.shown(plan.current), *texts.requested(query.current)]
        return ProjectionView(
            messages=[*past, *current],
            memory=MemoryView(block.text, state.chat.memory_version, block.tokens, block.snippets, covered),
            window=WindowView(plan.first_index, plan.window_turns, plan.dropped_turns),
            tokens=_tokens(plan),
            prefix_hash=_hash(system, plan.first_index),
            left_out=plan.left_out,
            warnings=[WarningView(code, WARNINGS[code]) for code in (*plan.warnings, *warned)],
        )


@dataclass(frozen=True)
class _Texts:
    """The texts of a plan's messages."""

    state: ChatState
    texts: Mapping[int, Content]
    names: Names

    def plain(self, sent: Sequence[Message]) -> list[str]:
        """Their contents."""
        return [self.texts[message.key].content or "" for message in sent if message.key in self.texts]

    def shown(self, sent: Sequence[Message]) -> list[dict[str, Any]]:
        """Them as chat-completions messages."""
        return [self._shown(self.texts[message.key]) for message in sent if message.key in self.texts]

    def requested(self, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Messages of the request, named as stored ones are."""
        optional = ("name", "content", "tool_calls", "tool_call_id")
        return [self._shown(Content(m["role"], *(m.get(field) for field in optional))) for m in messages]

    def _shown(self, said: Content) -> dict[str, Any]:
        content = said.content
        if self.names == "prefix" and content is not None and said.role in ("user", "assistant"):
            chat = self.state.chat
            content = f"{speaker(chat.user_name, chat.character_name, said.role, said.name)}: {content}"
        message: dict[str, Any] = {"role": said.role, "content": content}
        if self.names == "field" and said.name and is_legal_name(said.name):
            message["name"] = said.name
        if said.tool_calls:
            message["tool_calls"] = said.tool_calls
        if said.tool_call_id is not None:
            message["tool_call_id"] = said.tool_call_id
        return message


def _share(budget: int | None, state: ChatState) -> int | None:
    """Tokens the memory may take of a budget."""
    return None if budget is None else int(budget * state.settings.memory_share)


def _system(asked: str | None, own: Sequence[str], memory: str) -> list[dict[str, Any]]:
    """The one system message, the memory at its end; none where there is nothing to say."""
    parts = [part for part in (asked, *own, memory) if part]
    return [{"role": "system", "content": "\n\n".join(parts)}] if parts else []


def _tokens(plan: Projection) -> TokensView:
    tokens = plan.tokens
    return TokensView(
        tokens.system, tokens.tools, tokens.memory, tokens.history, tokens.current, tokens.total, tokens.budget
    )


def _hash(system: Sequence[Mapping[str, Any]], first_index: int | None) -> str:
    """Of what stays the same until the next fold or trim: the system message, and where the window begins."""
    text = "".join(message["content"] for message in system)
    return sha256(f"{first_index} {text}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
