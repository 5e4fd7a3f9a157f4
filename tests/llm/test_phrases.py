"""app.llm.phrases: chat text cut into phrases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.llm.phrases import LONGEST, phrases


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. Verrin left. Then? Yes.", ["Mr. Verrin left.", "Then?", "Yes."]),
        ('*Mira smiles.* "Not **now**," she said.', ["Mira smiles.", '"Not now," she said.']),
        ('"Take it. It is yours."', ["Take it.", "It is yours."]),
        ("one\nline\n\ntwo\n- three\n- four", ["one line", "two", "three", "four"]),
        ("2*3 = 6 in snake_case_name", ["2*3 = 6 in snake_case_name"]),
        ("<b>Tom</b> has 3 < 4 coins", ["Tom has 3 < 4 coins"]),
        ("```python\nx = 1\n```", ["x = 1"]),
        ("你好。我叫小明！明天见", ["你好。", "我叫小明！", "明天见"]),
        ("***", ["***"]),
        (" \n ", []),
    ],
)
def test_text_becomes_phrases(text: str, expected: list[str]) -> None:
    """Sentences are phrases, markup goes, words stay; bare markup stays as it is, blank text has none."""
    assert phrases(text) == expected


def test_long_sentences_end_at_clauses() -> None:
    """A sentence over the limit is cut where a clause ends."""
    clause = "the sixth of the mules was lost in the marsh near Aldermoor"
    assert phrases(f"{clause}, {clause}, {clause}, {clause}.") == [f"{clause}, {clause},", f"{clause}, {clause}."]


def test_numbers_are_never_cut() -> None:
    """A comma inside a number is no clause end."""
    assert all("10,000" in part for part in phrases("paid 10,000 " * 40))


def test_an_endless_word_keeps_its_head() -> None:
    """A key or base64 says nothing past its first letters."""
    assert phrases("a" * 50_000) == ["a" * 40 + "…"]


def test_joined_emoji_stay_whole() -> None:
    """A family of emoji is one letter and is not cut."""
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert all(part.replace(family, "") == "" for part in phrases(family * 200))


@given(text=st.text(max_size=600) | st.text(alphabet="ab*_`<>/\n \u0301\u4e2d.", max_size=2_000))
def test_phrases_are_short_lines(text: str) -> None:
    """Every phrase is one line within the limit and not blank; only blank text has none."""
    found = phrases(text)
    assert bool(found) == bool(text.strip())
    for phrase in found:
        assert phrase == " ".join(phrase.split()) != ""
        assert len(phrase.encode("utf-8", "surrogatepass")) <= LONGEST
