"""Everything of a chat as streams of rows, for whoever writes it down: however long the chat, memory stays bounded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Executable, func, select
from sqlalchemy.orm import aliased
from sqlmodel import Session, SQLModel, col

from app.core.digest import Line
from app.core.model import Strategy
from app.store import messages, snippets
from app.store.clock import now_ms
from app.store.kept import KEPT_MS
from app.store.kept_tables import KeptMessage, SnippetVersion, UndoStep
from app.store.messages import chunks
from app.store.tables import Message, Snippet
from app.store.view_tables import View

_AT_ONCE = 100
"""Rows held at once: a message holds up to 1 MiB."""
_LINES_AT_ONCE = 500

_M, _S, _K, _V, _U = (
    SQLModel.metadata.tables[name].c
    for name in ("messages", "snippets", "kept_messages", "snippet_versions", "undo_steps")
)

Row = Mapping[str, Any]


def count_parts(session: Session, chat_key: int) -> dict[str, int]:
    """How many rows each of the streams gives."""
    kept = (col(KeptMessage.chat_key) == chat_key, col(KeptMessage.kept_at) >= _still_kept())
    tables = {
        "message": (Message, (col(Message.chat_key) == chat_key,)),
        "snippet": (Snippet, (col(Snippet.chat_key) == chat_key,)),
        "kept_message": (KeptMessage, kept),
        "snippet_version": (SnippetVersion, (_of_chat(chat_key),)),
        "undo_step": (UndoStep, (col(UndoStep.chat_key) == chat_key,)),
        "view": (View, (col(View.chat_key) == chat_key,)),
    }
    return {
        name: int(session.execute(select(func.count()).select_from(table).where(*where)).scalar_one())
        for name, (table, where) in tables.items()
    }


def stream_messages(session: Session, chat_key: int, strategy: str | None = None) -> Iterator[Row]:
    """Messages by index, with the id of their leaf in one strategy as `leaf_id`."""
    leaf = messages.leaf_of(strategy) if strategy else None
    covering = aliased(Snippet)
    columns = [column for column in _M if column.key not in ("key", "chat_key")]
    query = select(*columns, col(covering.id).label("leaf_id")).where(_M.chat_key == chat_key).order_by(_M.position)
    joined = col(covering.key) == (leaf if leaf is not None else -1)
    yield from _stream(session, query.select_from(Message).outerjoin(covering, joined))


def stream_lines(session: Session, chat_key: int) -> Iterator[Line]:
    """What a digest tells apart of each message, by index."""
    query = select(_M.id, _M.role, _M.name, _M.hidden, _M.content).where(_M.chat_key == chat_key)
    for row in session.execute(query.order_by(_M.position).execution_options(yield_per=_LINES_AT_ONCE)):
        yield Line(*row)


def stream_whole(session: Session, chat_key: int) -> Iterator[Row]:
    """The same with their leaves in all strategies, as `leaves`: ids by strategy, None where nothing covers one."""
    columns = [column for column in _M if column.key not in ("key", "chat_key")]
    covering = {strategy: aliased(Snippet) for strategy in Strategy if messages.leaf_of(strategy) is not None}
    ids: list[Any] = [col(snippet.id).label(f"{strategy}_id") for strategy, snippet in covering.items()]
    query = select(*columns, *ids).select_from(Message)
    for strategy, snippet in covering.items():
        query = query.outerjoin(snippet, col(snippet.key) == messages.leaf_of(strategy))
    for row in _stream(session, query.where(_M.chat_key == chat_key).order_by(_M.position)):
        leaves = {str(strategy): row[f"{strategy}_id"] for strategy in covering if row[f"{strategy}_id"] is not None}
        yield {**row, "leaves": leaves or None}


def stream_snippets(session: Session, chat_key: int) -> Iterator[Row]:
    """Snippets of all strategies and states in the order they were made, with `parent_id`."""
    parent = aliased(Snippet)
    columns = [column for column in _S if column.key not in ("chat_key", "parent_key")]
    query = (
        select(*columns, col(parent.id).label("parent_id"))
        .select_from(Snippet)
        .outerjoin(parent, _S.parent_key == col(parent.key))
        .where(_S.chat_key == chat_key)
        .order_by(_S.key)
    )
    yield from _stream(session, query)


def stream_kept(session: Session, chat_key: int) -> Iterator[Row]:
    """Deleted messages and overwritten texts that can still be restored, in the order they went."""
    query = select(_K.id, _K.why, _K.position, _K.after_id, _K.kept_at, _K.snapshot)
    yield from _stream(session, query.where(_K.chat_key == chat_key, _K.kept_at >= _still_kept()).order_by(_K.key))


def stream_versions(session: Session, chat_key: int) -> Iterator[Row]:
    """Earlier texts of snippets in the order they went, with `snippet_id` and their number among those of a snippet."""
    columns = [column for column in _V if column.key not in ("key", "snippet_key")]
    query = (
        select(*columns, _S.id.label("snippet_id"), _number().label("number"))
        .join(Snippet, _S.key == _V.snippet_key)
        .where(_of_chat(chat_key))
        .order_by(_V.key)
    )
    yield from _stream(session, query)


def stream_steps(session: Session, chat_key: int) -> Iterator[Row]:
    """What can be undone, oldest first, with `snippet_id` and `version`, the number of the earlier text."""
    numbered = select(_V.key, _number().label("number")).where(_of_chat(chat_key)).subquery()
    query = (
        select(_U.kind, _U.covered, _U.made_at, _U.snippet_key, _S.id.label("snippet_id"), numbered.c.number)
        .join(Snippet, _S.key == _U.snippet_key)
        .outerjoin(numbered, numbered.c.key == _U.version_key)
        .where(_U.chat_key == chat_key)
        .order_by(_U.key)
    )
    yield from _stream(session, query)


def stream_views(session: Session, chat_key: int) -> Iterator[Row]:
    """Views by name, without their windows."""
    query = select(*(col(getattr(View, name)) for name in ("name", "options", "created_at", "updated_at")))
    yield from _stream(session, query.where(col(View.chat_key) == chat_key).order_by(col(View.name)))


def places_of(session: Session, keys: Sequence[int]) -> dict[int, int]:
    """Where those of these messages stand that still exist, by key."""
    found: dict[int, int] = {}
    for some in chunks(keys):
        query = select(_M.key, _M.position).where(_M.key.in_(some))
        found |= {key: position for key, position in session.connection().execute(query)}
    return found


def covered_places(session: Session, chat_key: int, strategy: str) -> list[int]:
    """The indices of all messages that snippets of a strategy cover, ascending."""
    leaf = messages.leaf_of(strategy)
    if leaf is None:
        return []
    query = select(_M.position).where(_M.chat_key == chat_key, leaf.is_not(None)).order_by(_M.position)
    return list(session.execute(query).scalars())


@dataclass(frozen=True, slots=True)
class LiveLine:
    """A live snippet with what it covers (indices), and what it was made from: `parts` snippets of `part_layer`."""

    id: str
    layer: int
    kind: str
    text: str
    created_at: int
    first: int
    last: int
    parts: int
    part_layer: int
    regenerated_at: int | None


def live_lines(session: Session, chat_key: int, strategy: str) -> list[LiveLine]:
    """The live snippets of a strategy in reading order."""
    mine = (_S.chat_key == chat_key, _S.strategy == strategy, _S.state == "live")
    query = select(_S.key, _S.id, _S.layer, _S.kind, _S.text, _S.created_at).where(*mine)
    found = session.connection().execute(query.order_by(_S.layer.desc(), _S.position)).all()
    keys = [row.key for row in found]
    covers = snippets.covers(session, chat_key, keys)
    parts = _parts(session, keys)
    anew = _regenerated(session, keys)
    return [
        LiveLine(
            *(row.id, row.layer, row.kind, row.text, row.created_at),
            *(covers[row.key].first_index, covers[row.key].last_index),
            *parts.get(row.key, (0, 0)),
            anew.get(row.key),
        )
        for row in found
        if row.key in covers
    ]


def _parts(session: Session, keys: Sequence[int]) -> dict[int, tuple[int, int]]:
    """How many snippets each of these absorbed, and the deepest layer these came from."""
    found: dict[int, tuple[int, int]] = {}
    for some in chunks(keys):
        query = select(_S.parent_key, func.count(), func.max(_S.layer)).where(_S.parent_key.in_(some))
        rows = session.connection().execute(query.group_by(_S.parent_key))
        found |= {parent: (count, layer) for parent, count, layer in rows}
    return found


def _regenerated(session: Session, keys: Sequence[int]) -> dict[int, int]:
    """When those of these were last made anew because a person asked for it."""
    found: dict[int, int] = {}
    for some in chunks(keys):
        mine = (_V.snippet_key.in_(some), _V.why == "regenerate")
        query = select(_V.snippet_key, func.max(_V.replaced_at)).where(*mine).group_by(_V.snippet_key)
        found |= {key: at for key, at in session.connection().execute(query)}
    return found


def _number() -> Any:
    return func.row_number().over(partition_by=_V.snippet_key, order_by=_V.key) - 1


def _of_chat(chat_key: int) -> Any:
    return _V.snippet_key.in_(select(_S.key).where(_S.chat_key == chat_key))


def _still_kept() -> int:
    return now_ms() - KEPT_MS


def _stream(session: Session, query: Executable) -> Iterator[Row]:
    """Row by row, a few of them read ahead."""
    found = session.connection().execute(query, execution_options={"yield_per": _AT_ONCE})
    for row in found.mappings():
        yield dict(row)
