"""What is taken off a model's answer."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.cleaning import clean


@pytest.mark.parametrize("tag", ["think", "thinking", "reasoning", "thought", "reflect", "inner_monologue", "THINK"])
def test_a_reasoning_block_is_removed(tag: str) -> None:
    """Whatever its tag is called, a reasoning block leaves nothing behind."""
    assert clean(f"<{tag}>They quarrel.\nSo:</{tag}>\n\nAnna left Ben.") == "Anna left Ben."


@pytest.mark.parametrize(
    ("answer", "memory"),
    [
        ("<|channel>thought\nHm.<channel|>Anna left.", "Anna left."),
        ("<|channel>thought\n<channel|>Anna left.", "Anna left."),
        (
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Anna left.<|return|>",
            "Anna left.",
        ),
        ("<|channel|>commentary to=x <|message|>Hm.<|end|>Anna left.", "Anna left."),
        ("<|channel>final Anna left.<channel|>", "Anna left."),
        ("<|channel|>commentary to=f <|constrain|>json<|message|>{}<|call|>", ""),
        ("<|channel|>final <|constrain|>text<|message|>Anna left.", "Anna left."),
        ("<|channel|>analysis<|message|>Hm, what", ""),
    ],
)
def test_channel_marks_are_reasoning_unless_they_name_the_answer(answer: str, memory: str) -> None:
    """Of channel marks only the answer's own channel is kept."""
    assert clean(answer) == memory


def test_an_opening_without_an_end_takes_the_rest() -> None:
    """What follows an unclosed reasoning tag is reasoning."""
    assert clean("Anna left. <think>but maybe") == "Anna left."


def test_a_closing_tag_without_an_opening_takes_what_is_before_it() -> None:
    """The opening tag may have been part of the prompt."""
    assert clean("They quarrel, so\n</think>\nAnna left.") == "Anna left."


def test_blocks_in_blocks_are_one_block() -> None:
    """Another tag inside a block neither ends it nor hides its end."""
    assert clean("A <thinking>b <thought>c</thought> d</thinking> E") == "A E"


def test_a_default_strip_pattern_does_not_break_the_blocks() -> None:
    """Patterns run after the blocks, so a pattern that names a tag lets no reasoning through."""
    assert clean("<thinking>secret</thinking>Anna left.", ["<thinking>", "</thinking>"]) == "Anna left."


def test_patterns_are_literal_and_empty_ones_do_nothing() -> None:
    """A strip pattern is a string, not a regular expression."""
    assert clean("Anna (a.c) left abc.", ["a.c", ""]) == "Anna () left abc."


def test_the_output_tag_is_unwrapped() -> None:
    """Its content stays."""
    assert clean("<output>\nAnna left.\n</output>") == "Anna left."


@pytest.mark.parametrize(
    "label",
    [
        "Summary: ", "**Summary:** ", "## Summary\n", "**Summary**\n", "Summary of the passage: ", "The summary: ",
        "Here is the summary:\n\n", "Sure! Here's a concise summary of the passage:\n", "Snippet: ",
        "Zusammenfassung: ", "Résumé : ", "摘要：", "สรุป: ", "<output>Summary: ",
    ],
)  # fmt: skip
def test_labels_are_removed(label: str) -> None:
    """What announces the summary is no part of it."""
    assert clean(label + "Anna: left.") == "Anna: left."


@pytest.mark.parametrize(
    "text",
    ["Summary judgement fell: Ben lost.", "Here is Anna, who left: alone.", "Anna: left.", "Memories: none left."],
)
def test_what_only_resembles_a_label_stays(text: str) -> None:
    """A sentence that happens to begin like a label is kept whole."""
    assert clean(text) == text


def test_the_answer_becomes_one_line() -> None:
    """Line breaks of every kind become spaces; a fence around the answer goes."""
    assert clean("```text\nAnna left.\r\n\n\u2028Ben\tstayed.\n```") == "Anna left. Ben stayed."


def test_what_no_database_stores_is_removed() -> None:
    """NUL, control characters, lone surrogates and byte order marks never reach memory."""
    assert clean("\ufeffAnna\x00 le\ud800ft\x1b.") == "Anna left."


def test_a_text_that_never_comes_clean_is_no_answer() -> None:
    """What leaves a new mark behind again and again gives nothing at all."""
    assert clean("a" * 20 + "b" * 20, ["ab"]) == ""


@given(
    st.lists(
        st.sampled_from(
            ["<think>", "</think>", "<thi", "nk>", "<|channel>thought", "<channel|>", "<|end|>", "<output>", "</out",
             "put>", "Summary:", "```", "\n", " ", "a", "ab", "<|channel|>final<|message|>", "<", ">"]
        ) | st.text(max_size=3)
    ).map("".join),
    st.lists(st.sampled_from(["a", "ab", "<", "x y", ""]), max_size=2),
)  # fmt: skip
def test_cleaning_is_idempotent(text: str, patterns: list[str]) -> None:
    """A cleaned text has nothing left to clean."""
    once = clean(text, patterns)
    assert clean(once, patterns) == once
    assert "\n" not in once


@pytest.mark.parametrize(
    "piece", ["<", "<think ", "<think>", "</think>", "<|channel|>", "<thi", "```a ", "summary of ", " ", "a", "# *"]
)
def test_the_time_is_in_proportion_to_the_length(piece: str) -> None:
    """Two million hostile characters cost well under the seconds that a quadratic step would take."""
    text = piece * (2_000_000 // len(piece))
    started = time.perf_counter()
    clean(text)
    assert time.perf_counter() - started < 3
