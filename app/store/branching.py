"""Copying a chat's beginning into another chat: messages, and the snippets that go with them."""

from typing import Any

from sqlalchemy import BindParameter, Integer, Row, Select, and_, bindparam, false, insert, literal, null, select
from sqlalchemy import func as sql
from sqlmodel import Session

from app.core.branching import Carried, Node
from app.core.model import Message, Role
from app.store import tables
from app.store.columns import Key
from app.store.engine import rows
from app.store.kept_tables import SnippetVersion
from app.store.messages import LEAVES, chunks, leaf_of

_MESSAGES = tables.Message.metadata.tables["messages"]
_SNIPPETS = tables.Snippet.metadata.tables["snippets"]
_VERSIONS = SnippetVersion.metadata.tables["snippet_versions"]
_M = _MESSAGES.c

_SOURCE = bindparam("source", type_=Key)
_TARGET = bindparam("target", type_=Key)


def _trees(leaf: Any) -> Select[Any]:
    mine = (_SNIPPETS.c.chat_key == _SOURCE, _SNIPPETS.c.strategy == bindparam("strategy"))
    covered = and_(_M.chat_key == _SNIPPETS.c.chat_key, leaf == _SNIPPETS.c.key)
    return (
        select(
            *(_SNIPPETS.c.key, _SNIPPETS.c.layer, _SNIPPETS.c.parent_key),
            *(sql.min(_M.position), sql.max(_M.position)),
        )
        .outerjoin(_MESSAGES, covered)
        .where(*mine, _SNIPPETS.c.state.in_(("live", "absorbed")))
        .group_by(_SNIPPETS.c.key)
    )


def nodes(session: Session, chat_key: int, strategy: str) -> list[Node]:
    """The live and absorbed snippets of a strategy, with what each covers itself."""
    leaf = leaf_of(strategy)
    if leaf is None:
        return []
    found = rows(session, _trees(leaf), {"source": chat_key, "strategy": strategy})
    return [Node(*row) for row in found]


_NEWEST = (
    select(
        *(_M.key, _M.position, _M.role, _M.blank, _M.hidden, _M.pinned, _M.omitted, _M.skipped),
        *(_M.tool_calls, _M.tool_call_id),
    )
    .where(_M.chat_key == _SOURCE, _M.position <= bindparam("upto"))
    .order_by(_M.position.desc())
    .limit(bindparam("most"))
)


def newest(session: Session, chat_key: int, upto: int, most: int) -> list[Message]:
    """The `most` newest messages of the history that ends with index `upto`, covered or not, by index.

    Their tokens are not read.
    """
    found = rows(session, _NEWEST, {"source": chat_key, "upto": upto, "most": most})
    return [_to_core(row) for row in reversed(found.all())]


def _to_core(row: Row[Any]) -> Message:
    key, position, role, blank, hidden, pinned, omitted, skipped, calls, answers = tuple(row)
    return Message(
        key,
        position,
        Role(role),
        tokens=0,
        blank=blank,
        hidden=hidden,
        pinned=pinned,
        omitted=omitted,
        skipped=skipped,
        calls=tuple(str(call.get("id")) for call in calls or ()),
        answers=answers,
    )


_OLD, _NEW = _SNIPPETS.alias("old"), _SNIPPETS.alias("new")
# Ids are unique within a chat, and a copy keeps its id: so they say which new key stands for which old one.
_TWINS = and_(_NEW.c.chat_key == _TARGET, _NEW.c.id == _OLD.c.id)


def _copy_snippets(where: Any, **changed: Any) -> Any:
    """Inserts copies of snippets; a request to make one anew was meant for the old one alone."""
    values: dict[str, Any] = {column.name: column for column in _SNIPPETS.c if column.name != "key"}
    values |= {"chat_key": _TARGET, "asked": false(), **changed}
    return insert(_SNIPPETS).from_select(list(values), select(*values.values()).where(where))


def _twin_of(column: Any, table: Any) -> Any:
    """The key of the copy of the snippet that a column of `table` names; null where there is none.

    Looked up row by row: a join leaves SQLite the choice to scan all snippets for every message, and it takes it.
    """
    twin = select(_NEW.c.key).join_from(_OLD, _NEW, _TWINS).where(_OLD.c.key == column)
    return twin.correlate(table).scalar_subquery()


_COPY_LIVE = _copy_snippets(
    _SNIPPETS.c.key == bindparam("copied", type_=Key),
    state=literal("live"),
    parent_key=null(),
    layer=bindparam("new_layer", type_=Integer),
    position=bindparam("new_position", type_=Integer),
)
_COPIED: BindParameter[Any] = bindparam("copied", expanding=True)
_COPY_ABSORBED = _copy_snippets(_SNIPPETS.c.key.in_(_COPIED), parent_key=_twin_of(_SNIPPETS.c.parent_key, _SNIPPETS))


def copy_snippets(session: Session, target: int, carried: Carried) -> None:
    """Copy snippets into the chat `target`, under new keys and the same ids."""
    live = [
        {"target": target, "copied": root.key, "new_layer": root.layer, "new_position": root.position}
        for root in carried.live
    ]
    if live:
        session.connection().execute(_COPY_LIVE, live)
    for level in carried.absorbed:
        for some in chunks(level):
            rows(session, _COPY_ABSORBED, {"target": target, "copied": some})


_KEPT = [column for column in _VERSIONS.c if column.name not in ("key", "snippet_key")]
_COPY_VERSIONS = insert(_VERSIONS).from_select(
    ["snippet_key", *_KEPT],
    select(_NEW.c.key, *_KEPT)
    .join_from(_VERSIONS, _OLD, _OLD.c.key == _VERSIONS.c.snippet_key)
    .join(_NEW, _TWINS)
    .where(_OLD.c.chat_key == _SOURCE)
    .order_by(_VERSIONS.c.key),
)


def copy_versions(session: Session, source: int, target: int) -> None:
    """Copy the earlier texts of those snippets of `source` that were copied into `target`."""
    rows(session, _COPY_VERSIONS, {"source": source, "target": target})


_HISTORY = [column for column in _M if column.name not in ("key", "chat_key", *LEAVES)]
_COPY_MESSAGES = insert(_MESSAGES).from_select(
    ["chat_key", *_HISTORY, *LEAVES],
    select(_TARGET, *_HISTORY, *(_twin_of(_M[leaf], _MESSAGES) for leaf in LEAVES))
    .where(_M.chat_key == _SOURCE, _M.position <= bindparam("upto"))
    .order_by(_M.position),
)


def copy_messages(session: Session, source: int, target: int, upto: int) -> None:
    """Copy the messages of `source` up to index `upto`, with all they have, into the empty chat `target`.

    Its snippets are there already: a message whose leaf is not among them is visible.
    """
    rows(session, _COPY_MESSAGES, {"source": source, "target": target, "upto": upto})
