"""The marker test, small: a model that reads honestly, over real HTTP, and what became of each fact it was told.

`python -m bench markers` plays 3,000 turns; docs/benchmarks.md has its figures.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.markers.plays import PLAYS, Played, stage
from bench.markers.story import story
from tests.support.checks import assert_promises
from tests.support.parts import counter

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

TURNS = 90
LATENCY_S = 0.15
LAYERS = {"snippets_per_layer": 4, "snippets_per_promotion": 2}
ALL_PLAYS = pytest.mark.parametrize("number", range(len(PLAYS)), ids=[play.name for play in PLAYS])


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("markers") / "turnfold.db"


@pytest.fixture(scope="module")
def played(database: Path) -> Iterator[list[Played]]:
    told = story(TURNS)
    with stage(database, counter(), LAYERS, LATENCY_S) as scene:
        yield [scene.play(play, told) for play in PLAYS]


@ALL_PLAYS
def test_every_message_is_in_one_place(played: list[Played], database: Path, number: int) -> None:
    """Each message is visible or under exactly one live snippet, and each fact stands in the messages that tell it."""
    one = played[number]
    assert list(one.found.holes()) == []
    assert one.found.status["backlog"]["batches"] == 0
    assert_promises(database, one.chat)


@ALL_PLAYS
def test_only_the_model_loses_facts(played: list[Played], number: int) -> None:
    """Every snippet is what the model said of what lies under it, and what no prompt holds the model itself dropped."""
    found = played[number].found
    assert max(found.layers) >= 3
    assert len(found.missing) > len(found.story.told) // 10
    assert list(found.unexplained()) == []


@ALL_PLAYS
def test_what_the_model_dropped_is_found_by_search(played: list[Played], number: int) -> None:
    """The search for a fact that is in no prompt any more leads to a message that tells it."""
    assert played[number].not_found == []


def test_several_calls_at_once_lose_little_more(played: list[Played]) -> None:
    """With 16 calls at once, which see raw turns in place of snippets, a prompt holds nine tenths of what it held."""
    one, many = played[0], played[1]
    assert many.most_open > one.most_open == 1
    assert len(many.found.prompted) >= 0.9 * len(one.found.prompted)


def test_an_outage_leaves_no_trace(played: list[Played]) -> None:
    """What piled up while the model was away becomes the very memory that it would have become without."""
    straight, interrupted = (
        [(snippet["layer"], snippet["text"]) for snippet in one.found.live] for one in (played[0], played[2])
    )
    assert straight == interrupted


@pytest.mark.parametrize("number", [2, 3])
def test_an_outage_is_borne(played: list[Played], number: int) -> None:
    """A model that is away is left alone after a few calls, and its turns wait in the prompt."""
    outage = played[number].outage
    assert outage is not None
    assert outage.waiting >= TURNS // 3
    assert outage.state in ("cooling_down", "failing")
    assert 3 <= outage.refused < outage.waiting
