"""Finding chats by what they are called."""

import pytest

from app.core.finding import holds_all, words_of


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", True),
        ("  ", True),
        ("harb", True),
        ("MIRA harbour", True),
        ("ÖSTLUND", True),
        ("strasse", True),
        ("ท่าเรือ", True),
        ("ＭＩＲＡ", True),
        ("mira tom", False),
        ("miraharbour", False),
        ("%", False),
    ],
)
def test_words_of_a_query(query: str, found: bool) -> None:
    """Each word must be a part of one of the names, in any script, whatever its case and width."""
    assert holds_all(["Harbour", None, "Mira Östlund", "Straße", "ท่าเรือเก่า"], words_of(query)) is found


def test_nothing_is_called() -> None:
    """Without a name no word is found, and no words are found everywhere."""
    assert not holds_all([None, ""], words_of("a"))
    assert holds_all([None], ())
