"""app/core/digest.py: comparing histories."""

from zlib import crc32

from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.digest import Digest, Line, digest

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
lines = st.lists(
    st.builds(Line, texts, st.sampled_from(["user", "assistant"]), texts, st.booleans(), texts), max_size=4
)


def test_no_message_is_zero() -> None:
    """A history without messages has the checksum of nothing."""
    assert digest([]) == Digest(0, "00000000")


def test_it_is_the_checksum_of_the_documented_text() -> None:
    """Two lines, one hidden and without a name, come to the CRC-32 of what the API documents."""
    text = "m1\x1fuser\x1fMira\x1f0\x1fหิมะ\x1em2\x1fassistant\x1f\x1f1\x1f\x1e"
    found = digest([Line("m1", "user", "Mira", False, "หิมะ"), Line("m2", "assistant", None, True, None)])
    assert found == Digest(2, f"{crc32(text.encode()):08x}")


@settings(max_examples=100)
@given(lines, st.data())
def test_a_changed_line_changes_it(said: list[Line], data: st.DataObject) -> None:
    """A text that grows, a message that goes or is hidden shows."""
    if not said:
        return
    place = data.draw(st.integers(0, len(said) - 1))
    old = said[place]
    for new in ([old._replace(content=f"{old.content}.")], [old._replace(hidden=not old.hidden)], []):
        assert digest([*said[:place], *new, *said[place + 1 :]]) != digest(said)
