"""Where messages stand and what is under them, a whole chat at a time without holding it."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import BindParameter, Executable, and_, bindparam, func, select
from sqlmodel import Session, SQLModel

from app.core.ground import Held, Spot
from app.core.limits import LAST_INDEX
from app.core.model import Role
from app.store import messages, snippets
from app.store.engine import rows

_AT_ONCE = 2000
_T = SQLModel.metadata.tables["messages"].c
_MINE = _T.chat_key == bindparam("chat_key")
_PLAIN = and_(_T.hidden.is_(False), _T.pinned.is_(False), _T.omitted.is_(False))
_SHOWN = and_(_T.closes.is_(True), _T.hidden.is_(False), _T.omitted.is_(False))

_WITH_EXTRA = select(_T.position, _T.extra).where(_MINE, _T.extra.is_not(None)).order_by(_T.position)
_BY_IDS = select(_T.id, _T.position).where(_MINE, _T.id.in_(bindparam("ids", expanding=True)))
_INDEX: BindParameter[int] = bindparam("index")
_ENDED_BEFORE = select(func.max(_T.position)).where(_MINE, _SHOWN, _T.position < _INDEX)
_ENDS_FROM = select(func.min(_T.position)).where(_MINE, _SHOWN, _T.position >= _INDEX)
_ROLES = {role.value: role for role in Role}


def spots(session: Session, chat_key: int, strategy: str) -> Iterator[Spot]:
    """All messages of a chat by index, as far as covering looks at them."""
    leaf = messages.leaf_of(strategy)
    covered = _T[leaf.key].is_not(None) if leaf is not None else _T.key.is_(None)
    query = select(_T.role, _T.blank, _SHOWN, _PLAIN, covered).where(_MINE).order_by(_T.position)
    for role, *facts in _streamed(session, query, chat_key):
        yield Spot(_ROLES[role], *map(bool, facts))


def held(session: Session, chat_key: int, strategy: str) -> list[Held]:
    """What the live snippets of a chat cover, in reading order."""
    live = snippets.live(session, chat_key, strategy)
    under = snippets.covers(session, chat_key, [snippet.core.key for snippet in live])
    found = [(snippet.core.layer, under.get(snippet.core.key)) for snippet in live]
    return [Held(covers.first_index, covers.last_index, layer) for layer, covers in found if covers]


def plain_between(session: Session, chat_key: int, strategy: str, first: int, last: int) -> list[tuple[int, int]]:
    """Keys and tokens of the messages from `first` to `last` that are uncovered and that nobody marked."""
    leaf = messages.leaf_of(strategy)
    if leaf is None:
        return []
    query = select(_T.key, _T.tokens + _T.call_tokens).where(_MINE, _T.position.between(first, last), _PLAIN)
    found = rows(session, query.where(_T[leaf.key].is_(None)).order_by(_T.position), {"chat_key": chat_key})
    return [(key, tokens) for key, tokens in found]


def whole_turns(session: Session, chat_key: int, first: int, last: int) -> tuple[int, int]:
    """The range from one index to another, widened to the turns that it cuts; one that no reply closes yet reaches to
    the chat's end, and the first one from its beginning.
    """
    ended = rows(session, _ENDED_BEFORE, {"chat_key": chat_key, "index": first}).scalar()
    ends = rows(session, _ENDS_FROM, {"chat_key": chat_key, "index": last}).scalar()
    return 0 if ended is None else ended + 1, LAST_INDEX if ends is None else ends


def with_extra(session: Session, chat_key: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Index and `extra` of the messages that have any, by index."""
    return ((index, extra) for index, extra in _streamed(session, _WITH_EXTRA, chat_key))


def of_ids(session: Session, chat_key: int, ids: Sequence[str]) -> dict[str, int]:
    """The indices of messages by their ids; unknown ids are left out."""
    found: dict[str, int] = {}
    for some in messages.chunks(ids):
        found |= {row.id: row.position for row in rows(session, _BY_IDS, {"chat_key": chat_key, "ids": some})}
    return found


def _streamed(session: Session, query: Executable, chat_key: int) -> Iterator[Any]:
    """Rows a few at a time, however many there are."""
    connection = session.connection()
    result = connection.execute(query, {"chat_key": chat_key}, execution_options={"yield_per": _AT_ONCE})
    return iter(result)
