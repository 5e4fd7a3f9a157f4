"""app.services.locating: which messages of a chat a memory speaks of."""

import pytest

from app.core.adoption import NOT_TAKEN, Claim
from app.core.model import Role
from app.formats.parsed import ParsedMemory, ParsedMessage, ParsedSnippet
from app.services.locating import Layout, Whereabouts, claims_of


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ((0, 4), (0, 2)),
        ((2, 2), (1, 1)),
        ((1, 3), (1, 1)),
        ((3, 3), (2, 1)),
        ((-2, 0), (-2, 0)),
        ((-3, -2), (-3, -2)),
        ((4, 6), (2, 4)),
        ((5, 9), (3, 7)),
    ],
)
def test_places_of_a_file_become_indices(span: tuple[int, int], expected: tuple[int, int]) -> None:
    """Lines that could not be read take no index: of the file's 0 to 4 only 0, 2 and 4 are in the chat. What lies
    beyond either end stays as far beyond it.
    """
    assert Whereabouts([0, 2, 4]).span(*span) == expected


def test_an_empty_chat_has_no_place() -> None:
    """Everything lies beyond its end."""
    assert Whereabouts([]).span(0, 3) == (0, 3)
    assert Whereabouts([]).span(-1, -1) == (-1, -1)


@pytest.mark.parametrize(
    ("through", "ghost", "ends"),
    [(3, 2, [1, 2]), (4, None, [2]), (5, 1, [1]), (None, 2, [2]), (None, None, []), (0, 7, [0])],
)
def test_hints_at_the_end(through: int | None, ghost: int | None, ends: list[int]) -> None:
    """The file's pointer, then its newest ghost; what points beyond the chat is stale."""
    memory = ParsedMemory(summarized_through=through)
    assert Whereabouts([0, 2, 4], newest_ghost=ghost).ends(memory) == ends


def claimed(where: Whereabouts, *snippets: ParsedSnippet) -> tuple[list[tuple[int, Claim]], list[tuple[int, str]]]:
    claims, repairs = claims_of(ParsedMemory(snippets), where)
    return claims, [(repair.number, repair.code) for repair in repairs]


def named(*names: str, range: tuple[int, int] | None = None) -> ParsedSnippet:
    return ParsedSnippet("x", 0, 0, range, names)


WHERE = Whereabouts([0, 1, 2, 3], {"a": 0, "b": 2, "c": 3})


@pytest.mark.parametrize(
    ("snippet", "range", "repairs"),
    [
        (named("b", "a"), (0, 2), []),
        (named("a", "b", range=(1, 3)), (0, 2), []),
        (named("b", "gone", "c"), (2, 3), ["messages_missing"]),
        (named(range=(1, 3)), (1, 3), []),
        (named(range=(3, 1)), (1, 3), ["range_reversed"]),
        (named(), None, []),
    ],
)
def test_names_say_more_than_places(snippet: ParsedSnippet, range: tuple[int, int] | None, repairs: list[str]) -> None:
    """Ids decide where they are known; a range that is written backwards is turned."""
    claims, told = claimed(WHERE, snippet)
    assert [claim.range for _, claim in claims] == [range]
    assert [code for _, code in told] == repairs


def test_a_snippet_of_messages_that_are_gone_is_reported() -> None:
    """Where the memory's ids are known at all, a range of indices does not stand in for ids that are not."""
    claims, told = claimed(WHERE, named("a"), named("gone", range=(1, 2)), named("gone"))
    assert [number for number, _ in claims] == [0]
    assert told == [(1, NOT_TAKEN), (2, NOT_TAKEN)]


def test_without_any_known_id_ranges_decide() -> None:
    """A file that lost its ids still has its places; a snippet with nothing but lost ids is reported."""
    claims, told = claimed(Whereabouts([0, 1, 2, 3]), named("gone", range=(1, 2)), named("gone"))
    assert [(number, claim.range) for number, claim in claims] == [(0, (1, 2))]
    assert told == [(1, NOT_TAKEN)]


def test_a_snippet_of_lines_that_could_not_be_read_is_reported() -> None:
    """Its range lies between two messages of the chat."""
    claims, told = claimed(Whereabouts([0, 3]), named(range=(1, 2)))
    assert (claims, told) == ([], [(0, NOT_TAKEN)])


def said(**what: object) -> ParsedMessage:
    return ParsedMessage(**{"role": Role.ASSISTANT, "content": "x", **what})  # type: ignore[arg-type]  # named in tests


def laid(memory: ParsedMemory | None, *messages: ParsedMessage) -> Layout:
    layout = Layout(memory)
    for message in messages:
        layout.add(message)
    return layout


def test_marks_decide_who_is_a_ghost() -> None:
    """Where messages bear the extension's mark, its lists are not believed: they go stale with every deletion."""
    memory = ParsedMemory(ghosted=frozenset({1, 2}), ghosted_ids=frozenset({"c"}))
    layout = laid(memory, said(ghosted=True), said(hidden=True), said(), said(mark="c"))
    assert (list(layout.ghosted), layout.whereabouts.newest_ghost) == ([1, 0, 0, 0], 0)


def test_lists_decide_where_no_message_bears_a_mark() -> None:
    """Older files have only lists, by place or by id. A comment was never sent, so nothing stands for it."""
    memory = ParsedMemory(ghosted=frozenset({0, 5}), ghosted_ids=frozenset({"c", "d"}))
    lines = [said(hidden=True), said(role=Role.SYSTEM, hidden=True, file_index=5), said(mark="c"), said(id="d"), said()]
    layout = laid(memory, *lines)
    assert (list(layout.ghosted), layout.whereabouts.newest_ghost) == ([1, 0, 1, 1, 0], 3)


def test_only_names_that_a_memory_uses_are_held() -> None:
    """A long chat's ids take no memory; of two messages with one name the first is meant."""
    memory = ParsedMemory((named("b", "gone"),))
    layout = laid(memory, said(mark="a"), said(mark="b"), said(id="b"))
    assert layout.whereabouts.named == {"b": 1}
    assert list(layout.whereabouts.file_indices) == [0, 1, 2]


def test_without_memory_there_are_ghosts_all_the_same() -> None:
    """They are to be told of."""
    layout = laid(None, said(), said(ghosted=True))
    assert list(layout.ghosted) == [0, 1]
