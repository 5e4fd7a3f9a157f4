"""Deleted messages and overwritten texts, as long as they can be restored."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Select, bindparam, delete, insert, literal, select, update
from sqlmodel import Session, SQLModel, col

from app.store.clock import now_ms
from app.store.engine import changed, rows
from app.store.history import TRAITS, Row
from app.store.kept_tables import KeptMessage
from app.store.messages import chunks

KEPT_MS = 30 * 24 * 60 * 60 * 1000
"""How long they are kept (http-api.md, Messages)."""

_MOST_LINKS = 100_000
_KEPT = SQLModel.metadata.tables["kept_messages"]
_K = _KEPT.c
_M = SQLModel.metadata.tables["messages"].c
_MINE = (_K.chat_key == bindparam("chat_key"), _K.kept_at >= bindparam("since"))
_DELETED = (*_MINE, _K.why == "deleted")


def keep_overwritten(session: Session, chat_key: int, found: Iterable[Row]) -> None:
    """Keep messages as they are before they change."""
    _keep(session, [_kept(chat_key, row, "overwritten", None) for row in found])


def keep_deleted(session: Session, chat_key: int, found: Iterable[tuple[Row, str | None]]) -> None:
    """Keep messages that go, by index, each with the id of the one it stands behind.

    Those that went from there earlier stand between the two, so that whatever comes back finds its place.
    """
    anchors = set(rows(session, _ANCHORS, _since(chat_key)).scalars())
    kept = []
    for row, before in found:
        after_id = _last_behind(session, chat_key, before) if before in anchors else before
        kept.append(_kept(chat_key, row, "deleted", after_id))
    _keep(session, kept)


def rename(session: Session, chat_key: int, names: Mapping[str, str]) -> None:
    """Messages have new ids: what is kept of them, or stood behind them, goes by these."""
    if not names or rows(session, _ANY, _since(chat_key)).first() is None:
        return
    pairs = [{"chat": chat_key, "old": old, "new": new} for old, new in names.items()]
    for column in ("id", "after_id"):
        mine = (_K.chat_key == bindparam("chat"), _K[column] == bindparam("old"))
        change = update(_KEPT).where(*mine).values({column: bindparam("new")})
        session.connection().execute(change, pairs)


def purge(session: Session) -> int:
    """Forget what has been kept long enough; how many messages that were."""
    return changed(session, delete(KeptMessage).where(col(KeptMessage.kept_at) < now_ms() - KEPT_MS))


def any_overdue(session: Session) -> bool:
    """Whether something has been kept long enough; a look that locks nothing."""
    old = select(col(KeptMessage.key)).where(col(KeptMessage.kept_at) < now_ms() - KEPT_MS).limit(1)
    return session.execute(old).first() is not None


def newest(session: Session, chat_key: int, message_id: str, why: str | None = None) -> KeptMessage | None:
    """What was kept last of a message and can still be restored."""
    query = select(KeptMessage).where(*_restorable(chat_key), col(KeptMessage.id) == message_id)
    if why is not None:
        query = query.where(col(KeptMessage.why) == why)
    return session.execute(query.order_by(col(KeptMessage.key).desc()).limit(1)).scalar_one_or_none()


def by_key(session: Session, chat_key: int, message_id: str, key: int) -> KeptMessage | None:
    """One of the things kept of a message."""
    query = select(KeptMessage).where(*_restorable(chat_key), col(KeptMessage.id) == message_id)
    return session.execute(query.where(col(KeptMessage.key) == key)).scalar_one_or_none()


def of_message(session: Session, chat_key: int, message_id: str, offset: int, limit: int) -> list[KeptMessage]:
    """What is kept of a message, newest first."""
    query = select(KeptMessage).where(*_restorable(chat_key), col(KeptMessage.id) == message_id)
    query = query.order_by(col(KeptMessage.key).desc()).offset(offset).limit(limit)
    return list(session.execute(query).scalars())


def deleted_page(session: Session, chat_key: int, after: tuple[int, int] | None, limit: int) -> list[KeptMessage]:
    """Deleted messages by the index they had, then by when they went, after a place (index, key)."""
    query = select(KeptMessage).where(*_restorable(chat_key), col(KeptMessage.why) == "deleted")
    if after is not None:
        position, key = after
        later = (col(KeptMessage.position) == position) & (col(KeptMessage.key) > key)
        query = query.where((col(KeptMessage.position) > position) | later)
    order = (col(KeptMessage.position), col(KeptMessage.key))
    return list(session.execute(query.order_by(*order).limit(limit)).scalars())


def place_of(session: Session, chat_key: int, kept: KeptMessage) -> int | None:
    """Where a deleted message belongs: behind the one it stood behind, or where that one stood if it went too.

    None if one of those is not kept any more.
    """
    values = {**_since(chat_key), "message_id": kept.after_id}
    last, index = rows(session, _ANCHOR, values).one()
    if last is None:
        return 0
    return None if index is None else int(index) + 1


def _last_behind(session: Session, chat_key: int, message_id: str | None) -> str | None:
    """The last of the deleted messages that stood behind a message, one behind the other; itself if there are none."""
    found = rows(session, _LAST_BEHIND, {**_since(chat_key), "message_id": message_id}).scalar()
    return None if found is None else str(found)


def _chain(following: Any, goes_on: Any) -> Any:
    """Ids with their steps, beginning with `:message_id`; `following` gives the next one, as long as `goes_on`."""
    first: Any = select(bindparam("message_id").label("id"), literal(0).label("step"), literal(1).label("there"))
    tree = first.cte("chain", recursive=True)
    following, more = following(tree), goes_on(tree)
    return tree.union_all(
        select(following, tree.c.step + 1, following.is_not(None)).where(more, tree.c.step < _MOST_LINKS)
    )


def _behind(tree: Any) -> Any:
    """Of those that stood behind a message the one that went last."""
    query = select(_K.id).where(*_DELETED, _K.after_id.is_not_distinct_from(tree.c.id))
    return query.order_by(_K.key.desc()).limit(1).correlate(tree).scalar_subquery()


def _last_of_chain() -> Select[Any]:
    tree = _chain(_behind, lambda tree: tree.c.there == 1)
    return select(tree.c.id).where(tree.c.there == 1).order_by(tree.c.step.desc()).limit(1)


def _gone(tree: Any) -> Any:
    return select(_K.key).where(*_DELETED, _K.id == tree.c.id).correlate(tree).exists()


def _before(tree: Any) -> Any:
    query = select(_K.after_id).where(*_DELETED, _K.id == tree.c.id)
    return query.order_by(_K.key.desc()).limit(1).correlate(tree).scalar_subquery()


def _index(tree: Any) -> Any:
    query = select(_M.position).where(_M.chat_key == bindparam("chat_key"), _M.id == tree.c.id)
    return query.correlate(tree).scalar_subquery()


def _anchor() -> Select[Any]:
    """The end of the chain of what a message stood behind: its id (None: the beginning of the chat) and its index."""
    tree = _chain(_before, lambda tree: _index(tree).is_(None) & _gone(tree))
    return select(tree.c.id, _index(tree)).order_by(tree.c.step.desc()).limit(1)


_ANY = select(_K.key).where(*_MINE).limit(1)
_ANCHORS = select(_K.after_id).where(*_DELETED).distinct()
_LAST_BEHIND = _last_of_chain()
_ANCHOR = _anchor()


def _since(chat_key: int) -> dict[str, Any]:
    return {"chat_key": chat_key, "since": now_ms() - KEPT_MS}


def _restorable(chat_key: int) -> tuple[Any, ...]:
    return col(KeptMessage.chat_key) == chat_key, col(KeptMessage.kept_at) >= now_ms() - KEPT_MS


def _kept(chat_key: int, row: Row, why: str, after_id: str | None) -> dict[str, Any]:
    return {
        "chat_key": chat_key,
        "id": row["id"],
        "why": why,
        "position": row["position"],
        "after_id": after_id,
        "kept_at": now_ms(),
        "snapshot": {name: row[name] for name in TRAITS},
    }


def _keep(session: Session, kept: Sequence[dict[str, Any]]) -> None:
    for some in chunks(kept):
        session.connection().execute(insert(_KEPT), some)
    if kept:
        purge(session)
