"""Shortening texts to a number of tokens."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.clipping import cut_middle, cut_to_phrases

MARK = "\n[… cut …]\n"


class Counter:
    """Counts a token per four UTF-8 bytes, and remembers how much it was asked to count."""

    def __init__(self) -> None:
        self.calls = 0
        self.characters = 0

    def __call__(self, text: str, /) -> int:
        self.calls += 1
        self.characters += len(text)
        return math.ceil(len(text.encode("utf-8", "replace")) / 4)


def by_words(text: str, /) -> int:
    return len(text.split())


count = Counter()
texts = st.text(max_size=400) | st.lists(
    st.sampled_from(["Anna ", "left. ", "ไป ", "她走了。", "e\u0301", "x" * 50])
).map("".join)


@given(texts, st.integers(0, 120))
def test_the_phrases_never_exceed_the_limit(text: str, limit: int) -> None:
    """Whatever the text, what is left fits, and is a beginning of it."""
    for counter in (count, by_words):
        cut = cut_to_phrases(text, limit, counter)
        assert counter(cut) <= limit
        assert text.startswith(cut)


@given(texts, st.integers(0, 120))
def test_a_cut_middle_never_exceeds_the_limit(text: str, limit: int) -> None:
    """Head, mark and tail together fit."""
    for counter in (count, by_words):
        assert counter(cut_middle(text, limit, counter, MARK)) <= limit


@given(texts)
def test_what_fits_is_left_alone(text: str) -> None:
    """A text within the limit comes back unchanged."""
    assert cut_to_phrases(text, count(text), count) == text
    assert cut_middle(text, count(text), count, MARK) == text


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("Anna left. Ben stayed. Carol came back late.", 6, "Anna left. Ben stayed."),
        ("Anna left for the coast; Ben stayed behind; Carol came", 12, "Anna left for the coast; Ben stayed behind"),
        ("Anna left for the coast with Ben", 4, "Anna left for"),
        ("Anna left. Ben stayed behind to mend the boats and to wait", 9, "Anna left."),
        (
            "Anna, who had left for the coast years ago with the boats",
            12,
            "Anna, who had left for the coast years ago with",
        ),
        ("她走了。他留下了。她回来了。", 8, "她走了。他留下了。"),
        ("ไปบ้าน กลับมา นอนหลับ", 12, "ไปบ้าน กลับมา"),
        ("x" * 100, 5, "x" * 20),
    ],
)
def test_whole_phrases_are_kept_in_every_script(text: str, limit: int, cut: str) -> None:
    """Sentences first, then parts of sentences, then words, then characters."""
    assert cut_to_phrases(text, limit, count) == cut


def test_an_accent_stays_with_its_letter() -> None:
    """An endless word is not cut between a character and its combining mark."""
    assert not cut_to_phrases("e\u0301" * 50, 4, by_length).endswith("e")


def by_length(text: str, /) -> int:
    return len(text)


def test_head_and_tail_are_whole_words() -> None:
    """The middle goes, the mark says so, and no word is torn."""
    text = " ".join(f"word{number}" for number in range(500))
    cut = cut_middle(text, 100, count, MARK)
    head, tail = cut.split(MARK)
    assert text.startswith(head + " ")
    assert text.endswith(" " + tail)
    assert count(cut) > 80


def test_a_limit_too_small_for_the_mark_keeps_the_beginning() -> None:
    """There is no use for a mark with nothing around it."""
    assert cut_middle("Anna left Ben. " * 10, 2, count, MARK) == "Anna"


@pytest.mark.parametrize("text", ["x" * 3_000_000, "Anna left Ben. " * 200_000])
def test_a_huge_text_is_never_counted_whole(text: str) -> None:
    """The work depends on the limit, not on the text."""
    for cut in (cut_to_phrases(text, 120, counter := Counter()), cut_middle(text, 120, counter, MARK)):
        assert 400 < len(cut) <= 480
    assert counter.calls < 50
    assert counter.characters < 50_000
