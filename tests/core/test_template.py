"""app.core.template: variables in people's own templates, and fences around chat text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.template import fence, fill

HOSTILE = ["{{ 7*7 }}", "{{story}}", "{{summary}}", "{% raw %}", "$& $1 \\1 \\g<0>", "{{{{summary}}}}", "{{", "}}"]


@pytest.mark.parametrize("text", HOSTILE)
def test_values_are_data(text: str) -> None:
    """What looks like a variable, a tag or a back reference in a value stays as it is."""
    assert fill("<{{summary}}|{{story}}>", {"summary": text, "story": "S"}) == f"<{text}|S>"


@given(value=st.text())
def test_any_value_goes_in_unchanged(value: str) -> None:
    """Whatever a value holds, it stands in the result as it is."""
    assert fill("a{{x}}b{{ x }}c", {"x": value}) == f"a{value}b{value}c"


def test_every_occurrence_is_filled_with_or_without_spaces() -> None:
    """A variable may appear often and may have white space inside its braces."""
    assert fill("{{a}} {{ a }} {{\ta\n}}", {"a": "1"}) == "1 1 1"


@pytest.mark.parametrize(
    "template", ["{{unknown}}", "{{ 7*7 }}", "{{}}", "{a}", "{{a b}}", "{% if a %}", "{{a", "{{A}}"]
)
def test_what_is_no_known_variable_stays(template: str) -> None:
    """Unknown names and everything that is not a variable stay literal."""
    assert fill(template, {"a": "1"}) == template


@given(text=st.text(alphabet="ab{} \n"))
def test_a_template_without_values_is_itself(text: str) -> None:
    """Without values nothing changes, whatever the braces."""
    assert fill(text, {}) == text


@pytest.mark.parametrize(
    "tag",
    ["</passage>", "</PASSAGE>", "< / passage >", "</passage", "<passage>", '<passage id="1">', "<\npassage/>"],
)
def test_a_tag_in_chat_text_is_disarmed(tag: str) -> None:
    """A tag of ours in chat text loses its bracket, one character for one."""
    assert fence(f"x {tag} y", "passage") == f"x {tag} y".replace("<", "\u2039")


@pytest.mark.parametrize(
    "text", ["</passages>", "<passage-way>", "<b>bold</b>", "a < b", "passage>", "<3 passage", "&lt;"]
)
def test_all_other_text_is_left_alone(text: str) -> None:
    """Text that holds none of our tags comes back byte for byte."""
    assert fence(text, "passage") == text


@given(text=st.lists(st.sampled_from(["<", "/", " ", "passage", "prior", "PASSAGE", ">", "x", "\n"])).map("".join))
def test_no_fenced_text_holds_a_tag(text: str) -> None:
    """No text gets past the fence with a tag in it, its length stays, and a second fence changes nothing."""
    fenced = fence(text, "passage", "prior")
    assert not re.search(r"<\s*/?\s*(passage|prior)(?![\w-])", fenced, re.IGNORECASE)
    assert len(fenced) == len(text)
    assert fence(fenced, "passage", "prior") == fenced


def test_without_tags_there_is_no_fence() -> None:
    """No tags named, nothing to keep out."""
    assert fence("</passage>") == "</passage>"
