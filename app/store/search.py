"""Searching the texts of a chat: its messages, hidden and omitted ones too, and the snippets of its present strategy.

On SQLite a full-text index finds them, kept true by triggers (migrations/versions/0003_search.py): `search_words`, in
which a message has the number 2 * key and a snippet 2 * key + 1. Elsewhere every text of the chat is looked through.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, func, literal, or_, select, union_all
from sqlalchemy import text as sql
from sqlmodel import Session, col

from app.store import snippets
from app.store.engine import rows
from app.store.messages import leaf_of
from app.store.tables import Message, Snippet
from app.store.words import Part, in_fts5

INDEX = "search_words"
_SHOWN = ("live", "absorbed")
_AT_ONCE = 20
"""How many texts are held at once: one may have a megabyte."""

Kind = Literal["message", "snippet"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A message or snippet, by key, that holds what was looked for. The higher the score, the better."""

    kind: Kind
    key: int
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """A hit with its text. `index`: of the message, or of the first one under the snippet; `snippet_id`: the snippet
    itself, or the message's leaf.
    """

    hit: Hit
    message_id: str | None
    snippet_id: str | None
    index: int | None
    text: str


def is_described(name: str | None, kind: str, _parents: object) -> bool:
    """Whether app.store.tables describes it; the index and the tables inside it it does not. Alembic's include_name."""
    return kind != "table" or name is None or not name.startswith(INDEX)


def find(session: Session, chat_key: int, strategy: str, parts: Sequence[Part], limit: int) -> list[Hit]:
    """The best hits: those that hold every part, then, while there is room, those that hold some."""
    ask = indexed if session.get_bind().dialect.name == "sqlite" else scanned
    found = ask(session, chat_key, strategy, parts, limit, every=True) if parts else []
    if len(parts) < 2 or len(found) >= limit:
        return found
    # Scores descend through the list, so holding every part counts more than any score.
    most = found[-1].score if found else inf
    known = {(hit.kind, hit.key) for hit in found}
    some = ask(session, chat_key, strategy, parts, limit, every=False)
    fresh = [replace(hit, score=min(hit.score, most)) for hit in some if (hit.kind, hit.key) not in known]
    return (found + fresh)[:limit]


# `chat` stands in the index like a word, so that other chats cost little; it counts for no rank.
_INDEXED = sql("""
    SELECT rowid, bm25(search_words, 0.0, 1.0) AS rank FROM search_words
    WHERE search_words MATCH :words AND (
        rowid % 2 = 0
        OR EXISTS (
            SELECT 1 FROM snippets
            WHERE snippets.key = search_words.rowid / 2 AND strategy = :strategy AND state IN ('live', 'absorbed')
        )
    )
    ORDER BY rank, rowid DESC LIMIT :limit
""")


def indexed(
    session: Session, chat_key: int, strategy: str, parts: Sequence[Part], limit: int, *, every: bool
) -> list[Hit]:
    """Hits by the index of SQLite, ranked by bm25."""
    words = (" AND " if every else " OR ").join(map(in_fts5, parts))
    wanted = {"words": f'chat : "c{chat_key}" AND words : ({words})', "strategy": strategy, "limit": limit}
    found = rows(session, _INDEXED, wanted)
    return [Hit("snippet" if number % 2 else "message", number // 2, -rank) for number, rank in found]


def scanned(
    session: Session, chat_key: int, strategy: str, parts: Sequence[Part], limit: int, *, every: bool
) -> list[Hit]:
    """The same without an index: by looking through all texts, ranked by how often they hold the parts."""
    texts = [
        (literal("message"), col(Message.key), col(Message.content), (col(Message.chat_key) == chat_key,)),
        (literal("snippet"), col(Snippet.key), col(Snippet.text), _of_present(chat_key, strategy)),
    ]
    held = and_ if every else or_
    union = union_all(
        *(
            select(kind.label("kind"), key.label("key"), _occurrences(text, parts).label("score")).where(
                *where, held(*(text.icontains(part.text, autoescape=True) for part in parts))
            )
            for kind, key, text, where in texts
        )
    ).subquery()
    best = select(union).order_by(union.c.score.desc(), union.c.kind, union.c.key.desc()).limit(limit)
    return [Hit(kind, key, float(score)) for kind, key, score in session.execute(best)]


def _of_present(chat_key: int, strategy: str) -> tuple[ColumnElement[bool], ...]:
    mine = (col(Snippet.chat_key) == chat_key, col(Snippet.strategy) == strategy)
    return (*mine, col(Snippet.state).in_(_SHOWN))


def _occurrences(text: Any, parts: Sequence[Part]) -> ColumnElement[Any]:
    found = [
        (func.length(text) - func.length(func.replace(func.lower(text), part.text, ""))) / len(part.text)
        for part in parts
    ]
    return sum(found[1:], found[0])


def read(session: Session, chat_key: int, strategy: str, hits: Sequence[Hit]) -> Iterator[Found]:
    """The hits in their order, each with its text; few are held at once."""
    readers: dict[Kind, Callable[..., dict[int, tuple[Any, ...]]]] = {"message": _messages, "snippet": _snippets}
    for start in range(0, len(hits), _AT_ONCE):
        some = hits[start : start + _AT_ONCE]
        found = {
            kind: reader(session, chat_key, strategy, [hit.key for hit in some if hit.kind == kind])
            for kind, reader in readers.items()
        }
        # Where each statement sees its own moment, a hit may be gone by now.
        yield from (Found(hit, *found[hit.kind][hit.key]) for hit in some if hit.key in found[hit.kind])


def _messages(session: Session, _chat_key: int, strategy: str, keys: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    leaf = leaf_of(strategy)
    joined = col(Snippet.key) == (leaf if leaf is not None else -1)
    what = (col(Message.key), col(Message.id), col(Snippet.id), col(Message.position), col(Message.content))
    query = select(*what).select_from(Message).outerjoin(Snippet, joined).where(col(Message.key).in_(keys))
    return {key: tuple(values) for key, *values in session.execute(query)}


def _snippets(session: Session, chat_key: int, _strategy: str, keys: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    covers = snippets.covers(session, chat_key, keys)
    query = select(col(Snippet.key), col(Snippet.id), col(Snippet.text)).where(col(Snippet.key).in_(keys))
    first = {key: found.first_index for key, found in covers.items()}
    return {key: (None, snippet_id, first.get(key), text) for key, snippet_id, text in session.execute(query)}
