"""app.services.mustache: people's own templates."""

import time

import pytest

from app.services.mustache import check_template, render

TURNS: list[dict[str, str | int]] = [
    {"index": 4, "user": "Hi <b>", "assistant": "{{user}}"},
    {"index": 5, "user": "", "assistant": "Bye"},
]


def test_sections_and_names() -> None:
    """Lists repeat a section, an empty text hides one, and nothing is escaped or rendered again."""
    template = "{{#before}}So far: {{before}}\n{{/before}}{{#turns}}{{index}} {{user}}|{{{assistant}}}\n{{/turns}}"
    assert render(template, {"before": "", "turns": TURNS}) == "4 Hi <b>|{{user}}\n5 |Bye\n"
    assert render(template, {"before": "a", "turns": []}) == "So far: a\n"


def test_what_is_not_known_is_empty() -> None:
    """Names without a value, partials and paths into a value give nothing."""
    assert (
        render("[{{no}}{{>/etc/passwd}}{{turns.__class__}}{{a.upper}}{{#no}}x{{/no}}]", {"a": "b", "turns": []}) == "[]"
    )


def test_a_list_within_itself_does_not_multiply() -> None:
    """A section inside its own section shows nothing, so that no nesting makes a prompt explode."""
    deep = "{{#turns}}" * 10 + "x" + "{{/turns}}" * 10
    assert render(deep, {"turns": TURNS * 50}) == ""


@pytest.mark.parametrize(
    "template",
    [
        "{{#turns}}",
        "{{/turns}}",
        "{{#a}}{{/b}}",
        "{{name",
        "{{{name}}",
        "{{=<% %>=}}",
        "{{" * 10_000,
        "{{\t{{/a}}" * 2_000,
        " " * 20_000,
        "{{#a}}" * 60 + "{{/a}}" * 60,
    ],
)
def test_what_is_no_template(template: str) -> None:
    """What is no Mustache, or would take the parser long, is refused at once with what to mend."""
    started = time.perf_counter()
    with pytest.raises(ValueError, match="The template "):
        check_template(template)
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize("template", ["", "plain", "{ {x} }", "{{! a note }}{{&a}}", "{{#a}}{{^b}}{{/b}}{{/a}}"])
def test_what_is_one(template: str) -> None:
    """A template that can be read comes back as it is."""
    assert check_template(template) == template
