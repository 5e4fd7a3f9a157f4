"""Reading snippets, and the messages under them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement
from sqlmodel import Session, col

from app.core.model import Strategy, Usage
from app.errors import NotFound
from app.services.preconditions import etag
from app.services.reading import require_chat
from app.services.recording import MessageView, show
from app.store import jobs, messages, paging, snippets, trees
from app.store.clock import from_ms
from app.store.engine import Database
from app.store.snippets import Covers
from app.store.tables import Chat, Snippet


@dataclass(frozen=True, slots=True)
class SnippetView:
    """A snippet as it is shown. Dormant: live memory of a strategy the chat does not use now."""

    id: str
    strategy: str
    layer: int
    position: int
    text: str
    tokens: int
    source_tokens: int
    kind: str
    state: str
    parent_id: str | None
    children: list[str]
    covers: Covers | None
    stale: bool
    degraded: bool
    connection: str | None
    model: str | None
    usage: Usage
    created_at: datetime
    edited_at: datetime | None
    revision: int

    @property
    def etag(self) -> str:
        """Changes with its text."""
        return etag(self.revision)


@dataclass(frozen=True)
class Browsing:
    """Reads snippets."""

    db: Database

    def snippets(
        self,
        chat_id: str,
        *,
        layer: int | None,
        state: str,
        stale: bool | None,
        degraded: bool | None,
        offset: int,
        limit: int,
    ) -> list[SnippetView]:
        """Snippets in reading order. Raises NotFound."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            where = [_in_state(chat, state)]
            if layer is not None:
                where.append(col(Snippet.layer) == layer)
            if stale is not None:
                where.append(col(Snippet.stale).is_(stale))
            if degraded is not None:
                where.append(col(Snippet.degraded).is_(degraded))
            return _show_all(session, chat, snippets.matching(session, chat.key, where, offset, limit))

    def snippet(self, chat_id: str, snippet_id: str) -> SnippetView:
        """Raises NotFound."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            return show_snippet(session, chat, require_snippet(session, chat, snippet_id))

    def messages_under(self, chat_id: str, snippet_id: str, *, after: int, limit: int) -> list[MessageView]:
        """The original messages under a snippet, whatever its layer, by index. Raises NotFound."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            snippet = require_snippet(session, chat, snippet_id)
            leaf = messages.leaf_of(snippet.strategy)
            if leaf is None:
                return []
            where = paging.under(leaf, snippets.leaves_under(session, snippet.key))
            return [show(*row) for row in paging.page(session, chat.key, snippet.strategy, where, after, limit)]


def _in_state(chat: Chat, state: str) -> ColumnElement[bool]:
    """What `?state=` selects. What a person deleted, or what gave way, is in no list until it is brought back."""
    live, present = col(Snippet.state) == "live", col(Snippet.strategy) == chat.strategy
    there = (col(Snippet.state) != "deleted") & col(Snippet.key).not_in(trees.fallen(chat.key))
    replaced = col(Snippet.strategy).in_([one for one in Strategy if one.rewrites])
    absorbed, superseded = col(Snippet.state) == "absorbed", col(Snippet.state) == "superseded"
    choices: dict[str, ColumnElement[bool]] = {
        "all": there,
        "live": live & present,
        "dormant": live & ~present,
        "absorbed": absorbed & ~replaced & there,
        "superseded": (superseded | (absorbed & replaced)) & there,
    }
    return choices.get(state, (col(Snippet.state) == state) & there)


def require_snippet(session: Session, chat: Chat, snippet_id: str) -> Snippet:
    """The stored snippet; raises NotFound, also for one that was deleted or that is a part of such a one."""
    snippet = snippets.by_id(session, chat.key, snippet_id)
    if snippet is None:
        raise NotFound(f"There is no snippet {snippet_id!r} in chat {chat.id!r}.")
    root = snippets.root_of(session, snippet.key)
    if root is None or root.state == "deleted":
        raise NotFound(f"Snippet {snippet_id!r} was deleted. POST …/undo brings back what was deleted last.")
    return snippet


def show_snippet(session: Session, chat: Chat, snippet: Snippet) -> SnippetView:
    """A stored snippet as it is shown."""
    return _show_all(session, chat, [snippet])[0]


def _show_all(session: Session, chat: Chat, found: Sequence[Snippet]) -> list[SnippetView]:
    children = snippets.children_ids(session, [snippet.key for snippet in found])
    parents = snippets.ids_of(session, [snippet.parent_key for snippet in found if snippet.parent_key])
    covers: dict[int, Covers] = {}
    for strategy in Strategy:
        covers |= snippets.covers(session, chat.key, [s.key for s in found if s.strategy == strategy])
    return [
        _show(chat, snippet, parents.get(snippet.parent_key or 0), children[snippet.key], covers.get(snippet.key))
        for snippet in found
    ]


def _show(chat: Chat, snippet: Snippet, parent: str | None, children: list[str], covers: Covers | None) -> SnippetView:
    state = snippet.state
    if state == "live" and snippet.strategy != chat.strategy:
        state = "dormant"
    elif state == "absorbed" and Strategy(snippet.strategy).rewrites:
        state = "superseded"
    return SnippetView(
        id=snippet.id,
        strategy=snippet.strategy,
        layer=snippet.layer,
        position=snippet.position,
        text=snippet.text,
        tokens=snippet.tokens,
        source_tokens=snippet.source_tokens,
        kind=snippet.kind,
        state=state,
        parent_id=parent,
        children=children,
        covers=covers,
        stale=snippet.stale,
        degraded=snippet.degraded,
        connection=snippet.connection,
        model=snippet.model,
        usage=jobs.read_usage(snippet.usage),
        created_at=from_ms(snippet.created_at),
        edited_at=from_ms(snippet.edited_at) if snippet.edited_at else None,
        revision=snippet.revision,
    )
