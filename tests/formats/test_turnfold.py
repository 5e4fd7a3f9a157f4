"""app.formats.turnfold and turnfold_reading: our own file format, line by line."""

import io
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidRequest, UnsupportedComponent
from app.formats.turnfold import PARTS, VERSION, write_turnfold
from app.formats.turnfold_fields import read_time, write_time
from app.formats.turnfold_reading import Numbered, TurnfoldFile, read_turnfold
from tests.formats.files import jsonl

WHEN = "2026-03-01T12:00:00.000Z"
CHAT: dict[str, Any] = {"id": "mira", "strategy": "layered", "created_at": WHEN}
MESSAGE: dict[str, Any] = {"index": 0, "id": "u1", "role": "user", "content": "Is the gate shut?", "created_at": WHEN}
SNIPPET: dict[str, Any] = {
    **{"id": "s1", "strategy": "layered", "layer": 0, "position": 0, "kind": "fold", "state": "live"},
    **{"text": "Mira asks about the gate.", "source_tokens": 9, "created_at": WHEN},
}
KEPT: dict[str, Any] = {
    **{"id": "a0", "why": "deleted", "index": 1, "kept_at": WHEN, "role": "assistant", "content": "No."},
    "created_at": WHEN,
}
EARLIER: dict[str, Any] = {
    "snippet_id": "s1",
    "number": 0,
    "why": "edit",
    "text": "Mira asks.",
    "replaced_at": WHEN,
}
STEP: dict[str, Any] = {"kind": "edit", "snippet_id": "s1", "version": 0, "made_at": WHEN}
VIEW: dict[str, Any] = {
    "name": "reply",
    "options": {"context_size": 4096, "frame": {"template": "Rain.", "values": {}, "position": "after_user"}},
    "created_at": WHEN,
    "updated_at": WHEN,
}
LINES: list[dict[str, Any]] = [
    {"turnfold": {"version": 1, "parts": list(PARTS)}, "chat": CHAT},
    {"message": MESSAGE},
    {"snippet": SNIPPET},
    {"kept_message": KEPT},
    {"snippet_version": EARLIER},
    {"undo_step": STEP},
    {"view": VIEW},
    {"end": dict.fromkeys(PARTS, 1)},
]


def opened(*lines: dict[str, Any] | bytes) -> tuple[TurnfoldFile, list[Numbered]]:
    """A file, read to its end."""
    file = read_turnfold(jsonl(*lines))
    return file, list(file.records)


def changed(number: int, change: Callable[[dict[str, Any]], Any]) -> list[dict[str, Any]]:
    """The lines, with something done to what one of them holds."""
    lines: list[dict[str, Any]] = json.loads(json.dumps(LINES))
    change(next(reversed(lines[number].values())))
    return lines


def test_a_file_says_everything_again() -> None:
    """What is read, written again, gives the same bytes: defaults are left out, fields have one order."""
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in LINES)
    file = read_turnfold(io.BytesIO(text.encode()))
    records = [(numbered.part, numbered.record) for numbered in file.records]
    assert "".join(write_turnfold(file.chat, list(PARTS), records)) == text
    assert file.warnings == []


def test_defaults_are_what_is_left_out() -> None:
    """A message that says no more than it must is visible, plain, and under nothing."""
    record = opened(*LINES)[1][0].record
    assert [record[name] for name in ("hidden", "pinned", "history", "skipped", "revision")] == [
        *(False, False, "keep", False, 0)
    ]
    assert [record[name] for name in ("name", "tool_calls", "extra", "leaves")] == [None] * 4


def test_parts_may_come_in_any_order() -> None:
    """Lines between header and end are told apart by their keys."""
    assert len(opened(LINES[0], *reversed(LINES[1:-1]), LINES[-1])[1]) == len(PARTS)


@pytest.mark.parametrize("cut", range(len(LINES)))
def test_a_file_that_was_cut_off_is_noticed(cut: int) -> None:
    """Whatever line is the last one before the end is missing, and in the middle of whatever line."""
    for torn in (b"", json.dumps(LINES[cut]).encode()[:-1]):
        with pytest.raises(InvalidRequest, match=r"Line \d+: .*(cut off|header)"):
            opened(*LINES[:cut], *([torn] if torn else []))


@pytest.mark.parametrize("gone", range(1, len(LINES) - 1))
def test_a_line_that_is_missing_or_doubled_is_noticed(gone: int) -> None:
    """The end counts the lines of each part."""
    for lines in ([*LINES[:gone], *LINES[gone + 1 :]], [*LINES[:gone], LINES[gone], *LINES[gone:]]):
        with pytest.raises(InvalidRequest, match=r"Line \d: lines are missing or doubled"):
            opened(*lines)


@pytest.mark.parametrize("more", [b"{}", b"x", json.dumps(LINES[0]).encode()])
def test_nothing_follows_the_end(more: bytes) -> None:
    """Two files in one are not one."""
    with pytest.raises(InvalidRequest, match="Line 9: "):
        opened(*LINES, more)


def test_blank_lines_are_nothing() -> None:
    """An editor's line breaks do no harm; lines are counted with them."""
    assert len(opened(b"", *LINES[:3], b"  ", *LINES[3:], b"", b"")[1]) == len(PARTS)


def test_a_newer_version_is_not_guessed_at() -> None:
    """A file that a newer version wrote is refused as such before anything else in it is looked at."""
    header = {"turnfold": {"version": VERSION + 1, "parts": {}, "key": 1}, "chat": {"mood": "?"}, "more": 1}
    with pytest.raises(UnsupportedComponent, match=f"version {VERSION + 1} of the format"):
        opened(header)


@pytest.mark.parametrize(
    "lines",
    [
        [{"turnfold": {"version": 1, "parts": ["message", "dream"]}, "chat": CHAT}],
        [{"turnfold": {"version": 1, "parts": [], "key": "x"}, "chat": CHAT}],
        [{"turnfold": {"version": 1, "parts": []}, "chat": CHAT, "index": 1}],
        [LINES[0], {"dream": {}}],
        *([*LINES[:n], {part: {**LINES[n][part], "mood": 1}}] for n, part in enumerate(PARTS, 1)),
        [{**LINES[0], "chat": {**CHAT, "mood": 1}}],
        [{**LINES[0], "chat": {**CHAT, "strategy": "mood_ring"}}],
        [{**LINES[0], "chat": {**CHAT, "settings": {"mood": 1}}}],
        [{**LINES[0], "chat": {**CHAT, "settings": {"layered": {"mood": 1}}}}],
        [LINES[0], {"snippet": {**SNIPPET, "strategy": "mood_ring"}}],
        [LINES[0], {"message": {**MESSAGE, "leaves": {"mood_ring": "s1"}}}],
    ],
)
def test_what_is_unknown_is_not_dropped(lines: list[dict[str, Any]]) -> None:
    """An unknown part, field, setting or strategy is refused as one this server does not know."""
    with pytest.raises(UnsupportedComponent, match="does not know"):
        opened(*lines)


REQUIRED = [
    (number, name)
    for number, line in enumerate(LINES[:-1])
    for name in next(reversed(line.values()))
    if name not in ("content", "version")
]


@pytest.mark.parametrize(("number", "name"), REQUIRED)
def test_what_must_be_there_is_missed(number: int, name: str) -> None:
    """Each field that has no default is asked for by its line and name."""
    with pytest.raises(InvalidRequest, match=rf"Line {number + 1}: \w+: “{name}” is missing"):
        opened(*changed(number, lambda fields: fields.pop(name)))


WRONG = [
    (0, {"id": "a/b"}), (0, {"strategy": "none of them"}), (0, {"created_at": "2026-03-01"}), (0, {"title": 5}),
    (0, {"settings": []}), (0, {"settings": {"paused": 1}}), (0, {"settings": {"layered": {"verbatim_turns": 0}}}),
    (0, {"backlog_answer": "maybe"}), (0, {"usage": {"calls": 1}}), (0, {"extra": []}), (0, {"parent_chat_id": ""}),
    (0, {"extra": {"summaryception": {"snippets": {"s": 1}}}}),
    (1, {"id": ""}), (1, {"index": -1}), (1, {"index": True}), (1, {"index": 2**31}), (1, {"role": "narrator"}),
    (1, {"content": 5}), (1, {"content": None}), (1, {"content": "x" * (2**20 + 1)}), (1, {"hidden": 1}),
    (1, {"tool_calls": [{}]}), (1, {"tool_calls": [{"id": ""}]}), (1, {"tool_calls": {}}), (1, {"history": "drop"}),
    (1, {"created_at": "2026-13-01T00:00:00.000Z"}), (1, {"leaves": []}), (1, {"leaves": {"layered": ""}}),
    (1, {"leaves": {"none": "s1"}}), (1, {"leaves": {"layered": "s1"}, "hidden": True}),
    (1, {"leaves": {"layered": "s1"}, "pinned": True}), (1, {"leaves": {"layered": "s1"}, "history": "omit"}),
    (2, {"layer": 100}), (2, {"layer": -1}), (2, {"position": -1}), (2, {"position": 1.0}), (2, {"kind": "dream"}),
    (2, {"state": "dormant"}), (2, {"state": "absorbed"}), (2, {"parent_id": "s2"}), (2, {"text": " "}),
    (2, {"usage": {"calls": 1, "prompt_tokens": 1, "completion_tokens": -1}}), (2, {"edited_at": 5}),
    (3, {"why": "lost"}), (3, {"content": None}), (3, {"after_id": 1}),
    (4, {"why": "Because!"}), (4, {"number": None}), (4, {"text": ""}),
    (5, {"kind": "clear"}), (5, {"kind": "delete"}), (5, {"version": None}), (5, {"covered": {}}),
    (5, {"kind": "delete", "version": None, "covered": {"s1": {"runs": [[1, 0, 0]]}}}),
    (5, {"kind": "delete", "version": None, "covered": {"s1": {"runs": [[0, 1]]}}}),
    (5, {"kind": "delete", "version": None, "covered": {"s1": []}}),
]  # fmt: skip


@pytest.mark.parametrize(("number", "fields"), WRONG)
def test_what_cannot_be_is_refused_by_its_line(number: int, fields: dict[str, Any]) -> None:
    """A value of the wrong kind, or one that another field contradicts, names its line; no value is echoed."""
    with pytest.raises(InvalidRequest, match=f"^Line {number + 1}: ") as caught:
        opened(*changed(number, lambda record: record.update(fields)))
    assert caught.value.code == "invalid_request"
    assert caught.value.errors[0]["loc"] == ["file", number + 1]


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [[1]],
        [{}],
        [{"chat": CHAT}],
        [{"turnfold": 1, "chat": CHAT}],
        [{"turnfold": {"version": 0, "parts": []}, "chat": CHAT}],
        [{"turnfold": {"version": True, "parts": []}, "chat": CHAT}],
        [{"turnfold": {"version": 1, "parts": "message"}, "chat": CHAT}],
        [{"turnfold": {"version": 1, "parts": []}}],
        [{"turnfold": {"version": 1, "parts": []}, "chat": CHAT}, {"message": MESSAGE}],
        [LINES[0], {"message": MESSAGE, "snippet": SNIPPET}],
        [LINES[0], {}],
        [LINES[0], 5],
        [LINES[0], {"message": []}],
        [LINES[0], {"end": []}],
        [LINES[0], {"end": {"message": 0}}],
    ],
)
def test_what_is_no_such_file_is_refused(lines: list[Any]) -> None:
    """A header, a line or an end of another shape is refused."""
    with pytest.raises(InvalidRequest, match=r"^Line "):
        opened(*(json.dumps(line).encode() for line in lines))


@pytest.mark.parametrize("bad", [b"\\u0000", b"\0", b"\\ud800", b"\xff"])
def test_characters_that_are_no_text_are_replaced(bad: bytes) -> None:
    """As in other programs' files: they become U+FFFD, with a warning that names the line."""
    line = json.dumps({"message": {**MESSAGE, "content": "a!b"}}).encode().replace(b"a!b", b"a" + bad + b"b")
    file, records = opened(LINES[0], line, *LINES[2:])
    assert set(records[0].record["content"]) == {"a", "\ufffd", "b"}
    assert [(warning.code, warning.detail[:7]) for warning in file.warnings] == [("replaced_characters", "Line 2 ")]


@given(junk=st.binary(max_size=30), data=st.data())
def test_no_damage_does_harm(junk: bytes, data: st.DataObject) -> None:
    """A file with a piece of a line cut out and other bytes put in is read or refused, nothing else."""
    raw = [json.dumps(line).encode() for line in LINES]
    place = data.draw(st.integers(0, len(raw) - 1))
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(raw[place]))] * 2)))
    raw[place] = raw[place][:start] + junk + raw[place][end:]
    with suppress(InvalidRequest):
        opened(*raw)


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_times_are_exact(milliseconds: int) -> None:
    """Whatever time the calendar has comes back to the millisecond."""
    assert read_time(write_time(milliseconds)) == milliseconds
