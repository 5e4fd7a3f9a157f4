"""What a summary that is written anew needs of those who write it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.acceptance import BLANK, Accepted, Ending, TooLong
from app.core.retry import Failure
from app.core.summary import Connection, Line, SummaryRequest
from app.errors import ModelUnusable
from app.llm import faults
from app.llm.answers import judged_answer, max_tokens
from app.llm.extractive import Extractive
from app.llm.wire import Answer, Ask
from tests.support.parts import counter

LIMIT = 60
CONNECTION = Connection("local", "openai", "http://m.test", "fake-small")
STOPPED = Ending(complete=True, finish_reason="stop")


@pytest.fixture(scope="module")
def extract() -> Extractive:
    return Extractive(counter())


def request(texts: Sequence[str] = (), previous: str | None = "", limit: int = LIMIT) -> SummaryRequest:
    passage = tuple(Line("Tom", text) for text in texts)
    tokens = sum(counter()(text) for text in texts)
    return SummaryRequest("fold", CONNECTION, "", "", (), passage, limit, tokens, previous=previous)


FACTS = (
    "Mira must bring 40 silver to Lord Verrin of Aldermoor before Sunday.",
    "The bridge at Harrow burned down, so I will take 6 mules over the pass.",
    "Anna swears she never opened the brass lock of the lighthouse.",
    "Doctor Ferro will marry Elena in the old chapel on the 3rd of May.",
    "A wolf bit Jonas, and nobody in Kesten can heal the wound.",
    "Captain Ruiz sold his ship for 900 crowns to the widow Okoro.",
)


def told(place: int) -> list[str]:
    """A passage that holds one thing to remember."""
    return ["Well, you know how it is.", FACTS[place]]


def test_the_extractive_summary_is_extended(extract: Extractive) -> None:
    """What the summary so far says comes first and stays word for word while there is room for all."""
    first = extract(request(told(0)))
    second = extract(request(told(1), previous=first))
    assert second.startswith(f"{first}; ")
    assert "6 mules over the pass" in second


def test_a_full_summary_keeps_what_matters_of_both(extract: Extractive) -> None:
    """Without room for all, the new passage gets a third of it and the rest is what the summary so far had."""
    summary = ""
    for place, fact in enumerate(FACTS):
        summary = extract(request(told(place), previous=summary))
        assert fact.removesuffix(".") in summary
        assert counter()(summary) <= LIMIT
    assert any(fact.removesuffix(".") in summary for fact in FACTS[:-1])


def test_nothing_new_leaves_it_as_it_is(extract: Extractive) -> None:
    """A passage without a phrase takes nothing away."""
    assert extract(request([], previous="Mira has the key.")) == "Mira has the key."


TEXTS = st.lists(st.text(max_size=120), max_size=4)


@settings(max_examples=40)
@given(TEXTS, st.text(max_size=400), st.integers(16, 80))
def test_an_extended_summary_is_never_too_long(extract: Extractive, texts: list[str], before: str, limit: int) -> None:
    """It is one line within the limit, whatever came before."""
    line = extract(request(texts, " ".join(before.split()), limit))
    assert counter()(line) <= limit
    assert "\n" not in line


def test_it_is_held_to_its_limit() -> None:
    """A summary that the next one starts from is too long one token over its limit; others may have twice that."""
    answer = Answer(" ".join(f"gate{place}" for place in range(11)), STOPPED)
    asked = replace(request(limit=10), source_tokens=1000)
    assert judged_answer(asked, Ask("", "", 1), answer, _words).verdict == TooLong()
    assert judged_answer(replace(asked, previous=None), Ask("", "", 1), answer, _words).verdict == Accepted()


def test_its_answer_fits_what_the_prompt_leaves() -> None:
    """In a window that holds the prompt and one limit, no more than the limit is asked for."""
    asked = replace(request(limit=100), connection=replace(CONNECTION, context_size=1000), user="gate " * 900)
    assert max_tokens(asked, asked.user, _words) == 100


@pytest.mark.parametrize(("reason", "blank"), [(BLANK, True), ("repeated itself without end", False)])
def test_a_blank_answer_can_be_told_from_others(reason: str, blank: bool) -> None:
    """The error says whether the last answer held nothing at all."""
    error = faults.error(CONNECTION, Failure("unusable", reason=reason))
    assert isinstance(error, ModelUnusable)
    assert error.blank == blank
    assert faults.nothing_to_extract("extractive").blank


def _words(text: str, /) -> int:
    return len(text.split())
