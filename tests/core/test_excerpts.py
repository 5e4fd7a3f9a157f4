"""Excerpts of texts."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.excerpts import MOST_CHARS, excerpt

PROSE = " ".join(f"word{number}" for number in range(200))


def test_a_short_text_is_its_own_excerpt() -> None:
    """What is short is shown whole, on one line."""
    assert excerpt("Tom opens\n\n the  gate.", ["gate"]) == "Tom opens the gate."


def test_a_long_text_is_cut_between_words() -> None:
    """Around what was found, whole words, with … where there is more."""
    shown = excerpt(PROSE, ["word100"])
    assert shown.startswith("…word")
    assert shown.endswith("…")
    assert "word100" in shown.split()
    assert set(shown.strip("…").split()) <= set(PROSE.split())
    assert MOST_CHARS - 60 < len(shown) <= MOST_CHARS + 2


@pytest.mark.parametrize(("word", "begins", "ends"), [("word0", True, False), ("word199", False, True)])
def test_an_end_of_the_text_has_no_dots(word: str, begins: bool, ends: bool) -> None:
    """At the beginning and at the end of a text nothing is left out."""
    shown = excerpt(PROSE, [word])
    assert (not shown.startswith("…"), not shown.endswith("…")) == (begins, ends)
    assert word in shown.split()


@pytest.mark.parametrize(
    ("found", "looked_for"),
    [
        ("CAFÉ", "cafe"),
        ("cafe\u0301", "Café"),
        ("don’t", "don't"),
        ("brass, key", "brass key"),
        ("ＡＢＣ", "abc"),
        ("Straße", "strasse"),
        ("ภา\u200bษา", "ภาษา"),
        ("हिन्दी", "हिन्दी"),
        ("gates", "gate"),
    ],
)
def test_forms_do_not_matter(found: str, looked_for: str) -> None:
    """Case, accents, width and punctuation make no difference to what is found."""
    assert found in excerpt(f"{PROSE} {found} {PROSE}", [looked_for])


def test_a_word_is_looked_for_before_a_piece_of_one() -> None:
    """`art` is shown where a word begins so, not inside an earlier `start`."""
    assert "the art of" in excerpt(f"start {PROSE} the art of {PROSE}", ["art"])


def test_the_place_with_most_words_is_shown() -> None:
    """Where the first word stands alone and later with the others, the later place is shown."""
    text = f"Tom waits. {PROSE} the brass key"
    assert "brass key" in excerpt(text, ["tom", "brass", "key"])


def test_a_script_without_spaces_is_cut_anywhere() -> None:
    """A long run is cut to length around what was found, and no mark is torn from its letter."""
    text = "ที่นี่มีประตู" * 40 + "東京" + "กินน้ำที่บ้าน" * 40
    shown = excerpt(text, ["東京"])
    assert "東京" in shown
    assert MOST_CHARS <= len(shown) <= MOST_CHARS + 8
    assert unicodedata.category(shown[1])[0] != "M"


def test_what_is_not_found_shows_the_beginning() -> None:
    """Without a place of its own a text is shown from its start."""
    assert excerpt(PROSE, ["nowhere"]).startswith("word0 word1 ")
    assert excerpt(PROSE, []).startswith("word0 word1 ")


@given(st.text(max_size=600), st.lists(st.text(max_size=8), max_size=4))
def test_every_text_has_an_excerpt(text: str, wanted: list[str]) -> None:
    """One line, not much longer than it may be, of the text's own characters."""
    shown = excerpt(text, wanted)
    line = " ".join(text.split())
    assert shown.removeprefix("…").removesuffix("…").strip() in line or shown in line
    assert len(shown) <= MOST_CHARS + 2 + sum(unicodedata.category(char)[0] == "M" for char in line)
    assert "\n" not in shown
