"""How texts go into the search index, and queries into its language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.store.words import MOST_PARTS, Part, in_fts5, prepared, read_query


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我们去东京了", "我们 们去 去东 东京 京了 了"),
        ("猫が好き", "猫が が好 好き き"),
        ("ประตู", "ปร ระ ะต ตู ู"),
        ("학교에서", "학교 교에 에서 서"),
        ("3年前、Turnfoldは ok", "3 年前 前 、turnfold は ok"),
        ("Café “naïve” 🐉", "café “naïve” 🐉"),
        ("ﾈｺ ＡＢＣ", "ネコ コ abc"),
        ("ภา\u200bษา", "ภา าษ ษา า"),
        ("Straße soft\u00adly", "strasse softly"),
    ],
)
def test_a_text_in_words(text: str, words: str) -> None:
    """Runs without spaces become pairs that overlap and the last character; wide, narrow and unseen forms are equal."""
    assert prepared(text).split() == words.split()


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_stays_as_it_is(text: str) -> None:
    """Plain ASCII is not touched: its case and its punctuation are the tokenizer's work."""
    assert prepared(text) is text


@given(st.text())
def test_preparing_is_repeatable(text: str) -> None:
    """The same text gives the same words at any time, or it could not be taken out of the index again."""
    assert prepared(text) == prepared("".join(list(text)))


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("Brass  key", [Part("brass"), Part("key")]),
        ('say "brass  key!" now', [Part("say"), Part("brass key", whole=True), Part("now")]),
        ("“two words”", [Part("two words", whole=True)]),
        ('an "open end', [Part("an"), Part("open"), Part("end")]),
        ("gate gate GATE", [Part("gate")]),
        ("don't o’clock well-known e.g. v1.2", [*map(Part, ("don't", "o’clock", "well-known", "e.g", "v1.2"))]),
        ("NEAR(gate, 2) AND col:key* -no ^x", [*map(Part, ("near", "gate", "2", "and", "col", "key", "no", "x"))]),
        ("东京、京都", [Part("东京"), Part("京都")]),
        ("", []),
        (" \t\n", []),
        ('"" " * \' - 🐉 …', []),
    ],
)
def test_the_parts_of_a_query(query: str, parts: list[Part]) -> None:
    """Words and quoted phrases, each once; whatever holds no letter and no digit is no word."""
    assert read_query(query) == parts


def test_long_queries_are_cut() -> None:
    """Only so many words count, the first ones."""
    words = [f"w{number}" for number in range(100)]
    assert read_query(" ".join(words)) == [Part(word) for word in words[:MOST_PARTS]]


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (Part("gate"), '"gate" *'),
        (Part("gate", whole=True), '"gate"'),
        (Part("a"), '"a"'),
        (Part("don't"), '"don\'t"'),
        (Part("v1.25"), '"v1.25" *'),
        (Part("猫"), '"猫" *'),
        (Part("猫", whole=True), '"猫" *'),
        (Part("东京"), '"东京"'),
        (Part("去东京"), '"去东 东京"'),
        (Part("东京tower"), '"东京 京 tower" *'),
        (Part("3年"), '"3 年" *'),
    ],
)
def test_a_part_in_the_language_of_the_index(part: Part, said: str) -> None:
    """Quoted, so that nothing in it is understood; the beginning of a word is enough, but not a letter of it."""
    assert in_fts5(part) == said
