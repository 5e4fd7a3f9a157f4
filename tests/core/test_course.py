"""A backlog that was played through once, against playing what is left of it anew."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.core.batches import Stretch, TurnSize, count_over, foresee_batches
from app.core.course import Course
from app.core.estimate import Play, Terms, estimate
from app.core.settings import LayeredSettings

TERMS = Terms(fold_prompt=300, merge_prompt=320, speaker=4)
SETTINGS = st.builds(
    LayeredSettings,
    verbatim_turns=st.integers(1, 6),
    turns_per_batch=st.integers(1, 4),
    window=st.sampled_from(["strict", "compat"]),
    passage_tokens=st.sampled_from([100, 160, 12_000]),
    snippets_per_layer=st.integers(3, 5),
    snippets_per_promotion=st.just(2),
    max_layers=st.integers(1, 3),
    memory_tokens=st.sampled_from([0, 300]),
)
FOLDS = st.sampled_from([True] * 5 + [False])
TURNS = st.lists(st.tuples(st.integers(0, 90), st.integers(1, 4), FOLDS).map(lambda size: TurnSize(*size)), max_size=60)
PLAIN = LayeredSettings(verbatim_turns=2, turns_per_batch=1, snippets_per_layer=3, snippets_per_promotion=2)


def placed(turns: list[TurnSize]) -> list[TurnSize]:
    """The same turns, of three messages each."""
    return [turn._replace(first=3 * place, last=3 * place + 2) for place, turn in enumerate(turns)]


@given(TURNS, SETTINGS)
def test_what_is_left_is_the_end_of_what_was_foreseen(found: list[TurnSize], settings: LayeredSettings) -> None:
    """Whenever it is asked for while folding goes on, the rest is what a new play from there comes to."""
    turns = placed(found)
    course, play = Course(Stretch(turns), [[94]], settings, TERMS), Play([[94]], settings, TERMS)
    batches = foresee_batches([Stretch(turns)], settings)
    coverable = [turn for turn in turns if turn.coverable]
    for place, batch in enumerate(batches):
        memory = play.layers if place else [[94]]
        rest = course.rest(coverable[0].first, memory, TERMS)
        assert rest == (count_over([Stretch(coverable)], settings), estimate(batches[place:], memory, settings, TERMS))
        assert foresee_batches([Stretch(coverable)], settings) == batches[place:]
        coverable = coverable[batch.turns :]
        play.fold(batch)


def course(turns: int = 30) -> Course:
    return Course(Stretch(placed([TurnSize(200, 6)] * turns)), [], PLAIN, TERMS)


def test_promotions_that_are_due_are_counted() -> None:
    """A fold whose promotion has not been made yet leaves one call more than one whose has."""
    made: list[list[int]] = [[94, 94, 94], [94]]
    settled, due = (course().rest(12, memory, TERMS) for memory in (made, [[94, 94, 94, 94]]))
    assert settled is not None
    assert due is not None
    assert due[1].merges == settled[1].merges
    merging = course().rest(12, [[94, 94, 94, 94], [94]], TERMS)
    assert merging is not None
    assert merging[1].merges == settled[1].merges + 1


def test_a_course_that_was_left_tells_nothing() -> None:
    """Where a fold ended elsewhere, or memory changed before the first one, it must be played anew."""
    assert course().rest(0, [[50]], TERMS) is None
    assert (
        Course(Stretch(placed([TurnSize(9, 1)] * 9)), [], replace(PLAIN, turns_per_batch=3), TERMS).rest(3, [], TERMS)
        is None
    )
    assert course().rest(1, [], TERMS) is None
    assert course().rest(90, [], TERMS) is None


def test_guesses_that_prove_wrong_count_after_some_folds() -> None:
    """Other lines than foreseen are nothing at first; after eight folds they make it be played anew."""
    shorter = replace(TERMS, fold_factor=0.5)
    play = Play([], PLAIN, TERMS)
    memories: list[Any] = [[]]
    for batch in foresee_batches([Stretch(placed([TurnSize(200, 6)] * 30))], PLAIN)[:9]:
        play.fold(batch)
        memories.append(play.layers)
    assert course().rest(3 * 7, memories[7], shorter) is not None
    assert course().rest(3 * 8, memories[8], TERMS) is not None
    assert course().rest(3 * 8, memories[8], shorter) is None
    assert course().rest(3 * 8, [[94]], TERMS) is None
