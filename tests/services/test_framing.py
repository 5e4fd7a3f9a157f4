"""app.services.framing: what stands around the current turn."""

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import InvalidRequest
from app.services.framing import Frame, Position, apply_frame

USER: dict[str, Any] = {"role": "user", "content": "Is the gate shut?"}
CALL: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]}
RESULT: dict[str, Any] = {"role": "tool", "content": "It is.", "tool_call_id": "c1"}
TURN = [USER, CALL, RESULT]


def rendered(template: str, **values: Any) -> str | None:
    """What a frame adds before the user line."""
    found = apply_frame(Frame(template, values), [USER])
    return str(found[0]["content"]) if len(found) == 2 else None


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        ("before_user", [{"role": "user", "content": "Rain."}, *TURN]),
        ("before_system", [{"role": "system", "content": "Rain."}, *TURN]),
        ("after_user", [USER, {"role": "user", "content": "Rain."}, CALL, RESULT]),
        ("after_system", [USER, {"role": "system", "content": "Rain."}, CALL, RESULT]),
        ("replace", [{"role": "user", "content": "Rain."}, CALL, RESULT]),
    ],
)
def test_it_stands_where_it_is_told(position: Position, expected: list[dict[str, Any]]) -> None:
    """Around the user line of the turn, whatever was called since."""
    assert apply_frame(Frame("{{weather}}", {"weather": "Rain."}, position), TURN) == expected


@pytest.mark.parametrize("position", ["replace", "before_user", "before_system", "after_user", "after_system"])
def test_an_empty_rendering_changes_nothing(position: Position) -> None:
    """Nor does one of blanks: the raw user line stays."""
    for template in ("", " \n", "{{missing}}", "{{#none}}Rain.{{/none}}"):
        assert apply_frame(Frame(template, {"none": []}, position), TURN) == TURN


def test_the_user_line_is_known_only_where_it_is_replaced() -> None:
    """Elsewhere `user_message` is empty, whatever the values say of it."""
    template = "Lore. {{user_message}}"
    replaced = apply_frame(Frame(template, {"user_message": "No."}, "replace"), TURN)
    assert replaced[0] == {"role": "user", "content": "Lore. Is the gate shut?"}
    beside = apply_frame(Frame(template, {"user_message": "No."}, "before_user"), TURN)
    assert beside[0] == {"role": "user", "content": "Lore. "}


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        ("before_system", [{"role": "system", "content": "Rain."}, RESULT]),
        ("after_user", [RESULT, {"role": "user", "content": "Rain."}]),
        ("replace", [RESULT, {"role": "user", "content": "Rain."}]),
    ],
)
def test_without_a_user_line_it_stands_around_all(position: Position, expected: list[dict[str, Any]]) -> None:
    """At the beginning or the end; in the place of none it is one."""
    assert apply_frame(Frame("Rain.", {}, position), [RESULT]) == expected


def test_only_the_last_user_line_is_framed() -> None:
    """Earlier ones of the same turn stay as they are, and the messages that came in too."""
    messages = [dict(USER), dict(USER)]
    found = apply_frame(Frame("Rain. {{user_message}}", {}, "replace"), messages)
    assert found == [USER, {"role": "user", "content": "Rain. Is the gate shut?"}]
    assert messages == [USER, USER]


def test_values_are_data() -> None:
    """They are neither escaped nor rendered again, and nothing of Python's can be reached."""
    assert rendered("{{a}} {{{a}}} {{&a}}", a="<b> & {{b}}", b="!") == "<b> & {{b}} <b> & {{b}} <b> & {{b}}"
    assert rendered("x{{a.__class__}}{{a.upper}}{{d.keys}}{{d.items}}", a="b", d={}) == "x"
    assert rendered("x{{> other}}{{! no }}") == "x"


def test_values_that_are_no_text_are_written_as_json() -> None:
    """Numbers, truth, lists and objects; null is empty."""
    assert rendered("{{n}} {{f}} {{t}} {{l}} {{o}} {{z}}|", n=3, f=1.5, t=True, l=["é"], o={"a": 1}, z=None) == (
        '3 1.5 true ["é"] {"a": 1} |'
    )


def test_sections_repeat_and_invert() -> None:
    """Lists, objects and dotted names as Mustache has them."""
    items = [{"name": "key", "of": {"metal": "brass"}}, {"name": "lamp"}]
    template = "{{#items}}- {{name}}{{#of}} of {{metal}}{{/of}}\n{{/items}}{{^items}}none{{/items}}"
    assert rendered(template, items=items) == "- key of brass\n- lamp\n"
    assert rendered(template, items=[]) == "none"
    assert rendered("{{#words}}{{.}} {{/words}}{{place.name}}", words=["a", "b"], place={"name": "Harbour"}) == (
        "a b Harbour"
    )


@pytest.mark.parametrize("template", ["{{#a}}x", "{{#a}}x{{/b}}", "{{/a}}", "Hi {{name", "{{#a}}{{#b}}{{/a}}{{/b}}"])
def test_what_is_no_mustache_is_refused(template: str) -> None:
    """The error names the place, and says what is wrong with it."""
    with pytest.raises(InvalidRequest) as refused:
        apply_frame(Frame(template, {"a": True}), TURN)
    assert refused.value.errors[0]["loc"] == ["body", "frame", "template"]


@pytest.mark.parametrize(
    ("template", "values"),
    [
        ("{{#a}}{{#a}}{{#a}}{{#a}}{{#a}}x{{/a}}{{/a}}{{/a}}{{/a}}{{/a}}", {"a": [1] * 1000}),
        ("{{#a}}{{b}}{{/a}}", {"a": [1] * 100, "b": "x" * 100_000}),
        ("{{#a}}{{/a}}" * 5000, {"a": [1] * 10_000}),
        ("{{a}}" * 5000, {"a": ["x" * 1000] * 1000}),
        ("{{a}}{{a}}", {"a": "x" * 600_000}),
        ("{{ " * 30_000, {}),
        (" " * 90_000, {}),
    ],
)
def test_hostile_frames_are_refused_at_once(template: str, values: dict[str, Any]) -> None:
    """Sections that multiply, values that are repeated, templates that are slow to read."""
    started = time.monotonic()
    with pytest.raises(InvalidRequest):
        apply_frame(Frame(template, values), TURN)
    assert time.monotonic() - started < 5


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@given(st.text("{}#/^&!=> abc.\n", max_size=30), st.dictionaries(st.sampled_from("abc"), JSON, max_size=3))
@settings(max_examples=150, deadline=None)
def test_any_template_is_rendered_or_refused(template: str, values: dict[str, Any]) -> None:
    """Nothing but InvalidRequest ever comes of it, and everything but the frame stays as it was."""
    try:
        found = apply_frame(Frame(template, values, "after_system"), TURN)
    except InvalidRequest:
        return
    assert [message for message in found if message in TURN] == TURN
    assert len(found) - len(TURN) in (0, 1)
