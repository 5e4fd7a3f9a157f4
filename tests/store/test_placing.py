"""How far memory reaches, and the places of new snippets."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlmodel import Session

from app.core.model import Snippet as CoreSnippet
from app.store import placing, snippets, trees
from app.store.engine import Database
from app.store.tables import Snippet
from tests.support.rows import add_chat, add_leaf, add_messages, add_snippet


def starts_of(session: Session) -> list[int]:
    """Where the ranges of the live snippets begin, in reading order."""
    live = [snippet.core.key for snippet in snippets.live(session, 1, "layered")]
    return [snippets.covers(session, 1, [key])[key].first_index for key in live]


def test_the_last_covered_message(db: Database) -> None:
    """The newest one under the last live snippet, through its newest parts; none where nothing is covered."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, 1, 12)
        parts = [add_leaf(session, 1, 1, place, [4 * place, 4 * place + 1], id=f"part{place}") for place in (0, 1)]
        merged = add_snippet(session, 1, 2, 0, id="merged", kind="merge")
        snippets.absorb(session, [CoreSnippet(part, 1, 4) for part in parts], merged)
        newest = add_leaf(session, 1, 0, 0, [8, 9], id="newest")
        assert placing.last_covered(session, 1, "layered") == 9
        trees.release(session, 1, session.get_one(Snippet, newest))
        assert placing.last_covered(session, 1, "layered") == 5
        trees.release(session, 1, session.get_one(Snippet, merged))
        assert placing.last_covered(session, 1, "layered") is None
        assert placing.last_covered(session, 1, "none") is None


@pytest.mark.parametrize(
    ("covered", "first", "wish", "expected"),
    [
        ([], 4, 0, (0, 0)),
        ([], 4, 2, (2, 0)),
        ([(2, 0, 0)], 4, 0, (0, 0)),
        ([(1, 0, 0)], 4, 2, (1, 1)),
        ([(0, 0, 8)], 4, 2, (2, 0)),
        ([(1, 3, 8)], 4, 0, (1, 3)),
        ([(2, 0, 0), (0, 4, 8)], 4, 1, (1, 0)),
        ([(2, 0, 0), (0, 4, 8)], 4, 5, (2, 1)),
        ([(1, 0, 0), (1, 1, 8)], 4, 0, (1, 1)),
    ],
)
def test_where_a_snippet_belongs(
    db: Database, covered: list[tuple[int, int, int]], first: int, wish: int, expected: tuple[int, int]
) -> None:
    """Between its neighbours' layers, in the wished one if they leave a choice; whoever stands there makes room."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, 1, 12)
        for number, (layer, position, place) in enumerate(covered):
            add_leaf(session, 1, layer, position, [place, place + 1], id=str(number))
        assert placing.place_for(session, 1, "layered", first, first + 1, wish) == expected
        add_leaf(session, 1, *expected, [first, first + 1], id="new")
        starts = starts_of(session)
        assert starts == sorted(starts)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(range(6)), st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_places_keep_the_order(db: Database, order: list[int], wishes: list[int]) -> None:
    """In whatever order snippets come, and whatever layers they would like, reading order is the order of the story."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, 1, 12)
        for turn, wish in zip(order, wishes, strict=True):
            places = [2 * turn, 2 * turn + 1]
            place = placing.place_for(session, 1, "layered", places[0], places[1], wish)
            add_leaf(session, 1, *place, places, id=str(turn))
            starts = starts_of(session)
            assert starts == sorted(starts)
        session.rollback()
