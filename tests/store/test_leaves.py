"""Which leaf covers what."""

from app.store import leaves
from app.store.engine import Database
from tests.support.rows import LAYERED, add_chat, add_leaf, add_messages


def test_the_nearest_leaf(db: Database) -> None:
    """The one over the nearest covered message on either side, the place itself left out; None where nothing is."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, 1, 8)
        first, second = (add_leaf(session, 1, 0, place, [4 * place, 4 * place + 1], id=str(place)) for place in (0, 1))
        before = [leaves.leaf_before(session, 1, "layered", index) for index in (0, 1, 4, 5)]
        after = [leaves.leaf_after(session, 1, "layered", index) for index in (-1, 0, 1, 5)]
        assert before == [None, first, first, second]
        assert after == [first, first, second, None]
        assert leaves.leaf_after(session, 1, "rolling", -1) is None
        assert leaves.leaf_after(session, 1, "none", -1) is None


def test_whether_anything_is_covered_between(db: Database) -> None:
    """Both ends belong to the range; of another chat nothing counts."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, 1, 8)
        add_leaf(session, 1, 0, 0, [2, 3])
        ranges = ((0, 1), (0, 2), (3, 7), (4, 7))
        assert [leaves.any_covered(session, 1, LAYERED, *ends) for ends in ranges] == [False, True, True, False]
        assert not leaves.any_covered(session, 2, LAYERED, 0, 7)
