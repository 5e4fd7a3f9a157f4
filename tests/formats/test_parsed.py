"""app.formats.parsed: warnings that stay few, ids that a chat may have."""

import pytest

from app.formats.parsed import WarningLog, usable_id


def test_warnings_beyond_a_hundred_are_a_number() -> None:
    """A ruined file gives a hundred warnings and one that counts the others."""
    log = WarningLog()
    for number in range(1, 1001):
        log.add("corrupt_line", f"Line {number}")
    assert [entry.detail for entry in log.entries[98:]] == ["Line 99", "Line 100", "900 more warnings are not listed."]


def test_what_concerns_the_whole_file_is_always_listed() -> None:
    """A summary comes first, and takes no place from the others."""
    log = WarningLog()
    for number in range(1, 103):
        log.add("corrupt_line", f"Line {number}")
    log.summarize("cut_short", "The end is missing")
    log.add("corrupt_line", "Line 103")
    assert [log.entries[0].code, len(log.entries), log.entries[-1].detail] == [
        "cut_short",
        102,
        "3 more warnings are not listed.",
    ]


@pytest.mark.parametrize(
    "value", ["a", "Tom - 2026-03-01 @20h", "名前:1", "می\u200cخواهم", "👩\u200d🚀", "龍\u3000一", "x" * 200]
)
def test_ids_of_other_programs_are_usable(value: str) -> None:
    """Spaces, @, :, joiners and any script may stand in an id, as they may in the API."""
    assert usable_id(value) == value


@pytest.mark.parametrize("value", ["", ".", "..", "a/b", "a\nb", "x" * 201, 7, None, ["a"]])
def test_other_values_are_no_ids(value: object) -> None:
    """What the contract forbids in an id is no id."""
    assert usable_id(value) is None
