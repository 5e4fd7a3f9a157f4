"""Snippets and what they cover, in the database."""

import pytest
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from app.core.model import Snippet as CoreSnippet
from app.store import messages, snippets
from app.store.engine import Database
from app.store.snippets import Covers
from app.store.tables import Snippet
from tests.support.rows import LAYERED, add_chat, add_messages, add_snippet, keys_at, snippet


def absorb(session: Session, parts: list[int], layer: int, position: int) -> int:
    """Merge snippets as a commit does; the key of what stands for them."""
    merged = add_snippet(session, 1, layer, position, id="merged", kind="merge")
    snippets.absorb(session, [CoreSnippet(part, 0, 4) for part in parts], merged)
    return merged


def places(session: Session) -> list[tuple[int, int, str]]:
    """Layer, position and id of what is live, in reading order."""
    ids = snippets.ids_of(session, [found.core.key for found in snippets.live(session, 1, "layered")])
    return [(s.core.layer, s.position, ids[s.core.key]) for s in snippets.live(session, 1, "layered")]


def test_two_live_snippets_never_share_a_place(db: Database) -> None:
    """The database refuses a second live snippet at a place; one that is not live may have been there."""
    with db.write() as session:
        add_chat(session)
        add_snippet(session, 1, 0, 0)
        add_snippet(session, 1, 0, 0, id="gone", state="deleted")
        add_snippet(session, 1, 0, 0, id="other", strategy="rolling")
        with pytest.raises(IntegrityError), session.begin_nested():
            session.add(snippet(1, 0, 0, id="second"))


def test_absorbed_exactly_with_a_parent(db: Database) -> None:
    """The database refuses an absorbed snippet without a parent, and a live one with a parent."""
    with db.write() as session:
        add_chat(session)
        parent = add_snippet(session, 1, 1, 0)
        for what in ({"state": "absorbed"}, {"state": "live", "parent_key": parent}):
            with pytest.raises(IntegrityError), session.begin_nested():
                session.add(snippet(1, 0, 5, **what))


def test_parents_are_of_the_same_chat(db: Database) -> None:
    """The database refuses a parent in another chat."""
    with db.write() as session:
        add_chat(session)
        other = add_chat(session, "d")
        parent = add_snippet(session, 1, 1, 0)
        with pytest.raises(IntegrityError), session.begin_nested():
            session.add(snippet(other.key, 0, 0, state="absorbed", parent_key=parent))


def test_make_room(db: Database) -> None:
    """Live snippets from a place on move one further; other layers and what comes before stay."""
    with db.write() as session:
        add_chat(session)
        for position in (0, 1, 4):
            add_snippet(session, 1, 0, position)
        add_snippet(session, 1, 1, 1)
        snippets.make_room(session, 1, "layered", 0, 1)
        assert places(session) == [(1, 1, "s1.1"), (0, 0, "s0.0"), (0, 2, "s0.1"), (0, 5, "s0.4")]
        assert snippets.next_position(session, 1, "layered", 0) == 6
        assert snippets.next_position(session, 1, "layered", 2) == 0


def test_parts_get_fresh_places(db: Database) -> None:
    """Parts come back after what is live in their layer, wherever they stood once, the deepest layer first."""
    with db.write() as session:
        add_chat(session)
        old = add_snippet(session, 1, 1, 2)
        parts = [add_snippet(session, 1, layer, at, id=f"part {layer}") for layer, at in ((0, 1), (1, 3))]
        merged = absorb(session, parts, 1, 4)
        assert snippets.children_ids(session, [merged, old]) == {merged: ["part 1", "part 0"], old: []}
        snippets.make_room(session, 1, "layered", 1, 2)  # now the older one stands where a part did
        newest = session.get_one(Snippet, merged)
        assert snippets.dissolve(session, newest) == [parts[1], parts[0]]
        assert newest.state == "deleted"
        assert places(session) == [(1, 3, "s1.2"), (1, 4, "part 1"), (0, 0, "part 0")]


def test_a_leaf_has_no_parts(db: Database) -> None:
    """A snippet that absorbed nothing is left as it is."""
    with db.write() as session:
        add_chat(session)
        leaf = session.get_one(Snippet, add_snippet(session, 1, 0, 0))
        assert snippets.dissolve(session, leaf) == []
        assert leaf.state == "live"


def test_cover_and_what_it_means(db: Database) -> None:
    """Covered messages are found under the root of their leaf, and are visible again once uncovered."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, 1, 10)
        parts = [add_snippet(session, 1, 0, at) for at in (0, 1)]
        messages.cover(session, keys_at(session, 1, [0, 1, 2, 3]), LAYERED, parts[0])
        messages.cover(session, keys_at(session, 1, [4, 5]), LAYERED, parts[1])
        merged = absorb(session, parts, 1, 0)
        assert snippets.covers(session, 1, [merged, parts[1]]) == {
            merged: Covers(0, 5, 3, 6),
            parts[1]: Covers(4, 5, 1, 2),
        }
        assert snippets.layer_turns(session, 1, "layered") == {1: 3}
        for root in (snippets.root_before(session, 1, "layered", 9), snippets.root_after(session, 1, "layered", 2)):
            assert root is not None
            assert root.key == merged
        assert snippets.root_after(session, 1, "layered", 5) is None
        assert sorted(snippets.leaves_under(session, merged)) == sorted([merged, *parts])
        messages.uncover(session, 1, LAYERED, parts[1])
        assert [m.index for m in messages.uncovered(session, 1, "layered")] == [4, 5, 6, 7, 8, 9]
        assert snippets.covers(session, 1, parts) == {parts[0]: Covers(0, 3, 2, 4)}


def test_unchanged(db: Database) -> None:
    """Merge sources hold as long as they are live, in their layer, with the text that was read."""
    with db.write() as session:
        add_chat(session)
        key = add_snippet(session, 1, 0, 0)
        assert snippets.unchanged(session, [CoreSnippet(key, 0, 4, 0)])
        assert not snippets.unchanged(session, [CoreSnippet(key, 1, 4, 0)])
        assert not snippets.unchanged(session, [CoreSnippet(key, 0, 4, 1)])
        assert not snippets.unchanged(session, [CoreSnippet(key + 1, 0, 4, 0)])


def test_marks_are_counted_among_the_live(db: Database) -> None:
    """Stale and degraded snippets count while they are live."""
    with db.write() as session:
        add_chat(session)
        assert snippets.count_marks(session, 1, "layered") == (0, 0)
        add_snippet(session, 1, 0, 0, stale=True, degraded=True)
        add_snippet(session, 1, 0, 1, stale=True)
        add_snippet(session, 1, 0, 2, state="deleted", degraded=True)
        assert snippets.count_marks(session, 1, "layered") == (2, 1)


def test_remove_all(db: Database) -> None:
    """Clearing forgets merged snippets with their parts, and says how many were live."""
    with db.write() as session:
        add_chat(session)
        absorb(session, [add_snippet(session, 1, 0, 0)], 1, 0)
        assert snippets.remove_all(session, 1) == 1
        assert snippets.live(session, 1, "layered") == []
