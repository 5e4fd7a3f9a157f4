"""What a person does to snippets: edit, delete, write and regenerate them (http-api.md, Memory)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from sqlmodel import Session

from app.core.by_hand import Refusal, Why, choose_turns
from app.core.model import Message as CoreMessage
from app.core.model import Strategy, Usage
from app.errors import Conflict, NotFound
from app.services.browsing import SnippetView, require_snippet, show_snippet
from app.services.counters import ChatCounters
from app.services.noting import note_memory
from app.services.ports import Runner
from app.services.preconditions import check_etag
from app.services.reading import ChatState, read_state, require_chat
from app.services.remaking import is_remake_due
from app.services.settling import fall_back
from app.services.starting import queue
from app.services.working import JobView, show_job
from app.store import jobs, messages, placing, snippets, trees, versions
from app.store.clock import from_ms, now_ms
from app.store.engine import Database
from app.store.kept_tables import SnippetVersion
from app.store.messages import Leaf
from app.store.tables import Chat, Snippet


@dataclass(frozen=True, slots=True)
class VersionView:
    """A text a snippet had before. `why` it went: edit, regenerate, heal or undo. `edited`: it was a person's."""

    text: str
    tokens: int
    why: str
    edited: bool
    stale: bool
    degraded: bool
    connection: str | None
    model: str | None
    replaced_at: datetime


@dataclass(frozen=True)
class Revising:
    """Changes snippets by hand. Methods raise NotFound, and Conflict where the stored state does not allow it."""

    db: Database
    counters: ChatCounters
    runner: Runner

    def edit(self, chat_id: str, snippet_id: str, text: str, if_match: str | None = None) -> SnippetView:
        """Give a snippet another text; the one it had is kept. Raises PreconditionFailed."""
        tokens = self.counters.ahead(chat_id)(text)
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            snippet = require_snippet(session, chat, snippet_id)
            check_etag("snippet", snippet.revision, if_match)
            _require_standing(session, snippet, "edited")
            job_id = _rewrite(session, chat, snippet, text, tokens) if text != snippet.text else None
            shown = show_snippet(session, chat, snippet)
        if job_id is not None:
            self.runner.poke(job_id)
        return shown

    def delete(self, chat_id: str, snippet_id: str, if_match: str | None = None) -> None:
        """Make what a live snippet alone covers visible; it folds again with the next append, sync or explicit call.

        Nothing is queued at once, so that the deletion can be taken back as it was. Raises PreconditionFailed.
        """
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            snippet = require_snippet(session, chat, snippet_id)
            check_etag("snippet", snippet.revision, if_match)
            _require_live(session, chat, snippet)
            uncover = _take_down if Strategy(snippet.strategy).rewrites else trees.release
            covered = {str(leaf): found for leaf, found in uncover(session, chat.key, snippet).items()}
            versions.note_step(session, chat.key, "delete", snippet.key, covered=covered)
            chat.memory_version += 1
            note_memory(session, chat, "delete")

    def write(self, chat_id: str, first_id: str, last_id: str, text: str) -> SnippetView:
        """A snippet of a person's own over whole uncovered turns outside the window, from one message to another."""
        tokens = self.counters.ahead(chat_id)(text)
        with self.db.write() as session:
            state = read_state(session, require_chat(session, chat_id))
            leaf = _require_layered(state.chat)
            first, last = _indices(session, state.chat, (first_id, last_id))
            covers = _choose(session, state, first, last)
            snippet = snippets.add(session, _by_hand(session, state.chat, covers, text, tokens))
            messages.cover(session, [message.key for message in covers], leaf, snippet.key)
            versions.note_step(session, state.chat.key, "manual", snippet.key)
            state.chat.memory_version += 1
            note_memory(session, state.chat, "manual")
            state.chat.backlog_answer = state.chat.backlog_answer or "began"
            session.flush()
            return show_snippet(session, state.chat, snippet)

    def regenerate(self, chat_id: str, snippet_id: str) -> JobView:
        """Have a snippet made anew, pause or not; it keeps its text until there is a new one."""
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            snippet = require_snippet(session, chat, snippet_id)
            state = read_state(session, chat)
            _require_strategy(chat)
            if not state.settings.enabled:
                raise Conflict("The chat's memory is off. Set `enabled` to true first.")
            _require_standing(session, snippet, "made anew")
            _require_present(chat, snippet)
            snippet.asked, snippet.failures = True, 0
            chat.held = False
            job = queue(session, state, "regenerate", 1)
            session.flush()
            shown = show_job(job, chat.id)
        self.runner.poke(shown.id)
        return shown

    def earlier_texts(
        self, chat_id: str, snippet_id: str, before: int | None, limit: int
    ) -> list[tuple[int, VersionView]]:
        """The earlier texts of a snippet, newest first, each with its place in the list."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            snippet = require_snippet(session, chat, snippet_id)
            found = versions.page(session, snippet.key, before, limit)
            return [(version.key, _show_version(version)) for version in found]


def _take_down(session: Session, chat_key: int, summary: Snippet) -> dict[int, list[tuple[int, int]]]:
    """Let a summary's predecessor stand again; what it covered alone, and with nothing under it, the predecessor."""
    chain = trees.chain(session, chat_key, summary.strategy)
    return fall_back(session, chat_key, chain, 1) | {before.key: [] for before in chain[1:2]}


def _rewrite(session: Session, chat: Chat, snippet: Snippet, text: str, tokens: int) -> str | None:
    version = versions.keep(session, snippet, "edit")
    versions.note_step(session, chat.key, "edit", snippet.key, version)
    snippet.text, snippet.tokens = text, tokens
    snippet.edited, snippet.stale, snippet.degraded = True, False, False
    snippet.edited_at = now_ms()
    note_new_text(session, chat, snippet)
    note_memory(session, chat, "edit")
    return queue_healing(session, chat)


def note_new_text(session: Session, chat: Chat, snippet: Snippet) -> None:
    """What follows from a new text by hand: whatever absorbed the snippet is out of date, and nobody makes it anew."""
    snippet.revision += 1
    snippet.asked, snippet.failures = False, 0
    session.flush()
    if snippet.parent_key is not None:
        trees.mark_stale(session, [snippet.parent_key])
    if snippet.state == "live" and snippet.strategy == chat.strategy:
        chat.memory_version += 1


def queue_healing(session: Session, chat: Chat) -> str | None:
    """Queue the healing of what is out of date by now, and nothing else; the job's id."""
    session.flush()
    state = read_state(session, chat)
    if state.idle_reason() is not None or not is_remake_due(session, state):
        return None
    return queue(session, state, "heal", 1).id


def _require_standing(session: Session, snippet: Snippet, done: str) -> None:
    if not trees.stands(session, snippet):
        raise Conflict(f"Snippet {snippet.id!r} was replaced by a newer one and cannot be {done}.")
    if snippet.state != "live" and Strategy(snippet.strategy).rewrites:
        raise Conflict(f"Summary {snippet.id!r} was superseded by a newer one, which it went into; change that one.")


def _require_present(chat: Chat, snippet: Snippet) -> None:
    if snippet.strategy != chat.strategy:
        raise Conflict(
            f"Snippet {snippet.id!r} belongs to the strategy {snippet.strategy}, and the chat uses {chat.strategy} now;"
            " switch back first."
        )


def _require_live(session: Session, chat: Chat, snippet: Snippet) -> None:
    _require_standing(session, snippet, "deleted")
    _require_present(chat, snippet)
    if snippet.state != "live":
        root = snippets.root_of(session, snippet.key)
        where = root.id if root else "another"
        raise Conflict(f"Snippet {snippet.id!r} is a part of snippet {where!r}; only that one can be deleted.")


def _require_strategy(chat: Chat) -> Leaf:
    leaf = messages.leaf_of(chat.strategy)
    if leaf is None:
        raise Conflict("The chat's strategy is none, so it has no memory. Set another strategy first.")
    return leaf


def _require_layered(chat: Chat) -> Leaf:
    if Strategy(chat.strategy).rewrites:
        raise Conflict(
            f"With the strategy {chat.strategy} there is one summary and no place for another; edit that one."
        )
    return _require_strategy(chat)


def _indices(session: Session, chat: Chat, ids: Sequence[str]) -> list[int]:
    found = messages.by_ids(session, chat.key, ids)
    for message_id in ids:
        if message_id not in found:
            raise NotFound(f"There is no message {message_id!r} in chat {chat.id!r}.")
    return [found[message_id].position for message_id in ids]


_REFUSALS: dict[Why, str] = {
    "reversed": "The first message stands after the last one; send them the other way round.",
    "covered": "Message {first} is under a snippet already; edit or delete that one, or choose a range without it.",
    "prompt": "Message {first} belongs to the chat's own system prompt, which is always sent; begin after {last}.",
    "enclosed": "The turn from {first} to {last} lies inside the range of another snippet; regenerate that one.",
    "cut": "The range cuts a turn; take all of it, from {first} to {last}.",
    "open": "No reply has closed the turn that begins with {first} yet; end before it.",
    "stray": "Messages {first} to {last} are in no turn, because no reply closes them; choose a range without them.",
    "window": "The turn from {first} to {last} is one of the newest {window}, which stay verbatim; end before it.",
    "nothing": "There is nothing to cover from {first} to {last}: all of it is pinned, hidden, omitted or blank.",
}


def _choose(session: Session, state: ChatState, first: int, last: int) -> tuple[CoreMessage, ...]:
    """What a snippet over this range covers."""
    window = state.settings.layered.verbatim_turns
    found = choose_turns(state.view, state.uncovered, window, first, last)
    if isinstance(found, Refusal):
        ids = (repr(messages.id_at(session, state.chat.key, index)) for index in (found.first, found.last))
        names = dict(zip(("first", "last"), ids, strict=True))
        raise Conflict(_REFUSALS[found.why].format(**names, window=window))
    return tuple(message for turn in found for message in turn.coverable)


def _by_hand(session: Session, chat: Chat, covers: Sequence[CoreMessage], text: str, tokens: int) -> Snippet:
    session.flush()
    layer, position = placing.place_for(session, chat.key, chat.strategy, covers[0].index, covers[-1].index)
    now = now_ms()
    return Snippet(
        chat_key=chat.key,
        id=str(uuid4()),
        strategy=chat.strategy,
        layer=layer,
        position=position,
        kind="manual",
        text=text,
        tokens=tokens,
        source_tokens=sum(message.tokens for message in covers),
        edited=True,
        usage=jobs.write_usage(Usage()),
        created_at=now,
        edited_at=now,
    )


def _show_version(version: SnippetVersion) -> VersionView:
    return VersionView(
        text=version.text,
        tokens=version.tokens,
        why=version.why,
        edited=version.edited,
        stale=version.stale,
        degraded=version.degraded,
        connection=version.connection,
        model=version.model,
        replaced_at=from_ms(version.replaced_at),
    )
