"""Snippets as trees, in the database."""

from collections.abc import Sequence

import pytest
from sqlmodel import Session

from app.core.model import Snippet as CoreSnippet
from app.store import messages, snippets, trees
from app.store.engine import Database
from app.store.tables import Message, Snippet
from tests.support.rows import LAYERED, add_chat, add_leaf, add_messages, add_snippet, keys_at


def merge(session: Session, parts: Sequence[int], layer: int, position: int, snippet_id: str = "merged") -> int:
    """What stands for the parts from now on."""
    key = add_snippet(session, 1, layer, position, id=snippet_id, kind="merge")
    snippets.absorb(session, [CoreSnippet(part, 0, 4) for part in parts], key)
    return key


def change(session: Session, place: int, **what: object) -> None:
    """Change a message's columns."""
    message = session.get_one(Message, keys_at(session, 1, [place])[0])
    for name, value in what.items():
        setattr(message, name, value)
    session.flush()


def stored(session: Session, key: int) -> Snippet:
    session.flush()
    session.expire_all()
    return session.get_one(Snippet, key)


def stale(session: Session, keys: Sequence[int]) -> list[int]:
    return [key for key in keys if stored(session, key).stale]


def uncovered(session: Session) -> list[int]:
    return [message.index for message in messages.uncovered(session, 1, "layered")]


@pytest.fixture
def tree(db: Database) -> tuple[Database, list[int]]:
    """Twelve messages. Snippets 1 and 2 went into 3, 3 and 4 into 5, which is live before 6; two messages are free."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, 1, 12)
        one, two = add_leaf(session, 1, 0, 0, [0, 1], id="one"), add_leaf(session, 1, 0, 1, [2, 3], id="two")
        three = merge(session, [one, two], 1, 0, "three")
        four = add_leaf(session, 1, 1, 1, [4, 5, 6, 7], id="four")
        five = merge(session, [three, four], 2, 0, "five")
        six = add_leaf(session, 1, 0, 2, [8, 9], id="six")
    return db, [one, two, three, four, five, six]


Tree = tuple[Database, list[int]]


def test_what_changed_goes_upward(tree: Tree) -> None:
    """A leaf and all that absorbed it are stale, others not; live ones are counted, and failures forgotten."""
    db, keys = tree
    with db.write() as session:
        stored(session, keys[4]).failures = 3
        assert trees.upward(session, [keys[0]]) == {keys[0], keys[2], keys[4]}
        assert trees.mark_stale(session, [keys[0]]) == 1
        assert stale(session, keys) == [keys[0], keys[2], keys[4]]
        assert stored(session, keys[4]).failures == 0
        assert trees.mark_stale(session, [keys[1], keys[5]]) == 2
        assert trees.mark_stale(session, []) == 0


def test_what_is_worn(tree: Tree) -> None:
    """Stale and asked ones that are live or absorbed; what is deleted, or of another strategy, is not."""
    db, keys = tree
    with db.write() as session:
        stored(session, keys[0]).asked = True
        stored(session, keys[5]).stale = True
        add_snippet(session, 1, 0, 9, id="gone", state="deleted", stale=True)
        add_snippet(session, 1, 0, 9, id="other", strategy="rolling", stale=True)
        session.flush()
        assert [found.key for found in trees.worn(session, 1, "layered")] == [keys[0], keys[5]]


def test_parts_stand_in_the_order_of_the_story(tree: Tree) -> None:
    """Oldest first, whatever their layers; a leaf has none."""
    db, keys = tree
    with db.write() as session:
        assert [part.key for part in trees.parts(session, keys[4])] == [keys[2], keys[3]]
        assert trees.parts(session, keys[0]) == []


def live(session: Session) -> list[snippets.LiveSnippet]:
    return snippets.live(session, 1, "layered")


def test_who_joins_whom(tree: Tree) -> None:
    """What is free inside one live snippet's range joins the leaf before it. Between two, the beginning of a turn joins
    the leaf in which that ends, and whole turns join nobody; nor does what is outside.
    """
    db, keys = tree
    with db.write() as session:
        messages.uncover(session, 1, LAYERED, keys[1])
        messages.cover(session, keys_at(session, 1, [3]), LAYERED, keys[1])
        assert trees.home_of(session, 1, "layered", 2) == keys[0]
        change(session, 7, layered_leaf=None)
        change(session, 8, layered_leaf=None)
        assert trees.home_of(session, 1, "layered", 7) is None
        assert trees.home_of(session, 1, "layered", 8) == keys[5]
        assert trees.homes_of(session, 1, "layered", [2, 7, 10, 11]) == {keys[0]}
        assert trees.homes_of(session, 1, "layered", [2, 7, 8, 10, 11]) == {keys[0], keys[5]}
        assert trees.homes_of(session, 1, "layered", []) == set()


def test_joiners_are_plain(tree: Tree) -> None:
    """Hidden, pinned, omitted and blank messages, and those under a snippet, join nobody."""
    db, keys = tree
    with db.write() as session:
        messages.uncover(session, 1, LAYERED, keys[3])
        for place, mark in ((4, "hidden"), (5, "pinned"), (6, "blank")):
            change(session, place, **{mark: True})
        assert trees.joiners(session, 1, LAYERED, 0, 9) == [7]
        assert trees.joiners(session, 1, LAYERED, 0, 6) == []


def test_what_is_empty_goes(tree: Tree) -> None:
    """A leaf without messages goes, and whoever absorbed nothing else; what is left stays."""
    db, keys = tree
    with db.write() as session:
        messages.uncover(session, 1, LAYERED, keys[0])
        assert trees.drop_empty(session, 1, keys) == {keys[0]}
        assert [stored(session, key).state for key in keys[:3]] == ["deleted", "absorbed", "absorbed"]
        messages.uncover(session, 1, LAYERED, keys[1])
        assert trees.drop_empty(session, 1, [keys[1]]) == {keys[1], keys[2]}
        assert stored(session, keys[4]).state == "live"
        messages.uncover(session, 1, LAYERED, keys[3])
        assert trees.drop_empty(session, 1, [keys[3]]) == {keys[3], keys[4]}
        assert [found.core.key for found in live(session)] == [keys[5]]


def test_blank_messages_hold_nothing(tree: Tree) -> None:
    """A leaf over nothing but blank messages goes, and these are free; one with text stays with its blank ones."""
    db, keys = tree
    with db.write() as session:
        change(session, 8, blank=True)
        assert trees.drop_empty(session, 1, [keys[5]]) == set()
        change(session, 9, blank=True)
        assert trees.drop_empty(session, 1, [keys[5]]) == {keys[5]}
        assert uncovered(session) == [8, 9, 10, 11]


def test_releasing_a_tree(tree: Tree) -> None:
    """Everything under it is free, each message is told with its leaf and revision, and its parts stay linked."""
    db, keys = tree
    with db.write() as session:
        change(session, 3, revision=2)
        root = stored(session, keys[4])
        mine = keys_at(session, 1, range(8))
        covered = trees.release(session, 1, root)
        assert covered == {
            keys[0]: [(mine[0], 0), (mine[1], 0)],
            keys[1]: [(mine[2], 0), (mine[3], 2)],
            keys[3]: [(key, 0) for key in mine[4:]],
        }
        assert uncovered(session) == [0, 1, 2, 3, 4, 5, 6, 7, 10, 11]
        assert [part.key for part in trees.parts(session, root.key)] == [keys[2], keys[3]]
        assert [trees.stands(session, stored(session, key)) for key in keys] == [False] * 5 + [True]
        assert set(session.execute(trees.fallen(1)).scalars()) == set(keys[:4])


def test_who_covers_something_between(tree: Tree) -> None:
    """The live snippets over a range, each once."""
    db, keys = tree
    with db.write() as session:
        assert [root.key for root in trees.roots_between(session, 1, LAYERED, 0, 7)] == [keys[4]]
        assert [root.key for root in trees.roots_between(session, 1, LAYERED, 3, 11)] == [keys[4], keys[5]]
        assert trees.roots_between(session, 1, LAYERED, 10, 11) == []


@pytest.mark.parametrize("what", [{"edited": True}, {"kind": "import"}, {"kind": "manual"}])
def test_words_that_are_not_ours(tree: Tree, what: dict[str, object]) -> None:
    """A person's text, or one from a file, counts for everything that absorbed it."""
    db, keys = tree
    with db.write() as session:
        for name, value in what.items():
            setattr(stored(session, keys[0]), name, value)
        session.flush()
        assert [trees.holds_own_words(session, key) for key in keys] == [True, False, True, False, True, False]
