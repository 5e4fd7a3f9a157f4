"""The marker test's own parts: a story, a reader, and a survey that notices what goes wrong."""

from typing import Any

import pytest

from bench.markers.reader import NOTHING_NEW, Reader
from bench.markers.story import fact, facts_in, name, story
from bench.markers.survey import Survey


def words(text: str) -> int:
    return len(text.split())


def prompt(prior: str, given: str, limit: int = 100, tag: str = "passage") -> str:
    return f"<prior_context>\n{prior}\n</prior_context>\n<{tag}>\n{given}\n</{tag}>\nOne line, at most {limit} tokens."


def test_a_story_tells_each_fact_where_it_says() -> None:
    """Every turn tells one or two new facts, numbered as they come up, and some turns tell an old one again."""
    told = story(300)
    found = [facts_in(" ".join(said)) for said in told.turns]
    first = [min(turns) for _, turns in sorted(told.told.items())]
    assert first == sorted(first)
    assert {first.count(turn) for turn in range(300)} == {1, 2}
    assert all(number in found[turn] for number, turns in told.told.items() for turn in turns)
    assert sum(len(facts) for facts in found) == sum(len(turns) for turns in told.told.values())
    assert 50 < sum(len(turns) > 1 for turns in told.told.values()) < 100
    assert told == story(300)


def test_no_two_facts_share_a_name() -> None:
    """A name leads to one fact."""
    assert len({name(number) for number in range(1, 20_000)}) == 19_999
    assert all(name(number) in fact(number) for number in (1, 77, 4_000))


def test_a_reader_writes_what_is_new() -> None:
    """What the prior context says is left out, and noted as known."""
    reader = Reader(words)
    assert reader.answer(prompt(fact(1), f"Mira: {fact(1)}. Then {fact(2)}. {fact(3)}.")) == f"{fact(2)}; {fact(3)}"
    [reading] = reader.log
    assert reading.given == {1, 2, 3}
    assert reading.known == {1}
    assert not reading.dropped
    assert not reading.merges


def test_a_reader_drops_what_matters_least() -> None:
    """Where not all fits, the facts that divide by the higher powers of two stay, whatever their order."""
    reader = Reader(words)
    told = " ".join(f"{fact(number)}." for number in (4, 5, 6, 7))
    assert facts_in(reader.answer(prompt("(none yet)", told, limit=2 * words(fact(4)), tag="memory_lines"))) == {
        4: fact(4),
        6: fact(6),
    }
    assert reader.log[0].dropped == {5, 7}
    assert reader.log[0].merges


def test_a_reader_says_when_nothing_is_new() -> None:
    """A passage that adds nothing gets a phrase."""
    assert Reader(words).answer(prompt(fact(1), f"Mira: {fact(1)}.")) == NOTHING_NEW


def test_a_reader_refuses_other_prompts() -> None:
    """A prompt it cannot read is an error, not an empty answer."""
    with pytest.raises(ValueError, match="no prompt of ours"):
        Reader(words).answer("Answer again, shorter.")


def surveyed(text: str, *, ghosted: tuple[bool, ...] = (True, True), under: list[str] | None = None) -> Survey:
    """A chat of one turn under one snippet."""
    told, reader = story(1), Reader(words)
    reader.answer(prompt("(none yet)", "\n".join(told.turns[0])))
    rows: list[dict[str, Any]] = [
        {"id": m["id"], "content": m["content"], "ghosted": covered, "snippet_id": "s" if covered else None}
        for m, covered in zip(told.messages(), ghosted, strict=True)
    ]
    snippet = {"id": "s", "state": "live", "layer": 0, "parent_id": None, "text": text or reader.log[0].text}
    ids = ["u0", "a0"] if under is None else under
    return Survey(told, rows, [snippet], {"s": ids}, {}, reader.log)


def test_a_survey_of_a_whole_memory_finds_nothing_wrong() -> None:
    """A snippet that says what the model said of both messages leaves no question."""
    found = surveyed("")
    assert (found.missing, list(found.holes()), list(found.unexplained())) == ([], [], [])
    assert found.layers == {0: list(found.story.told)}


def test_a_survey_notices_a_fact_that_was_lost_on_the_way() -> None:
    """A snippet that is not the model's answer is told, and so is each fact the model never dropped."""
    found = surveyed(NOTHING_NEW)
    assert found.missing == list(found.story.told)
    assert len(list(found.unexplained())) == 1 + len(found.missing)


@pytest.mark.parametrize(
    ("ghosted", "under"), [((True, True), ["u0"]), ((True, False), ["u0", "a0"]), ((True, True), ["u0", "a0", "a0"])]
)
def test_a_survey_notices_messages_in_no_place_or_two(ghosted: tuple[bool, ...], under: list[str]) -> None:
    """A ghosted message under no snippet, a visible one under one, and one that is reached twice are holes."""
    assert list(surveyed("", ghosted=ghosted, under=under).holes())
