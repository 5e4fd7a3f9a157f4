"""What a run does about a step that failed for good."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.core.folding import Fold
from app.core.healing import Remake
from app.core.model import Turn
from app.core.promotion import Merge
from app.errors import ModelError, ModelRejected, ModelUnavailable, ModelUnusable
from app.services.failure import CREDIT, REFUSALS, Circumstances, Failure, batch_of, both, react, refusals
from tests.support.builders import chat, layers, reply, user

FOLD = Fold((Turn(tuple(chat(user(), reply()))),))
MERGE = Merge(tuple(layers(2)), 1)
REMAKE = Remake(layers(1)[0])
ONCE = Circumstances(times=1, credit=CREDIT, wide=False, aside=False, waits=False)
REFUSED = ModelUnusable("It rambled.", connection="default", calls=6)
AWAY = ModelUnavailable("It is away.", connection="default", calls=6)
RESTING = ModelUnavailable("It rests.", connection="default", retry_at=datetime(2026, 1, 1, tzinfo=UTC))
WRONG_KEY = ModelRejected("Wrong key.", connection="default", status=401, calls=1)


@pytest.mark.parametrize("error", [REFUSED, ModelRejected("No.", connection="default", status=400)])
def test_a_refusal(error: ModelError) -> None:
    """It is tried again where the model is known to accept things, else the job ends; the third time it is left."""
    assert react(error, FOLD, ONCE) == "again"
    assert react(error, FOLD, replace(ONCE, credit=0)) == "end"
    assert react(error, MERGE, replace(ONCE, credit=0, aside=True)) == "leave"
    third = replace(ONCE, times=REFUSALS, credit=0)
    assert react(error, FOLD, third) == "leave"
    assert react(error, FOLD, replace(third, waits=True)) == "skip"
    assert react(error, MERGE, replace(third, waits=True)) == "leave"


@pytest.mark.parametrize(("error", "beside"), [(AWAY, "leave"), (RESTING, "end"), (WRONG_KEY, "end")])
def test_an_outage(error: ModelError, beside: str) -> None:
    """One call at a time, any ends the job; beside others, only what these would meet too."""
    assert react(error, FOLD, ONCE) == "end"
    assert react(error, FOLD, replace(ONCE, wide=True)) == beside
    assert react(error, MERGE, replace(ONCE, aside=True)) == "leave"
    assert react(error, MERGE, ONCE) == "end"


def test_making_anew_ends_the_job() -> None:
    """Healing comes last and counts its own failures."""
    assert react(AWAY, REMAKE, replace(ONCE, wide=True)) == react(REFUSED, REMAKE, ONCE) == "end"


def test_a_connection_and_its_stand_in() -> None:
    """Both are named and counted; what passes by itself is not made to wait for a person."""
    found = both(_copy(AWAY), _copy(WRONG_KEY))
    assert (type(found), found.calls) == (ModelUnavailable, 7)
    assert found.detail == "It is away. Wrong key."
    assert type(both(_copy(WRONG_KEY), _copy(AWAY))) is ModelUnavailable
    assert type(both(_copy(REFUSED), _copy(AWAY))) is ModelUnusable
    assert type(both(_copy(WRONG_KEY), _copy(WRONG_KEY))) is ModelRejected


def test_refusals_are_counted_by_batch() -> None:
    """What is stored of a failure says how often which batch was refused."""
    stored = Failure.of(REFUSED, None, batch_of(FOLD)).report({batch_of(FOLD): 2})
    assert refusals(stored, batch_of(FOLD)) == 2
    assert refusals(stored, batch_of(MERGE)) == 0
    assert refusals(Failure.of(AWAY, None, batch_of(FOLD)).report(), batch_of(FOLD)) == 0
    assert refusals(None, batch_of(FOLD)) == 0


def _copy(error: ModelError) -> ModelError:
    """Another one like it: errors are changed on their way up."""
    return type(error)(
        error.detail, connection=error.connection, status=error.status, retry_at=error.retry_at, calls=error.calls
    )
