"""app.services.installing: rows that refer to nothing, or would break a promise, are refused, and leave nothing."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from app.assembly import Server
from app.errors import InvalidRequest
from tests.support.travel import EVERYTHING, chats_of, elsewhere, lived, taken_in

Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file with every part in it."""
    found = asyncio.run(lived(tmp_path_factory.mktemp("lived"), EVERYTHING))
    parts = json.loads(found.splitlines()[0])["turnfold"]["parts"]
    assert parts == ["message", "snippet", "kept_message", "snippet_version", "undo_step"]
    return found


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[Server]:
    server = elsewhere(tmp_path)
    yield server
    server.db.dispose()


def first_of(lines: Lines, part: str, **what: Any) -> dict[str, Any]:
    """The first record of a part with these values."""
    return next(
        line[part]
        for line in lines
        if part in line and all(line[part].get(name) == value for name, value in what.items())
    )


def covered_message(lines: Lines) -> dict[str, Any]:
    return next(line["message"] for line in lines if "leaves" in line.get("message", {}))


def _message_under_what_is_gone(lines: Lines) -> None:
    covered_message(lines)["leaves"] = {"layered": first_of(lines, "snippet", state="deleted")["id"]}


def _message_under_nobody(lines: Lines) -> None:
    covered_message(lines)["leaves"] = {"layered": "nobody"}


def _parent_is_nobody(lines: Lines) -> None:
    first_of(lines, "snippet", state="absorbed")["parent_id"] = "nobody"


def _parent_is_itself(lines: Lines) -> None:
    snippet = first_of(lines, "snippet", state="absorbed")
    snippet["parent_id"] = snippet["id"]


def _two_absorb_each_other(lines: Lines) -> None:
    absorbed = [line["snippet"] for line in lines if line.get("snippet", {}).get("state") == "absorbed"]
    absorbed[0]["parent_id"], absorbed[1]["parent_id"] = absorbed[1]["id"], absorbed[0]["id"]


def _twice_the_same_message(lines: Lines) -> None:
    messages = [line["message"] for line in lines if "message" in line]
    messages[7]["id"] = messages[2]["id"]


def _twice_the_same_snippet(lines: Lines) -> None:
    found = [line["snippet"] for line in lines if "snippet" in line]
    found[1]["id"] = found[0]["id"]


def _twice_the_same_place(lines: Lines) -> None:
    live = [line["snippet"] for line in lines if line.get("snippet", {}).get("state") == "live"]
    live[-1].update(layer=live[0]["layer"], position=live[0]["position"])


def _out_of_order(lines: Lines) -> None:
    live = [line["snippet"] for line in lines if line.get("snippet", {}).get("state") == "live"]
    live[0]["layer"], live[-1]["layer"] = 7, 8


def _overlapping(lines: Lines) -> None:
    live = {line["snippet"]["id"] for line in lines if line.get("snippet", {}).get("state") == "live"}
    under = [m for line in lines if (m := line.get("message", {})).get("leaves", {}).get("layered") in live]
    assert under[0]["leaves"] != under[-1]["leaves"]
    under[0]["leaves"], under[-1]["leaves"] = under[-1]["leaves"], under[0]["leaves"]


def _nothing_under_it(lines: Lines) -> None:
    snippet = first_of(lines, "snippet", state="live")
    bare = {**snippet, "id": "bare", "position": 99}
    lines.insert(-1, {"snippet": bare})
    lines[-1]["end"]["snippet"] += 1


def _misplaced(lines: Lines) -> None:
    lines[3], lines[4] = lines[4], lines[3]


def _version_of_nobody(lines: Lines) -> None:
    first_of(lines, "snippet_version")["snippet_id"] = "nobody"


def _version_out_of_count(lines: Lines) -> None:
    first_of(lines, "snippet_version")["number"] = 5


def _step_of_nobody(lines: Lines) -> None:
    first_of(lines, "undo_step")["snippet_id"] = "nobody"


def _step_to_no_text(lines: Lines) -> None:
    first_of(lines, "undo_step", kind="edit")["version"] = 50


def _uncovered_elsewhere(lines: Lines) -> None:
    step = first_of(lines, "undo_step", kind="delete")
    stranger = first_of(lines, "snippet", state="live")["id"]
    step["covered"] = {stranger: next(iter(step["covered"].values()))}


def _uncovered_nobody(lines: Lines) -> None:
    step = first_of(lines, "undo_step", kind="delete")
    step["covered"] = {"nobody": next(iter(step["covered"].values()))}


def _uncovered_beyond_the_end(lines: Lines) -> None:
    step = first_of(lines, "undo_step", kind="delete")
    next(iter(step["covered"].values()))["runs"] = [[0, 1000, 0]]


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (_message_under_what_is_gone, "which is neither live nor a part of a live one"),
        (_message_under_nobody, r"Line \d+: message: “leaves” names no snippet"),
        (_parent_is_nobody, r"Line \d+: snippet: “parent_id” names no snippet"),
        (_parent_is_itself, "absorb each other"),
        (_two_absorb_each_other, "absorb each other"),
        (_twice_the_same_message, "Line 9: message: its id is that of an earlier one"),
        (_twice_the_same_snippet, r"Line \d+: snippet: its id is that of an earlier one"),
        (_twice_the_same_place, r"Line \d+: snippet: another live snippet has this place"),
        (_out_of_order, "overlap, or are not in the order"),
        (_overlapping, "overlap, or are not in the order"),
        (_nothing_under_it, "'bare' is live, and no message is under it"),
        (_misplaced, "Line 4: message: “index” must be 2"),
        (_version_of_nobody, r"Line \d+: snippet_version: “snippet_id” names no snippet"),
        (_version_out_of_count, r"Line \d+: snippet_version: “number” must count"),
        (_step_of_nobody, r"Line \d+: undo_step: “snippet_id” names no snippet"),
        (_step_to_no_text, r"Line \d+: undo_step: “version” names no earlier text"),
        (_uncovered_elsewhere, r"Line \d+: undo_step: “covered” names a snippet that is not under"),
        (_uncovered_nobody, r"Line \d+: undo_step: “covered” names a snippet that is not under"),
        (_uncovered_beyond_the_end, r"Line \d+: undo_step: “covered” names messages beyond the end"),
    ],
)
async def test_what_does_not_hold_together_is_refused(
    content: bytes, other: Server, damage: Callable[[Lines], None], told: str
) -> None:
    """Whatever would break a promise, or refers to nothing, is said; nothing is imported."""
    lines: Lines = [json.loads(line) for line in content.splitlines()]
    damage(lines)
    with pytest.raises(InvalidRequest, match=told):
        taken_in(other, b"\n".join(json.dumps(line).encode() for line in lines))
    assert chats_of(other) == []
