"""Bringing memory in line after history was changed, in the transaction that changed it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlmodel import Session

from app.core.edits import Effect, effect_of_removal
from app.core.model import Strategy
from app.services.recalling import recall_all, recall_untaken
from app.store import history, leaves, messages, snippets, trees
from app.store.history import Row
from app.store.messages import LEAVES
from app.store.tables import Chat, Snippet

UNCOVERED: Mapping[str, Any] = dict.fromkeys(LEAVES)
"""What a message's columns say that no snippet covers."""


@dataclass
class Traces:
    """What changes left behind: keys of leaves that are out of date, keys of leaves that may be empty now, and where
    visible messages came in. `broken` are out of date too, `thinned` may be empty: of summaries that are written anew.
    """

    stale: set[int] = field(default_factory=set)
    broken: set[int] = field(default_factory=set)
    thinned: set[int] = field(default_factory=set)
    loosened: set[int] = field(default_factory=set)
    arrived: set[int] = field(default_factory=set)

    def note(self, row: Row, effect: Effect, index: int) -> None:
        """Note what a change of a message does; `row` is as it was, `index` where it stands now."""
        leaves = _keys(row, LEAVES[:1])
        if effect.leaves or effect.stales:
            self.loosened |= leaves  # blank by now, it is as good as gone
            self.thinned |= _keys(row, LEAVES[1:])
        if effect.stales:
            self.stale |= leaves
            self.broken |= _keys(row, LEAVES[1:])
        if effect.arrives:
            self.arrived.add(index)


def leaves_of(row: Row) -> set[int]:
    """The keys of the leaves that cover a message, of all strategies."""
    return _keys(row, LEAVES)


def _keys(row: Row, names: Sequence[str]) -> set[int]:
    return {row[name] for name in names if row[name] is not None}


@contextmanager
def one_step(chat: Chat) -> Iterator[None]:
    """However many snippets go and come in a transaction, memory_version rises by one (http-api.md, Chats)."""
    before = chat.memory_version
    yield
    chat.memory_version = min(chat.memory_version, before + 1)


def settle(session: Session, chat: Chat, traces: Traces) -> int:
    """Let empty snippets go and mark those out of date; how many live ones that are.

    A summary that is written anew gives way to its newest predecessor that ends before the change instead.
    """
    recall_untaken(session, chat.key)
    _free_head(session, chat, traces)
    for strategy in filter(lambda one: one.rewrites, Strategy):
        if give_way(session, chat.key, strategy, traces) and strategy == chat.strategy:
            chat.memory_version += 1
    # While what is empty still says what absorbed it:
    worn, kin = trees.upward(session, traces.stale), trees.upward(session, traces.loosened)
    before = (
        {snippet.core.key for snippet in snippets.live(session, chat.key, chat.strategy)} if traces.loosened else ()
    )
    gone = trees.drop_empty(session, chat.key, traces.loosened)
    if gone.intersection(before):
        chat.memory_version += 1
    return trees.mark_stale(session, (worn - gone) | _homes(session, chat, traces) | _new_homes(session, kin - gone))


def note_joiners(session: Session, chat_key: int, strategy: str, first: int, last: int) -> int:
    """Let the messages that one snippet's range now holds, but does not cover, join the leaves before them; these are
    stale until they are made anew. How many live snippets are.
    """
    leaf = messages.leaf_of(strategy)
    joining = trees.joiners(session, chat_key, leaf, first, last) if leaf is not None else []
    return trees.mark_stale(session, trees.homes_of(session, chat_key, strategy, joining)) if joining else 0


def give_way(session: Session, chat_key: int, strategy: str, traces: Traces) -> bool:
    """Let the newest predecessor stand that ends before what has changed; what that leaves uncovered folds again.

    One under which nothing is left goes too. A text of a person's is marked stale and left, unless something came in
    under it. Whether any had to give way.
    """
    touched = traces.broken or traces.thinned or traces.arrived
    found = trees.chain(session, chat_key, strategy) if touched else []
    head = trees.end_of_head(session, chat_key) if found and traces.arrived else 0
    inside = {leaves.leaf_after(session, chat_key, strategy, index) for index in traces.arrived if index >= head}
    bare = bool(found) and not snippets.covers(session, chat_key, [found[0].key])
    places = [place for place, one in enumerate(found) if one.key in traces.broken or one.key in inside]
    if places and found[0].edited and not bare and not any(one.key in inside for one in found):
        trees.mark_stale(session, [found[max(places)].key])  # and all that went on from it
        return False
    places += [len(found) - 1] if bare else []
    if not places:
        return False
    fall_back(session, chat_key, found, max(places) + 1)
    return True


def fall_back(
    session: Session, chat_key: int, chain: Sequence[Snippet], count: int
) -> dict[int, list[tuple[int, int]]]:
    """Let the `count` newest summaries of a chain go; the one before them stands again. (key, revision) of the messages
    that each of them covered itself.
    """
    covered = {gone.key: trees.lay_bare(session, chat_key, gone.strategy, gone.key) for gone in chain[:count]}
    for gone in chain[:count]:
        gone.state, gone.parent_key = "deleted", None
    session.flush()
    for standing in chain[count : count + 1]:
        standing.state, standing.parent_key = "live", None
    session.flush()
    return covered


def _free_head(session: Session, chat: Chat, traces: Traces) -> None:
    """What has become a part of the chat's own system prompt is in no turn, and never covered."""
    for row in history.covered_head(session, chat.key):
        traces.note(row, effect_of_removal(covered=True), row["position"])
        history.change(session, {row["key"]: UNCOVERED})


def forget(session: Session, chat: Chat) -> int:
    """Take all memory away, of all strategies: what was planned on it no longer holds. How many snippets were live."""
    messages.uncover_all(session, chat.key)
    told = bool(snippets.live(session, chat.key, chat.strategy))
    gone = snippets.remove_all(session, chat.key)
    recall_all(session, chat.key)
    chat.epoch += 1
    chat.memory_version += told
    chat.last_error = chat.retry_at = None
    return gone


def _new_homes(session: Session, kin: Collection[int]) -> set[int]:
    """The leaves that messages join by now because those that they had joined have lost what stood before them.

    `kin`: the leaves that lost something, and what absorbed them. A leaf that knows of its joiners is stale already.
    """
    found: set[int] = set()
    for root in trees.live_among(session, kin):
        leaf = messages.leaf_of(root.strategy)
        under = snippets.covers(session, root.chat_key, [root.key]).get(root.key)
        if leaf is not None and under is not None:
            joining = trees.joiners(session, root.chat_key, leaf, under.first_index, under.last_index)
            found |= trees.homes_of(session, root.chat_key, root.strategy, joining)
    return trees.fresh_among(session, found)


def _homes(session: Session, chat: Chat, traces: Traces) -> set[int]:
    """The leaves that what came in joins."""
    return trees.homes_of(session, chat.key, Strategy.LAYERED, traces.arrived) if traces.arrived else set()
