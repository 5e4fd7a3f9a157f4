"""app.core.alignment: which stored message is which of a frontend's whole history."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.alignment import Alignment, Said, align
from tests.support.subsequences import ascending, lengths, slow_common


def _aligned(stored: Sequence[Said], sent: Sequence[Said]) -> Alignment:
    found = align(stored, sent, slow_common)
    kept = list(range(len(stored)))
    assert found.appends == ([old for old, _ in found.pairs] == kept == [new for _, new in found.pairs])
    return found


def _history(script: str, *, ids: bool = True, names: str = "") -> list[Said]:
    """A message for each word, `u:hello` or `a:hello`, with ids m0, m1, …; `names` has one letter for each, or -."""
    roles = {"u": "user", "a": "assistant", "s": "system"}
    parts = [word.split(":") for word in script.split()]
    bearers = [None if name == "-" else name for name in names] or [None] * len(parts)
    return [
        Said(f"m{place}" if ids else None, roles[role], name, text)
        for place, ((role, text), name) in enumerate(zip(parts, bearers, strict=True))
    ]


# Examples


def test_ids_come_before_contents() -> None:
    """A message whose id is known is that message, whatever it says and whoever else says what it said."""
    stored = _history("u:one a:two u:three")
    sent = [replace(stored[0], text="three"), stored[1], replace(stored[2], text="one")]
    assert _aligned(stored, sent) == Alignment(((0, 0), (1, 1), (2, 2)), (), ())


def test_moved_message() -> None:
    """A message that moved is a deletion and an insertion; the others stay."""
    stored = _history("u:one a:two u:three a:four")
    sent = [stored[3], stored[0], stored[1], stored[2]]
    assert _aligned(stored, sent) == Alignment(((0, 1), (1, 2), (2, 3)), (3,), (0,))


def test_nothing_is_taken_for_a_moved_message() -> None:
    """Neither is a new message with its text the moved one, nor does the moved one become another's edit."""
    stored = _history("u:one u:two u:three")
    sent = [stored[2], stored[0], stored[1], Said("new", "user", None, "three")]
    assert _aligned(stored, sent) == Alignment(((0, 1), (1, 2)), (2,), (0, 3))


def test_unknown_ids_do_not_matter() -> None:
    """Messages are recognized by what they say when the frontend's ids are new to us."""
    stored = _history("u:one a:two u:three a:four")
    sent = [replace(message, id=f"new {message.id}") for message in (stored[0], stored[1], stored[3])]
    assert _aligned(stored, sent) == Alignment(((0, 0), (1, 1), (3, 2)), (2,), ())


def test_claimed_messages_are_not_aligned() -> None:
    """A message without an id is not one that another message names by its id."""
    stored = _history("u:hm u:hm")
    sent = [Said(None, "user", None, "hm"), stored[0], Said(None, "user", None, "hm")]
    assert _aligned(stored, sent) == Alignment(((0, 1), (1, 2)), (), (0,))


def test_same_text_across_a_match() -> None:
    """What stands on two sides of a match is neither the same nor an edit, even where it is equal."""
    stored = _history("u:hello a:two")
    sent = [stored[1], Said(None, "user", None, "hello")]
    assert _aligned(stored, sent) == Alignment(((1, 0),), (0,), (1,))


@pytest.mark.parametrize(
    ("stored", "sent", "pairs"),
    [
        ("u:one a:two", "u:one a:2", [(0, 0), (1, 1)]),
        ("u:a a:b u:c", "u:x a:y u:z", [(0, 0), (1, 1), (2, 2)]),
        ("u:old", "a:new u:new a:newer u:newer", [(0, 1)]),
        ("a:o u:old a:older u:oldest", "u:new", [(1, 0)]),
        ("u:a a:b a:c u:d", "u:x a:y u:z", [(0, 0), (1, 1), (3, 2)]),
        ("s:a", "u:a", []),
    ],
)
def test_edits(stored: str, sent: str, pairs: list[tuple[int, int]]) -> None:
    """What is left between two matches is paired by role, in order, the first with the first."""
    assert list(_aligned(_history(stored), _history(sent, ids=False)).pairs) == pairs


def test_edits_do_not_cross() -> None:
    """Where a question and an answer come as an answer and a question, one of them is an edit."""
    assert len(_aligned(_history("u:a a:b"), _history("a:x u:y", ids=False)).pairs) == 1


def test_little_is_searched() -> None:
    """What agrees at both ends, and what one side alone says, costs no search."""
    searched = []

    def common(a: Sequence[int], b: Sequence[int]) -> list[tuple[int, int]]:
        searched.append((len(a), len(b)))
        return slow_common(a, b)

    stored, sent = _history("u:1 u:2 u:3 u:4 u:5 u:6"), _history("u:1 u:new u:4 u:other u:2 u:6", ids=False)
    assert len(align(stored, sent, common).pairs) == 5
    assert searched == [(2, 2)]


# Names


def test_names_tell_apart() -> None:
    """The same words of somebody else are somebody else's."""
    stored = _history("a:yes a:no a:yes", names="ABB")
    sent = _history("a:yes a:well", ids=False, names="BA")
    assert _aligned(stored, sent) == Alignment(((2, 0),), (0, 1), (1,))


def test_frontend_without_names() -> None:
    """A frontend that sends no names has the same history."""
    stored = _history("u:one a:… a:… a:… u:two", names="UA-BU")
    assert _aligned(stored, _history("u:one a:… a:… u:two", ids=False)).pairs == ((0, 0), (1, 1), (2, 2), (4, 3))


def test_frontend_with_some_names() -> None:
    """A missing name may be any name; a name is only itself, and another one is at most an edit."""
    stored = _history("u:one a:two a:two u:three", names="UABU")
    sent = _history("u:one a:new a:two u:three", ids=False, names="-CB-")
    assert _aligned(stored, sent) == Alignment(((0, 0), (1, 1), (2, 2), (3, 3)), (), ())
    sent = _history("u:one a:two u:three", ids=False, names="-B-")
    assert _aligned(stored, sent) == Alignment(((0, 0), (2, 1), (3, 2)), (1,), ())


# Promises

names = st.sampled_from([None, "Ann", "Bob"])
speeches = st.tuples(st.sampled_from(["user", "assistant"]), names, st.sampled_from("xyz"))


@st.composite
def histories(draw: st.DrawFn, least: int = 0) -> list[Said]:
    """Stored messages, with much said twice."""
    said = draw(st.lists(speeches, min_size=least, max_size=9))
    return [Said(f"m{place}", *speech) for place, speech in enumerate(said)]


@st.composite
def pairs_of_histories(draw: st.DrawFn) -> tuple[list[Said], list[Said]]:
    """A stored history and any other: with known ids, in any order, with new ids and without."""
    stored = draw(histories())
    ids = draw(st.lists(st.sampled_from([message.id for message in stored]), unique=True)) if stored else []
    others = draw(st.lists(st.booleans(), max_size=6))
    all_ids = draw(st.permutations([*ids, *(f"n{n}" if new else None for n, new in enumerate(others))]))
    sent = [Said(one, *draw(speeches)) for one in (all_ids if draw(st.booleans()) else sorted(all_ids, key=str))]
    return stored, sent


@given(pairs_of_histories())
def test_every_message_has_one_place(both: tuple[list[Said], list[Said]]) -> None:
    """Pairs ascend on both sides, and every message is in a pair, deleted or inserted."""
    stored, sent = both
    found = _aligned(stored, sent)
    old, new = [i for i, _ in found.pairs], [j for _, j in found.pairs]
    assert ascending(old)
    assert ascending(new)
    assert ascending(found.deleted)
    assert ascending(found.inserted)
    assert sorted([*old, *found.deleted]) == list(range(len(stored)))
    assert sorted([*new, *found.inserted]) == list(range(len(sent)))


@given(pairs_of_histories())
def test_ids_are_honoured(both: tuple[list[Said], list[Said]]) -> None:
    """A message with a known id is paired with its own or with nothing, and as many as possible with their own."""
    stored, sent = both
    found, known = _aligned(stored, sent), _known(stored, sent)
    involved = [(i, j) for i, j in found.pairs if any(i == old or j == new for old, new in known)]
    assert set(involved) <= set(known)
    assert len(involved) == max(size for size in range(len(known) + 1) if _has_rising(known, size))


@given(histories(), st.data())
def test_ids_in_order_are_all_paired(stored: list[Said], data: st.DataObject) -> None:
    """Where no message moved, every known id is paired, whatever was rewritten, added and taken away around it."""
    kept = data.draw(st.lists(st.sampled_from(range(len(stored))), unique=True).map(sorted)) if stored else []
    sent = [Said(stored[place].id, *data.draw(speeches)) for place in kept]
    for _ in range(data.draw(st.integers(0, 4))):
        sent.insert(data.draw(st.integers(0, len(sent))), Said(None, *data.draw(speeches)))
    assert set(_known(stored, sent)) <= set(_aligned(stored, sent).pairs)


@settings(max_examples=150)
@given(pairs_of_histories())
def test_rules_one_after_the_other(both: tuple[list[Said], list[Said]]) -> None:
    """Each rule matches as many as it can between what the rules before it matched."""
    stored, sent = both
    found, known = _aligned(stored, sent), _known(stored, sent)
    fixed = [pair for pair in found.pairs if pair in known]
    old = [place for place in range(len(stored)) if place not in {i for i, _ in known}]
    new = [place for place in range(len(sent)) if place not in {j for _, j in known}]
    for same in _slow_rules(stored, sent):
        matched = [pair for pair in found.pairs if pair not in fixed and same(*pair)]
        assert len(matched) == sum(lengths(left, right, same)[0][0] for left, right in _between(fixed, old, new))
        fixed = sorted([*fixed, *matched])
        old = [place for place in old if place not in {i for i, _ in fixed}]
        new = [place for place in new if place not in {j for _, j in fixed}]
    assert fixed == list(found.pairs)


@given(histories(), st.booleans(), st.booleans(), st.data())
def test_same_history(stored: list[Said], fresh: bool, named: bool, data: st.DataObject) -> None:
    """The same history again is the same, with known ids, new ones, none or a mixture, with names or without."""
    ids = [data.draw(st.sampled_from([message.id, f"new {message.id}" if fresh else None])) for message in stored]
    sent = [replace(m, id=one, name=m.name if named else None) for m, one in zip(stored, ids, strict=True)]
    assert _aligned(stored, sent) == Alignment(tuple((n, n) for n in range(len(stored))), (), ())


@given(histories(least=1), st.booleans(), st.data())
def test_one_deletion(stored: list[Said], fresh: bool, data: st.DataObject) -> None:
    """A history without one of its messages lacks that one, or with new ids one that cannot be told from it."""
    gone = data.draw(st.integers(0, len(stored) - 1))
    sent = [_renamed(message, fresh) for message in stored[:gone] + stored[gone + 1 :]]
    found, of = _aligned(stored, sent), _speech if any(message.name for message in sent) else _words
    assert found.inserted == ()
    assert [of(stored[place]) for place in found.deleted] == [of(stored[gone])]
    assert all(of(stored[i]) == of(sent[j]) for i, j in found.pairs)
    assert fresh or found.deleted == (gone,)


@given(histories(), speeches, st.booleans(), st.data())
def test_one_insertion(
    stored: list[Said], speech: tuple[str, str | None, str], fresh: bool, data: st.DataObject
) -> None:
    """A history with one more message has that one more."""
    at = data.draw(st.integers(0, len(stored)))
    sent = [_renamed(message, fresh) for message in stored]
    sent.insert(at, Said(None, *speech))
    found = _aligned(stored, sent)
    assert found.deleted == ()
    assert [_speech(sent[place]) for place in found.inserted] == [speech]
    assert fresh or found.inserted == (at,)


@given(histories(least=1), st.booleans(), st.data())
def test_one_edit(stored: list[Said], fresh: bool, data: st.DataObject) -> None:
    """A history with one message rewritten is the same history, and that message is the one that differs."""
    at = data.draw(st.integers(0, len(stored) - 1))
    sent = [_renamed(message, fresh) for message in stored]
    sent[at] = replace(sent[at], text="new")
    assert _aligned(stored, sent).pairs == tuple((n, n) for n in range(len(stored)))


# What the promises are measured by


def _renamed(message: Said, fresh: bool) -> Said:
    return replace(message, id=f"new {message.id}") if fresh else message


def _speech(message: Said) -> tuple[str, str | None, Hashable]:
    return message.role, message.name, message.text


def _words(message: Said) -> tuple[str, Hashable]:
    return message.role, message.text


def _known(stored: Sequence[Said], sent: Sequence[Said]) -> list[tuple[int, int]]:
    return [(i, j) for j, new in enumerate(sent) for i, old in enumerate(stored) if old.id == new.id]


def _has_rising(pairs: Sequence[tuple[int, int]], size: int) -> bool:
    return any(ascending(i for i, _ in some) for some in combinations(pairs, size))


def _slow_rules(stored: Sequence[Said], sent: Sequence[Said]) -> list[Callable[[int, int], bool]]:
    """The rules in their order, as the contract words them: are these two the same?"""

    def speech(i: int, j: int) -> bool:
        return _speech(stored[i]) == _speech(sent[j])

    def words(i: int, j: int) -> bool:
        return sent[j].name is None and _words(stored[i]) == _words(sent[j])

    def role(i: int, j: int) -> bool:
        return stored[i].role == sent[j].role

    return [speech, words, role] if any(message.name for message in sent) else [words, role]


def _between(
    pairs: Sequence[tuple[int, int]], old: Sequence[int], new: Sequence[int]
) -> Iterator[tuple[list[int], list[int]]]:
    for (i, j), (i_end, j_end) in pairwise([(-1, -1), *pairs, (1000, 1000)]):
        yield [place for place in old if i < place < i_end], [place for place in new if j < place < j_end]
