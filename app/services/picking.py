"""Which passage of a chat prompts are tried on, and the question they make of it, as a fold would ask it."""

from dataclasses import dataclass

from sqlmodel import Session

from app.core.buffer import plan_buffer
from app.core.healing import Remake
from app.core.model import Message, Span, Strategy, Turn
from app.core.passages import as_fold, as_rewrite, next_fold, spoken, turns_within
from app.core.rewrite import Rewrite, foldable
from app.core.rolling import plan_rolling
from app.core.summary import Connection, SummaryRequest
from app.core.turns import outline
from app.errors import Conflict, InvalidRequest
from app.services.asking import Asking
from app.services.failure import TOO_LARGE
from app.services.reading import ChatState, read_head, read_state
from app.services.remaking import read_remake
from app.services.retelling import Retelling
from app.store import chats, leaves, messages, places, snippets, trees
from app.store.tables import Chat, Snippet


@dataclass(frozen=True, slots=True)
class Question:
    """A passage, by the messages that the model reads of it, and what is asked; `obstacle`: why folding asks nothing
    here.
    """

    passage: tuple[Message, ...]
    request: SummaryRequest
    obstacle: str | None = None

    @property
    def turns(self) -> int:
        """Closed turns in it."""
        return sum(message.closes for message in self.passage)


@dataclass(frozen=True)
class Picking:
    """Picks passages."""

    asking: Asking
    retelling: Retelling

    def question(self, session: Session, chat: Chat, span: Span | None, connection: Connection) -> Question:
        """About the turns that a span touches; else about what would fold next, or what the newest fold covered, or the
        oldest turns there are. Raises Conflict if there is no turn, and InvalidRequest if there is none in the span.
        """
        state = read_head(session, chat)
        if state.rewrites:
            connection = self.retelling.connection_for(state, connection)
        if span is not None:
            return self._about(session, state, _chosen(session, chat, span), connection)
        turns = self._next(state)
        if not turns and state.later:  # the oldest ones are hidden, or skipped
            state = read_state(session, chat)
            turns = self._next(state)
        if turns:
            return self._about(session, state, turns, connection)
        return self._again(session, state, connection) or self._about(session, state, _oldest(state), connection)

    def _next(self, state: ChatState) -> tuple[Turn, ...]:
        """What would fold next, none if nothing is due."""
        settings, told = state.settings, self.retelling.told
        if state.layered:
            fold = next_fold(state.view, settings.layered)
            return fold.turns if fold else ()
        if state.chat.strategy == Strategy.ROLLING:
            found = plan_rolling(state.dialog, settings.rolling, None, told)
            return found.turns if isinstance(found, Rewrite) else ()
        plan = plan_buffer(state.buffered, settings.summary_buffer, None, told)
        return plan.turns if plan else ()

    def _again(self, session: Session, state: ChatState, connection: Connection) -> Question | None:
        """About what the newest fold covered, if there was one."""
        total = chats.count_messages(session, state.chat.key)
        key = leaves.leaf_before(session, state.chat.key, state.chat.strategy, total)
        snippet = session.get(Snippet, key) if key is not None else None
        remake = read_remake(session, snippet, state.settings.layered.passage_tokens) if snippet else None
        if remake is None or not remake.passage:
            return None
        return Question(remake.passage, self._anew(session, state, remake, connection))

    def _anew(self, session: Session, state: ChatState, remake: Remake, connection: Connection) -> SummaryRequest:
        asks = self.retelling if state.rewrites else self.asking
        return asks.remake(session, state, remake, connection)

    def _about(self, session: Session, state: ChatState, turns: tuple[Turn, ...], connection: Connection) -> Question:
        if state.rewrites:
            return self._rewritten(session, state, turns, connection)
        fold = as_fold(turns, state.settings.layered)
        passage = fold.passage
        return Question(passage, self.asking.passage(session, state, passage, connection, clipped=fold.clipped))

    def _rewritten(
        self, session: Session, state: ChatState, turns: tuple[Turn, ...], connection: Connection
    ) -> Question:
        previous, before = _told_before(session, state, turns[0].messages[0].index)
        room = self.retelling.room(state, previous, connection)
        plan = as_rewrite(turns, room, self.retelling.told, before)
        request = self.retelling.follow(session, state, plan, previous, connection)
        stops = state.chat.strategy == Strategy.ROLLING and state.settings.rolling.oversize == "stop"
        return Question(spoken(plan.turns), request, TOO_LARGE if plan.clipped and stops else None)


def _chosen(session: Session, chat: Chat, span: Span) -> tuple[Turn, ...]:
    """The turns of a span, covered ones too. One that is not closed yet is none."""
    first, last = places.whole_turns(session, chat.key, span.first_index, span.last_index)
    around = messages.between(session, chat.key, first, last)
    turns = turns_within(outline(around, chats.count_messages(session, chat.key)), span.first_index, span.last_index)
    if not turns:
        detail = f"No closed turn that could fold has a message from index {span.first_index} to {span.last_index}."
        raise InvalidRequest(detail, [{"loc": ["body", "first_index"], "msg": detail}])
    return turns


def _oldest(state: ChatState) -> tuple[Turn, ...]:
    """The oldest turns there are, in the window or not: a batch of them, or all that one summary would take."""
    turns = foldable(state.view)
    if not turns:
        raise Conflict("This chat has no closed turn yet: prompts are tried on one, so append a message and its reply.")
    return turns[: state.settings.layered.turns_per_batch] if state.layered else turns


def _told_before(session: Session, state: ChatState, first: int) -> tuple[str, int]:
    """The summary that what begins at an index is added to, and how many turns it covers."""
    leaf = leaves.leaf_after(session, state.chat.key, state.chat.strategy, first - 1)
    if leaf is None:
        return (state.live[0].text, state.folded) if state.live else ("", 0)
    parts = trees.parts(session, leaf)
    covered = snippets.covers(session, state.chat.key, [part.key for part in parts])
    return "\n".join(part.text for part in parts), sum(under.turns for under in covered.values())
