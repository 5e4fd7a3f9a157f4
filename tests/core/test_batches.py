"""The batches that are foreseen, against folding itself, fold by fold."""

from hypothesis import given
from hypothesis import strategies as st

from app.core.batches import Stretch, TurnSize, count_over, foresee_batches, sizes_of
from app.core.folding import DRAIN, FORCE, Mode, count_backlog, plan_fold
from app.core.model import Message, Outline, Role
from app.core.settings import LayeredSettings
from app.core.turns import outline

Said = tuple[Role, int, str]

FLAGS = st.sampled_from(["", "", "", "", "", "", "pinned", "hidden", "skipped", "covered", "blank"])
ROLES = st.sampled_from([Role.USER, Role.ASSISTANT, Role.ASSISTANT])
HISTORIES = st.lists(st.tuples(ROLES, st.integers(0, 90), FLAGS), max_size=60)
SETTINGS = st.builds(
    LayeredSettings,
    verbatim_turns=st.integers(1, 6),
    turns_per_batch=st.integers(1, 4),
    window=st.sampled_from(["strict", "compat"]),
    passage_tokens=st.sampled_from([100, 160, 12_000]),
    verbatim_tokens=st.sampled_from([0, 0, 60]),
)


def _stored(history: list[Said]) -> tuple[list[Message], set[int]]:
    """The messages of a history, and the keys of those that are covered."""
    messages = [
        Message(
            key,
            key,
            role,
            tokens,
            blank=flag == "blank",
            hidden=flag == "hidden",
            pinned=flag == "pinned",
            skipped=flag == "skipped",
        )
        for key, (role, tokens, flag) in enumerate(history)
    ]
    return messages, {key for key, (_, _, flag) in enumerate(history) if flag == "covered"}


def _view(messages: list[Message], covered: set[int]) -> Outline:
    return outline([message for message in messages if message.key not in covered], len(messages))


def _folded(messages: list[Message], covered: set[int], settings: LayeredSettings, mode: Mode) -> list[tuple[int, int]]:
    """Fold until no fold is planned any more; turns and tokens of each fold."""
    found = []
    while plan := plan_fold(_view(messages, covered), settings, mode):
        covered = covered | {message.key for message in plan.covers}
        tokens = sum(turn.tokens for turn in plan.turns)
        found.append((len(plan.turns), min(tokens, settings.passage_tokens)))
    return found


@given(HISTORIES, SETTINGS, st.sampled_from([DRAIN, FORCE]))
def test_the_batches_foreseen_are_those_that_fold(history: list[Said], settings: LayeredSettings, mode: Mode) -> None:
    """Whatever is pinned, hidden, skipped, covered or too long, folding takes the batches that were foreseen."""
    messages, covered = _stored(history)
    stretches = sizes_of(_view(messages, covered))
    assert count_over(stretches, settings) == count_backlog(_view(messages, covered), settings).turns
    foreseen = foresee_batches(stretches, settings, partial=mode.partial)
    assert [(batch.turns, batch.tokens) for batch in foreseen] == _folded(messages, covered, settings, mode)


def test_a_passage_that_is_too_long_makes_more_batches() -> None:
    """Four turns of 60 tokens make two batches where a passage holds 120."""
    turns = [TurnSize(60, 2)] * 14
    settings = LayeredSettings(turns_per_batch=4, passage_tokens=120)
    assert [batch.turns for batch in foresee_batches([Stretch(turns)], settings)] == [2]
    assert [batch.turns for batch in foresee_batches([Stretch(turns)], settings, partial=True)] == [2, 2]


def test_turns_before_covered_ones_are_late() -> None:
    """They enter at the layer of what follows them, and nothing precedes the oldest of them."""
    skipped = Stretch([TurnSize(10, 2)] * 5, followed=True, layer=2)
    newest = Stretch([TurnSize(10, 2)] * 13, preceded=True)
    batches = foresee_batches([skipped, newest], LayeredSettings())
    assert [(batch.turns, batch.late, batch.first, batch.layer) for batch in batches] == [
        (3, True, True, 2),
        (2, True, True, 2),
        (3, False, False, 0),
    ]
