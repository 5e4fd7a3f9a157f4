"""app.core.reuse: how far two prompts begin alike."""

from hypothesis import given
from hypothesis import strategies as st

from app.core.reuse import Shared, common_chars, shared

TEXTS = st.text("ab", max_size=12)


@given(TEXTS, TEXTS)
def test_what_is_common_is_common_and_no_more(before: str, after: str) -> None:
    """Both texts begin with so many characters alike, and differ or end after them."""
    chars = common_chars(before, after)
    assert before[:chars] == after[:chars]
    assert before[chars : chars + 1] != after[chars : chars + 1] or chars == len(before) == len(after)


@given(st.lists(TEXTS, max_size=4), st.lists(TEXTS, max_size=4))
def test_whole_texts_come_first(before: list[str], after: list[str]) -> None:
    """As many whole texts as are alike count, and characters of the next one only where both have one."""
    texts, chars = shared(before, after)
    assert before[:texts] == after[:texts]
    if chars:
        assert before[texts][:chars] == after[texts][:chars]


def test_a_prompt_that_goes_on() -> None:
    """A prompt that only got longer is used again whole."""
    assert shared(["system", "hi"], ["system", "hi", "ho"]) == Shared(2, 0)


def test_a_memory_at_the_systems_end() -> None:
    """Of a system message whose end changed, the beginning is used again."""
    assert shared(["You are Tom. A", "hi"], ["You are Tom. B", "hi"]) == Shared(0, 13)
