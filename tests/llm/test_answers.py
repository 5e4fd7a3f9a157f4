"""How long an answer may be, and what becomes of it."""

from typing import Any

import pytest

from app.core.acceptance import Accepted, Ending, TooLong
from app.core.model import Usage
from app.core.summary import Connection, SummaryRequest
from app.llm.answers import Judged, judged_answer, max_tokens
from app.llm.wire import Answer, Ask

LIMIT = 20
STOPPED = Ending(complete=True, finish_reason="stop")


def count_words(text: str, /) -> int:
    return len(text.split())


def request(**fields: Any) -> SummaryRequest:
    connection = Connection("default", "openai", "http://m.test", "fake-small", **fields)
    return SummaryRequest("fold", connection, "You summarize.", "Anna: I leave.", (), (), LIMIT, 1000, ("[x]",))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, 4 * LIMIT + 4096),
        ({"max_tokens": 50}, 50),
        ({"max_tokens": 50, "context_size": 60}, 50),
        ({"context_size": 1000}, 1000 - 5 - 64),
        ({"context_size": 60}, 2 * LIMIT),
        ({"context_size": 100_000}, 4 * LIMIT + 4096),
    ],
)
def test_an_answer_has_room_to_think(fields: dict[str, int], expected: int) -> None:
    """The connection's own maximum, else ample room within its window."""
    asked = request(**fields)
    assert max_tokens(asked, asked.user, count_words) == expected


def test_an_answer_is_cleaned_before_it_is_judged() -> None:
    """Reasoning, labels and strip patterns count for nothing but the usage."""
    answer = Answer(f"<think>{'hm ' * 99}</think>Summary: Anna [x]\nleft.", STOPPED, 7, 120)
    judged = judged_answer(request(), Ask("", "", 1), answer, count_words)
    assert judged == Judged("Anna left.", 2, Accepted(), Usage(0, 7, 120))


def test_without_the_servers_counts_ours_are_used() -> None:
    """The prompt as it was sent and the answer as it came, each if its count is missing."""
    answer = Answer("Anna left <think>Hm.</think>", STOPPED)
    judged = judged_answer(request(), Ask("You summarize.", "Anna: I leave.", 1), answer, count_words)
    assert judged.usage == Usage(0, 5, 3)


def test_a_ramble_is_too_long() -> None:
    """The source's own length does not matter once twice the limit is passed."""
    answer = Answer(" ".join(f"word{place}" for place in range(2 * LIMIT + 1)), STOPPED)
    assert judged_answer(request(), Ask("", "", 1), answer, count_words).verdict == TooLong()
