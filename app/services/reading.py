"""What is stored of a chat at one moment, read in one transaction, ready to decide about."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property

from sqlmodel import Session

from app.core import folding
from app.core.buffer import Buffered, buffered
from app.core.folding import AUTO, Backlog, Fold, Mode, most_that_matter
from app.core.model import Message, Outline, Strategy, Turn
from app.core.model import Snippet as CoreSnippet
from app.core.promotion import Promotion
from app.core.resolving import resolve
from app.core.rewrite import foldable
from app.core.rolling import Dialog
from app.core.settings import ChatSettings
from app.core.turns import outline
from app.core.underway import Underway, promote_beside
from app.errors import NotFound
from app.store import chats, counting, messages, placing, snippets
from app.store.snippets import LiveSnippet
from app.store.tables import Chat

_HEAD, _PER_TURN, _ROLLING_HEAD = 64, 16, 256
"""How many messages are read at first to plan a fold: a usual window whole, or a batch of turns full of tool calls."""


@dataclass(frozen=True, slots=True)
class Place:
    """A message, by id and index."""

    message_id: str
    index: int


@dataclass(frozen=True)
class ChatState:
    """A chat, its settings in force, its live snippets in reading order, and the messages none of them covers.

    `enclosed` are keys of uncovered messages inside one live snippet's range, `apart` keys of snippets right before
    which turns lie that may still fold. `folded`: covered turns, counted only where one summary is written anew.
    `supposed`: the live snippets of a memory that the chat does not use, where it is read as if it did.
    """

    chat: Chat
    settings: ChatSettings
    warnings: list[str]
    live: list[LiveSnippet]
    uncovered: list[Message]
    total: int
    later: int = 0
    enclosed: frozenset[int] = frozenset()
    apart: frozenset[int] = frozenset()
    folded: int = 0
    supposed: list[LiveSnippet] | None = None

    @cached_property
    def view(self) -> Outline:
        """The uncovered turns; only the oldest, with the least number of later ones, if it was read so."""
        return outline(self.uncovered, self.total, self.later, self.enclosed)

    @property
    def layered(self) -> bool:
        """Whether the present strategy is layered memory."""
        return self.chat.strategy == Strategy.LAYERED

    @property
    def rewrites(self) -> bool:
        """Whether the present strategy keeps one summary, written anew with every fold."""
        return Strategy(self.chat.strategy).rewrites

    @cached_property
    def dialog(self) -> Dialog:
        """The chat as rolling memory sees it."""
        return Dialog(foldable(self.view), self.folded, next(iter(self.memory), None), self.later)

    @cached_property
    def buffered(self) -> Buffered:
        """The chat as a summary buffer sees it."""
        return buffered(self.view, self.folded, next(iter(self.memory), None))

    @property
    def memory(self) -> list[CoreSnippet]:
        """The live snippets as decisions see them."""
        return [snippet.core for snippet in self.live]

    @cached_property
    def backlog(self) -> Backlog:
        """Turns over the window."""
        return folding.count_backlog(self.view, self.settings.layered)

    @property
    def over_window(self) -> tuple[Turn, ...]:
        """The turns outside the window, skipped ones left out."""
        return folding.turns_over_window(self.view, self.settings.layered)

    @property
    def has_backlog(self) -> bool:
        """Whether these are more than the next few folds."""
        return self.layered and folding.is_backlog(self.backlog.turns, self.settings.layered)

    @property
    def choice_needed(self) -> bool:
        """Whether a person must say first what to do with the backlog (layered.md, Backlog)."""
        asks = self.settings.on_backlog == "ask" and self.chat.backlog_answer is None
        return asks and self.has_backlog and not self.live

    @property
    def last_covered(self) -> int | None:
        """The index of the newest covered message."""
        expected = self.total - 1
        for message in reversed(self.uncovered):
            if message.index < expected:
                break
            expected = message.index - 1
        return expected if expected >= 0 else None

    def idle_reason(self) -> str | None:
        """Why folding does not go on by itself now; None if it does."""
        if self.chat.strategy == Strategy.NONE:
            return "strategy_none"
        if not self.settings.enabled:
            return "disabled"
        if self.settings.paused:
            return "paused"
        if self.chat.held:
            return "stopped"
        return "choice_needed" if self.choice_needed else None

    def fold(self, mode: Mode = AUTO, taken: Collection[int] = ()) -> Fold | None:
        """The next fold in a mode; `taken` are the keys of messages that are as good as covered."""
        if not self.layered:
            return None
        return folding.plan_fold(self._view_without(taken) if taken else self.view, self.settings.layered, mode)

    def promotion(self, underway: Underway, *, shrink: bool) -> Promotion | None:
        """The next promotion beside what is under way."""
        if not self.layered:
            return None
        return promote_beside(self.memory, self.settings.layered, underway, shrink=shrink, apart=self.apart)

    def _view_without(self, taken: Collection[int]) -> Outline:
        left = [message for message in self.uncovered if message.key not in taken]
        return outline(left, self.total, self.later, self.enclosed)


def require_chat(session: Session, chat_id: str) -> Chat:
    """The chat; raises NotFound."""
    return _found(chats.find(session, chat_id), chat_id)


def look_at(session: Session, chat_id: str) -> Chat:
    """The chat for reading alone: what is changed in it is not stored. Raises NotFound."""
    return _found(chats.look(session, chat_id), chat_id)


def _found(chat: Chat | None, chat_id: str) -> Chat:
    if chat is None:
        raise NotFound(f"There is no chat {chat_id!r}. Create it with PUT, or append a message to it.")
    return chat


def read_state(session: Session, chat: Chat) -> ChatState:
    """Everything decisions need of a chat."""
    state = replace(read_history(session, chat), live=snippets.live(session, chat.key, chat.strategy))
    return _with_gaps(session, state)


def _with_gaps(session: Session, state: ChatState) -> ChatState:
    """Looks at uncovered turns that lie between covered ones: inside one snippet's range, or between two."""
    if not state.layered:
        folded = counting.count_covered_turns(session, state.chat.key, state.chat.strategy) if state.live else 0
        return replace(state, folded=folded)
    between = [run for run in state.view.runs if run.preceded and run.followed and any(t.coverable for t in run.turns)]
    enclosed: set[int] = set()
    apart: set[int] = set()
    for run in between:
        first, last = run.turns[0].messages[0].index, run.turns[-1].messages[-1].index
        before = snippets.root_before(session, state.chat.key, state.chat.strategy, first)
        after = snippets.root_after(session, state.chat.key, state.chat.strategy, last)
        if before is after:
            enclosed |= {message.key for turn in run.turns for message in turn.messages}
        elif after is not None:
            apart.add(after.key)
    return replace(state, enclosed=frozenset(enclosed), apart=frozenset(apart)) if between else state


def read_history(session: Session, chat: Chat, *, for_prompt: bool = False) -> ChatState:
    """The same without the snippets. For a prompt, nothing counts as covered where every message is to be sent."""
    total, server = chats.surroundings(session, chat.key)
    settings, warnings = resolve(server, chat.settings)
    strategy = Strategy.NONE if for_prompt and settings.replays_all else chat.strategy
    return ChatState(
        chat=chat,
        settings=settings,
        warnings=warnings,
        live=[],
        uncovered=messages.uncovered(session, chat.key, strategy),
        total=total,
    )


def read_head(session: Session, chat: Chat, taken: int = 0, *, rough: bool = False) -> ChatState:
    """What the next fold of a chat needs: of a long backlog only the oldest turns are read, and beyond them `taken`
    messages that are spoken for. `rough`: in layered memory no more later turns are counted than a fold depends on.
    """
    if chat.strategy == Strategy.SUMMARY_BUFFER:  # it counts all that waits
        return read_state(session, chat)
    total, server = chats.surroundings(session, chat.key)
    settings, warnings = resolve(server, chat.settings)
    layered = settings.layered
    rolls = chat.strategy == Strategy.ROLLING
    most = _ROLLING_HEAD if rolls else max(_HEAD, _PER_TURN * layered.turns_per_batch) + taken
    live = snippets.live(session, chat.key, chat.strategy)
    head = messages.uncovered(session, chat.key, chat.strategy, most)
    if len(head) == most:
        last = head[-1].index
        enough = layered.verbatim_turns + layered.flush + layered.turns_per_batch
        if rolls:
            enough = settings.rolling.keep_recent_turns
        if rough and chat.strategy == Strategy.LAYERED:
            later = _some_later(session, chat, last, most_that_matter(layered), covers=bool(live))
        else:
            later = _all_later(session, chat, last, total)
        if later >= enough:  # the window is far, and nothing covered follows
            return _with_gaps(session, ChatState(chat, settings, warnings, live, head, last + 1, later))
        head = messages.uncovered(session, chat.key, chat.strategy)
    return _with_gaps(session, ChatState(chat, settings, warnings, live, head, total))


def _all_later(session: Session, chat: Chat, last: int, total: int) -> int:
    """The turns after a place that can fold; 0 where something covered follows."""
    count, later = counting.count_uncovered_after(session, chat.key, chat.strategy, last)
    return later if last + 1 + count == total else 0


def _some_later(session: Session, chat: Chat, last: int, most: int, *, covers: bool) -> int:
    """The same, counted up to `most`, in a time that does not grow with the backlog."""
    newest = placing.last_covered(session, chat.key, chat.strategy) if covers else -1
    if newest is None or newest > last:
        return 0
    return counting.count_some_after(session, chat.key, chat.strategy, last, most)


def through(session: Session, state: ChatState) -> Place | None:
    """The newest covered message."""
    index = state.last_covered
    return None if index is None else Place(messages.id_at(session, state.chat.key, index), index)
