"""The history of a chat in stretches."""

from itertools import pairwise
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.model import Message, Role, Strategy
from app.core.settings import BufferSettings, ChatSettings, LayeredSettings, RollingSettings
from app.core.strata import Cell, State, Stretch, Under, draw, reopen, runs, state_of, tail_of, whole, window_of
from app.core.turns import outline

_STATES = st.sampled_from(get_args(State))
PIECES = st.lists(st.tuples(st.integers(1, 9), _STATES, st.booleans(), st.integers(0, 3), st.integers(0, 50)))


def laid(sizes: list[tuple[int, State, bool, int, int]]) -> list[Stretch]:
    """Pieces of these sizes, one after the other."""
    found: list[Stretch] = []
    for size, state, skipped, turns, tokens in sizes:
        first = found[-1].last_index + 1 if found else 0
        kept = skipped and state == "visible"
        found.append(Stretch(first, first + size - 1, state, kept, turns, tokens))
    return found


@given(PIECES, st.integers(1, 6))
@settings(max_examples=100)
def test_a_picture_is_whole(sizes: list[tuple[int, State, bool, int, int]], most: int) -> None:
    """No gap, the same sums, never more than wanted; a state is kept where all pieces of a stretch have it."""
    pieces = laid(sizes)
    found = draw(reversed(pieces), most)
    assert len(found) <= most
    assert [stretch.first_index for stretch in found] == [0, *(stretch.last_index + 1 for stretch in found[:-1])][
        : len(found)
    ]
    for name in ("messages", "turns", "tokens"):
        assert sum(getattr(stretch, name) for stretch in found) == sum(getattr(piece, name) for piece in pieces)
    for stretch in found:
        inside = {piece[2:4] for piece in pieces if stretch.first_index <= piece.first_index <= stretch.last_index}
        assert stretch[2:4] == (inside.pop() if len(inside) == 1 else ("mixed", False))


@given(PIECES)
@settings(max_examples=80)
def test_neighbours_of_one_state_are_one(sizes: list[tuple[int, State, bool, int, int]]) -> None:
    """With room for all, no two neighbours are alike unless they are mixed, and nothing becomes mixed."""
    pieces = laid(sizes)
    found = draw(pieces)
    assert all(one.state == "mixed" or one[2:4] != other[2:4] for one, other in pairwise(found))
    assert {stretch.state for stretch in found} == {piece.state for piece in pieces}


def test_the_shortest_are_joined_first() -> None:
    """A long stretch keeps its state while the short ones around it are joined."""
    short: list[tuple[int, State, bool, int, int]] = [(1, "visible", False, 0, 1), (1, "hidden", False, 0, 1)] * 20
    found = draw(laid([*short, (900, "ghosted", False, 0, 1), *short]), 9)
    assert [stretch.messages for stretch in found if stretch.state == "ghosted"] == [900]
    assert len(found) == 9


def test_half_of_a_long_chat_is_hidden() -> None:
    """Every other one of ten thousand messages is hidden: 500 stretches, none much longer than the others."""
    found = draw([Stretch(n, n, "hidden" if n % 2 else "ghosted", tokens=1) for n in range(10_000)])
    assert len(found) == 500
    assert max(stretch.messages for stretch in found) <= 32


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=6))
@settings(max_examples=100)
def test_a_cell(marks: list[tuple[bool, bool, bool, bool]]) -> None:
    """Messages counted together are in a state exactly if each of them is; else they are mixed."""
    kinds = []
    for ghosted, hidden, omitted, skipped in marks:
        state = state_of(ghosted=ghosted, hidden=hidden, omitted=omitted)
        kinds.append((state, skipped and state == "visible"))
    states = [state for state, _ in kinds]
    cell = Cell(
        *(7, len(kinds), states.count("ghosted"), states.count("hidden"), states.count("omitted")),
        *(sum(skipped for _, skipped in kinds), 2, 30, 0),
    )
    assert cell.stretch[2:4] == (kinds[0] if len(set(kinds)) == 1 else ("mixed", False))
    assert (cell.stretch.first_index, cell.stretch.messages, cell.stretch.turns, cell.stretch.tokens) == (
        7,
        len(kinds),
        2,
        30,
    )


def test_what_snippets_cover() -> None:
    """Neighbours are one, whatever the order; what is torn is left out."""
    covered = [Under(2, 6, 9, 4, 2, 40), Under(1, 0, 5, 6, 3, 60), Under(3, 10, 14, 4, 2, 9), Under(4, 20, 20, 1, 1, 5)]
    assert list(whole(covered)) == [Stretch(0, 9, "ghosted", False, 5, 100), Stretch(20, 20, "ghosted", False, 1, 5)]
    assert [under.torn for under in covered] == [False, False, True, False]
    assert list(runs([])) == []


def test_a_reply_that_ends_no_turn() -> None:
    """It is taken from the turns of the stretch it stands in."""
    found = reopen([Stretch(0, 4, "ghosted", turns=2), Stretch(5, 6, "visible", turns=1)], [6])
    assert [stretch.turns for stretch in found] == [2, 0]


def chat(turns: int, first: int = 0, *, skipped: bool = False) -> list[Message]:
    """Turns of two messages of 10 tokens."""
    roles = (Role.USER, Role.ASSISTANT)
    return [Message(n + 1, n, roles[n % 2], 10, skipped=skipped) for n in range(first, first + 2 * turns)]


def test_windows() -> None:
    """Each strategy has its own newest turns that do not fold; without memory nothing ever does."""
    chosen = ChatSettings(
        layered=LayeredSettings(verbatim_turns=3),
        rolling=RollingSettings(keep_recent_turns=2),
        summary_buffer=BufferSettings(recent_messages_to_keep=7),
    )
    tail = outline(chat(9), 18)
    starts = {}
    for strategy in Strategy:
        turns = window_of(tail, strategy, chosen)
        starts[strategy] = (len(turns), turns[0].messages[0].index if turns else None)
    assert starts == {"layered": (3, 12), "rolling": (2, 14), "summary_buffer": (4, 10), "none": (0, None)}


def test_windows_of_short_chats() -> None:
    """A window holds no more turns than there are, and a hot window of none holds none."""
    assert len(window_of(outline(chat(2), 4), "layered", ChatSettings())) == 2
    none = ChatSettings(rolling=RollingSettings(keep_recent_turns=0))
    assert not window_of(outline(chat(2), 4), "rolling", none)
    assert not window_of(outline(chat(4, skipped=True), 8), "layered", ChatSettings())


def test_the_tail() -> None:
    """It is what stands behind the newest covered message: nothing where that is the last."""
    assert [message.index for message in tail_of([*chat(1), *chat(1, first=6)], 8)] == [6, 7]
    assert tail_of(chat(2), 6) == []
    assert len(tail_of(chat(2), 4)) == 4
    assert tail_of([], 0) == []
