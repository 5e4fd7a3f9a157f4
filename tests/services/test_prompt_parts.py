"""app.services.prompt_parts: what a request's own messages say to the tool calls of the stored ones."""

from typing import Any

import pytest

from app.core.tool_pairs import NOTHING, Coming
from app.services.prompt_parts import coming, without_orphans

RESULT = {"role": "tool", "tool_call_id": "k", "content": "A gate."}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "k"}]}
NEXT = {"role": "user", "content": "Next?"}


@pytest.mark.parametrize(
    ("current", "found"),
    [
        ([], NOTHING),
        ([RESULT], Coming(frozenset({"k"}))),
        ([RESULT, NEXT], Coming(frozenset({"k"}), goes_on=True)),
        ([CALL, RESULT], Coming(goes_on=True)),
        ([{"role": "user", "content": " "}, {"role": "system"}], NOTHING),
    ],
)
def test_what_comes_behind_the_stored_messages(current: list[dict[str, Any]], found: Coming) -> None:
    """Results answer the request's own calls first; a blank line is nothing."""
    assert coming(current) == found


def test_results_that_answer_nothing_are_left_out() -> None:
    """A stored call may be answered, or one of the request's own before it."""
    assert without_orphans([RESULT, NEXT], ()) == [NEXT]
    assert without_orphans([RESULT, NEXT], {"k"}) == [RESULT, NEXT]
    assert without_orphans([CALL, RESULT], ()) == [CALL, RESULT]
