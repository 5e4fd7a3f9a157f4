"""Storing what a file of our own holds: many rows at once, and the keys of what they refer to by id."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, func, insert, select, update
from sqlmodel import Session, SQLModel, col

from app.store.engine import rows
from app.store.kept_tables import SnippetVersion
from app.store.messages import chunks
from app.store.tables import Message, Snippet
from app.store.view_tables import View

_SNIPPETS = SQLModel.metadata.tables["snippets"]
_S = _SNIPPETS.c
_PLACE = (
    select(_S.key)
    .where(*(_S[name] == bindparam(name) for name in ("chat_key", "strategy", "layer", "position")), _S.state == "live")
    .limit(1)
)
_LINK = update(_SNIPPETS).where(_S.key == bindparam("child")).values(state="absorbed", parent_key=bindparam("parent"))


def insert_rows(session: Session, table: str, values: Sequence[Mapping[str, Any]]) -> None:
    """Add rows to a table; all have the same columns."""
    if values:
        session.connection().execute(insert(SQLModel.metadata.tables[table]), list(values))


def known_messages(session: Session, chat_key: int, ids: Collection[str]) -> set[str]:
    """Those of these ids that messages of the chat have."""
    found: set[str] = set()
    for some in chunks(list(ids)):
        query = select(col(Message.id)).where(col(Message.chat_key) == chat_key, col(Message.id).in_(some))
        found |= set(session.execute(query).scalars())
    return found


def known_views(session: Session, chat_key: int) -> set[str]:
    """The names of the chat's views."""
    return set(session.execute(select(col(View.name)).where(col(View.chat_key) == chat_key)).scalars())


def known_snippets(session: Session, chat_key: int, ids: Collection[str]) -> dict[str, tuple[int, str]]:
    """Keys and strategies of those of these snippets that the chat has."""
    found: dict[str, tuple[int, str]] = {}
    for some in chunks(list(ids)):
        query = select(_S.id, _S.key, _S.strategy).where(_S.chat_key == chat_key, _S.id.in_(some))
        found |= {snippet_id: (key, strategy) for snippet_id, key, strategy in session.connection().execute(query)}
    return found


def is_place_taken(session: Session, chat_key: int, strategy: str, layer: int, position: int) -> bool:
    """Whether a live snippet stands at a place of a layer."""
    values = {"chat_key": chat_key, "strategy": strategy, "layer": layer, "position": position}
    return rows(session, _PLACE, values).first() is not None


def link_parts(session: Session, links: Iterable[tuple[int, int]]) -> None:
    """Say of snippets, as pairs of keys, what absorbed them."""
    values = [{"child": child, "parent": parent} for child, parent in links]
    if values:
        session.connection().execute(_LINK, values)


def version_key(session: Session, snippet_key: int, number: int) -> int | None:
    """The key of an earlier text by its number among those of a snippet, the oldest being 0."""
    query = select(col(SnippetVersion.key)).where(col(SnippetVersion.snippet_key) == snippet_key)
    return session.execute(query.order_by(col(SnippetVersion.key)).offset(number).limit(1)).scalar()


def count_versions(session: Session, snippet_keys: Collection[int]) -> dict[int, int]:
    """How many earlier texts each of these snippets has; one without any is left out."""
    found: dict[int, int] = {}
    for some in chunks(list(snippet_keys)):
        mine = col(SnippetVersion.snippet_key).in_(some)
        query = select(col(SnippetVersion.snippet_key), func.count()).where(mine)
        found |= {key: count for key, count in session.execute(query.group_by(col(SnippetVersion.snippet_key)))}
    return found


def keys_between(session: Session, chat_key: int, first: int, last: int) -> list[int]:
    """The keys of the messages from one index to another, both included."""
    between = (col(Message.chat_key) == chat_key, col(Message.position).between(first, last))
    return list(session.execute(select(col(Message.key)).where(*between).order_by(col(Message.position))).scalars())


def last_live(session: Session, chat_key: int, strategy: str) -> int | None:
    """The key of the newest live snippet of a strategy, None if it has no memory in a chat."""
    live = (col(Snippet.chat_key) == chat_key, col(Snippet.strategy) == strategy, col(Snippet.state) == "live")
    query = select(col(Snippet.key)).where(*live).order_by(col(Snippet.layer), col(Snippet.position).desc())
    return session.execute(query.limit(1)).scalar()
