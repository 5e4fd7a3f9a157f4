"""Snippets as trees: what absorbed what, what joins it, what is out of date, what goes when it is empty."""

from collections.abc import Collection, Iterable

from sqlalchemy import Select, and_, bindparam, func, or_, select, text, update
from sqlmodel import Session, SQLModel, col

from app.store import leaves, messages, placing, snippets
from app.store.messages import Leaf, chunks
from app.store.prepared import Prepared
from app.store.tables import Message, Snippet

# As the index of worn snippets says it: SQLite sees that it serves only if the words are the same.
_WORN = text("(stale OR asked)")
_M = SQLModel.metadata.tables["messages"].c


def upward(session: Session, keys: Collection[int]) -> set[int]:
    """These snippets and all that absorbed them, through whatever layers."""
    found: set[int] = set()
    level = set(keys)
    while level:
        found |= level
        parents: set[int] = set()
        for some in chunks(sorted(level)):
            query = select(col(Snippet.parent_key)).where(
                col(Snippet.key).in_(some), col(Snippet.parent_key).is_not(None)
            )
            parents |= set(session.execute(query).scalars())
        level = parents - found
    return found


def mark_stale(session: Session, keys: Collection[int]) -> int:
    """Say that what is under these snippets has changed; so are all that absorbed them. How many of these are live."""
    session.flush()
    live = 0
    for some in chunks(sorted(upward(session, keys))):
        mine = col(Snippet.key).in_(some)
        session.execute(update(Snippet).where(mine).values(stale=True, failures=0))
        count = select(func.count()).select_from(Snippet).where(mine, col(Snippet.state) == "live")
        live += int(session.execute(count).scalar_one())
    return live


def live_among(session: Session, keys: Collection[int]) -> list[Snippet]:
    """Those of these snippets that are live."""
    live = select(Snippet).where(col(Snippet.state) == "live")
    chosen = (live.where(col(Snippet.key).in_(some)) for some in chunks(sorted(keys)))
    return [snippet for query in chosen for snippet in session.execute(query).scalars()]


def fresh_among(session: Session, keys: Collection[int]) -> set[int]:
    """Those of these snippets that are not stale."""
    fresh = select(col(Snippet.key)).where(col(Snippet.stale).is_(False))
    chosen = (fresh.where(col(Snippet.key).in_(some)) for some in chunks(sorted(keys)))
    return {key for query in chosen for key in session.execute(query).scalars()}


_WORN_KEYS = Prepared(
    select(col(Snippet.key)).where(
        *(col(Snippet.chat_key) == bindparam("chat_key"), col(Snippet.strategy) == bindparam("strategy")),
        _WORN,
        or_(col(Snippet.state) == "live", col(Snippet.state) == "absorbed"),
    )
)


def worn(session: Session, chat_key: int, strategy: str) -> list[Snippet]:
    """The live and absorbed snippets that are stale, or that a person asked to have made anew; mostly none."""
    session.flush()
    keys = [key for (key,) in _WORN_KEYS.all(session, {"chat_key": chat_key, "strategy": strategy})]
    query = select(Snippet).order_by(col(Snippet.key))
    chosen = (query.where(col(Snippet.key).in_(some)) for some in chunks(sorted(keys)))
    return [snippet for some in chosen for snippet in session.execute(some).scalars()]


def is_asked(session: Session, keys: Collection[int]) -> bool:
    """Whether a person asked to have one of these snippets made anew."""
    asked = select(col(Snippet.key)).where(col(Snippet.key).in_(keys), col(Snippet.asked).is_(True)).limit(1)
    return session.execute(asked).first() is not None


def withdraw_asked(session: Session, chat_key: int) -> None:
    """Nobody wants snippets of this chat made anew any more."""
    asked = (col(Snippet.chat_key) == chat_key, col(Snippet.asked).is_(True))
    session.execute(update(Snippet).where(*asked).values(asked=False))


def parts(session: Session, key: int) -> list[Snippet]:
    """What a merged snippet absorbed, oldest first; nothing for a leaf."""
    query = select(Snippet).where(col(Snippet.parent_key) == key)
    return list(session.execute(query.order_by(*snippets.READING_ORDER)).scalars())


def home_of(session: Session, chat_key: int, strategy: str, index: int) -> int | None:
    """The leaf that an uncovered message at `index` joins: the nearest before it, if it lies inside the range of a
    live snippet (layered.md, Folding); else the one after it, if its turn ends there. None if it folds by itself.
    """
    before = leaves.leaf_before(session, chat_key, strategy, index)
    after = leaves.leaf_after(session, chat_key, strategy, index)
    if after is None:
        return None
    if before is not None and snippets.root_of(session, before) is snippets.root_of(session, after):
        return before
    first = snippets.covers(session, chat_key, [after])[after].first_index
    return after if start_of_turn(session, chat_key, strategy, first) <= index else None


def start_of_turn(session: Session, chat_key: int, strategy: str, first: int) -> int:
    """Where the turn begins that goes on with a leaf's first message at `first`: behind the last message before it
    that is covered, ends a turn, or belongs to the chat's own system prompt. Inside a live snippet's range what stands
    before `first` is another leaf's.
    """
    leaf = messages.leaf_of(strategy)
    if leaf is None or _is_inside(session, chat_key, strategy, first):
        return first
    shown = and_(col(Message.closes).is_(True), col(Message.hidden).is_(False), col(Message.omitted).is_(False))
    before = (col(Message.chat_key) == chat_key, col(Message.position) < first, or_(leaf.is_not(None), shown))
    ended = select(col(Message.position)).where(*before).order_by(col(Message.position).desc()).limit(1)
    place = session.execute(ended).scalar()
    return place + 1 if place is not None else min(first, end_of_head(session, chat_key))


def _is_inside(session: Session, chat_key: int, strategy: str, first: int) -> bool:
    """Whether the leaf before a covered message is a part of the same live snippet."""
    before = leaves.leaf_before(session, chat_key, strategy, first)
    own = leaves.leaf_after(session, chat_key, strategy, first - 1)
    return before is not None and snippets.root_of(session, before) is snippets.root_of(session, own)


def end_of_head(session: Session, chat_key: int) -> int:
    """The place of the first message of a user or an assistant: what stands before it is in no turn."""
    spoken = (col(Message.chat_key) == chat_key, col(Message.role).in_(("user", "assistant")))
    query = select(col(Message.position)).where(*spoken).order_by(col(Message.position)).limit(1)
    return session.execute(query).scalar() or 0


def homes_of(session: Session, chat_key: int, strategy: str, indices: Iterable[int]) -> set[int]:
    """The leaves that uncovered messages at these places join."""
    found: set[int] = set()
    session.flush()
    newest = placing.last_covered(session, chat_key, strategy)
    home, previous = None, None
    for index in sorted(indices):
        if newest is None or index > newest:
            break
        if home is None or index - 1 != previous:  # a neighbour of one that joins joins the same leaf
            home = home_of(session, chat_key, strategy, index)
            found |= {home} if home is not None else set()
        previous = index
    return found


def _joiners(leaf: str) -> Prepared:
    plain = (flag.is_(False) for flag in (_M.hidden, _M.omitted, _M.pinned, _M.blank))
    within = (messages.of_chat(), _M[leaf].is_(None), _M.position.between(bindparam("first"), bindparam("last")))
    return Prepared(select(_M.position).where(*within, *plain).order_by(_M.position))


_JOINERS = {leaf: _joiners(leaf) for leaf in messages.LEAVES}


def joiners(session: Session, chat_key: int, leaf: Leaf, first: int, last: int) -> list[int]:
    """Where messages stand between `first` and `last` that a snippet over this range should cover but does not."""
    session.flush()
    found = _JOINERS[leaf.key].all(session, {"chat_key": chat_key, "first": first, "last": last})
    return [position for (position,) in found]


def chain(session: Session, chat_key: int, strategy: str) -> list[Snippet]:
    """A summary that is written anew with every fold, and all its predecessors, newest first; empty without one."""
    mine = (col(Snippet.chat_key) == chat_key, col(Snippet.strategy) == strategy)
    query = select(Snippet).where(*mine, col(Snippet.state).in_(("live", "absorbed")))
    below = {one.parent_key: one for one in session.execute(query).scalars()}
    found = [below[None]] if None in below else []
    while found and found[-1].key in below:
        found.append(below[found[-1].key])
    return found


def drop_empty(session: Session, chat_key: int, leaf_keys: Iterable[int]) -> set[int]:
    """Let go those leaves under which nothing with text is left, and what absorbed nothing else; all that went.

    Blank messages that are left under one are uncovered: they say nothing, and are sent by nobody.
    """
    gone: set[int] = set()
    for key in sorted(set(leaf_keys)):
        leaf = session.get(Snippet, key)
        if leaf is not None and leaf.state in ("live", "absorbed") and _is_bare(session, leaf):
            column = messages.leaf_of(leaf.strategy)
            if column is not None:
                messages.uncover(session, chat_key, column, key)
            gone |= _let_go(session, leaf)
    return gone


def _is_bare(session: Session, leaf: Snippet) -> bool:
    column = messages.leaf_of(leaf.strategy)
    if column is None or parts(session, leaf.key):
        return False
    mine = and_(col(Message.chat_key) == leaf.chat_key, column == leaf.key, col(Message.blank).is_(False))
    return session.execute(select(col(Message.key)).where(mine).limit(1)).first() is None


def _let_go(session: Session, snippet: Snippet) -> set[int]:
    """Delete a snippet with nothing under it, and upward whoever has nothing else."""
    gone: set[int] = set()
    emptied: Snippet | None = snippet
    while emptied is not None:
        parent_key = emptied.parent_key
        emptied.state, emptied.parent_key = "deleted", None
        session.flush()
        gone.add(emptied.key)
        left = parent_key is not None and bool(parts(session, parent_key))
        emptied = session.get(Snippet, parent_key) if parent_key is not None and not left else None
    return gone


def release(session: Session, chat_key: int, root: Snippet) -> dict[int, list[tuple[int, int]]]:
    """Uncover everything under a live snippet and delete it; (key, revision) of the messages that were under each leaf.

    What it absorbed stays linked to it, so that it can come back whole.
    """
    leaves = snippets.leaves_under(session, root.key)
    covered = {key: found for key in leaves if (found := lay_bare(session, chat_key, root.strategy, key))}
    root.state = "deleted"
    session.flush()
    return covered


def lay_bare(session: Session, chat_key: int, strategy: str, key: int) -> list[tuple[int, int]]:
    """Uncover what a leaf covers itself; (key, revision) of the messages, by index."""
    column = messages.leaf_of(strategy)
    if column is None:
        return []
    query = select(col(Message.key), col(Message.revision)).where(col(Message.chat_key) == chat_key, column == key)
    found = [(message, revision) for message, revision in session.execute(query.order_by(col(Message.position)))]
    if found:
        messages.uncover(session, chat_key, column, key)
    return found


def roots_between(session: Session, chat_key: int, leaf: Leaf, first: int, last: int) -> list[Snippet]:
    """The live snippets that cover something between two places."""
    between = (col(Message.chat_key) == chat_key, col(Message.position).between(first, last), leaf.is_not(None))
    keys = session.execute(select(leaf).where(*between).distinct()).scalars()
    roots = {root.key: root for key in keys if (root := snippets.root_of(session, key)) is not None}
    return [roots[key] for key in sorted(roots)]


def holds_own_words(session: Session, key: int) -> bool:
    """Whether a text under a snippet, its own included, is a person's or came in with a file."""
    keys = snippets.leaves_under(session, key)
    kept = or_(col(Snippet.edited), col(Snippet.kind).in_(("manual", "import")))
    return any(
        session.execute(select(col(Snippet.key)).where(col(Snippet.key).in_(some), kept).limit(1)).first() is not None
        for some in chunks(keys)
    )


def stands(session: Session, snippet: Snippet) -> bool:
    """Whether a snippet is live, or a part of one that is."""
    root = snippets.root_of(session, snippet.key)
    return root is not None and root.state == "live"


def fallen(chat_key: int) -> Select[int]:
    """Selects the keys of what deleted snippets absorbed: it stays linked to them, and is gone as they are."""
    gone = select(col(Snippet.key)).where(col(Snippet.chat_key) == chat_key, col(Snippet.state) == "deleted")
    tree = select(col(Snippet.key).label("key")).where(col(Snippet.parent_key).in_(gone)).cte("fallen", recursive=True)
    tree = tree.union_all(select(col(Snippet.key)).join(tree, col(Snippet.parent_key) == tree.c.key))
    return select(tree.c.key)
