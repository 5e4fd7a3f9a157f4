"""Counts by the database against counts by Python, on messages of every kind."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlmodel import Session

from app.store import chats, counting, messages
from app.store.counting import Counts
from app.store.engine import Database
from app.store.migrate import migrate
from tests.support.rows import LAYERED, add_chat, add_snippet, keys_at, message

Line = dict[str, Any]
FLAGS = ("hidden", "omitted", "pinned", "skipped")
NOTHING: Line = dict.fromkeys(("covered", *FLAGS), False)


@st.composite
def line(draw: st.DrawFn) -> Line:
    """A message: covered, or with any flags."""
    covered = draw(st.booleans())
    role = draw(st.sampled_from(["user", "assistant", "system", "tool"]))
    return {
        **({"covered": covered} if covered else {flag: draw(st.booleans()) for flag in FLAGS}),
        "role": role,
        "closes": role == "assistant" and draw(st.booleans()),
        "tokens": draw(st.integers(0, 50)),
        "call_tokens": draw(st.integers(0, 9)),
        "name": draw(st.sampled_from([None, None, "Mira", "Tom", "Ines", ""])),
    }


LINES = st.lists(line().map(lambda line: {**NOTHING, **line}), max_size=12)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """One database for all examples: each has a chat of its own, so neighbours are never counted either."""
    database = Database(f"sqlite:///{tmp_path_factory.mktemp('counting') / 'turnfold.db'}")
    migrate(database.engine)
    yield database
    database.dispose()


def fill(session: Session, lines: list[Line]) -> int:
    """A new chat of these messages; its key."""
    chat = add_chat(session, str(uuid4()))
    rows = [{name: value for name, value in line.items() if name != "covered"} for line in lines]
    messages.insert_many(session, [message(chat.key, place, **row) for place, row in enumerate(rows)])
    covered = [place for place, line in enumerate(lines) if line["covered"]]
    if covered:
        messages.cover(session, keys_at(session, chat.key, covered), LAYERED, add_snippet(session, chat.key, 0, 0))
    return chat.key


def shown(line: Line) -> bool:
    return not (line["hidden"] or line["omitted"])


def counted(lines: list[Line]) -> Counts:
    """The counts, one by one."""
    closing = [line for line in lines if line["closes"] and shown(line)]
    return Counts(
        messages=len(lines),
        ghosted=sum(line["covered"] for line in lines),
        hidden=sum(line["hidden"] for line in lines),
        omitted=sum(line["omitted"] and not line["hidden"] for line in lines),
        pinned=sum(line["pinned"] for line in lines),
        raw_tokens=sum(line["tokens"] for line in lines if not line["hidden"]),
        ghosted_tokens=sum(line["tokens"] for line in lines if line["covered"]),
        closing=len(closing),
        skipped=sum(line["skipped"] for line in closing),
    )


@given(lines=LINES)
def test_counts_by_state(shared: Database, lines: list[Line]) -> None:
    """Messages and tokens of each state are as many as there are; with no strategy nothing is ghosted."""
    bare = [{**line, "covered": False} for line in lines]
    with shared.write() as session:
        key = fill(session, lines)
        assert counting.counts(session, key, "layered") == counted(lines)
        assert counting.counts(session, key, "none") == counted(bare)


@given(lines=LINES, index=st.integers(-1, 12), most=st.integers(1, 5))
def test_counts_after_a_place(shared: Database, lines: list[Line], index: int, most: int) -> None:
    """After a place are as many uncovered messages as there are, and as many turns, covered or not."""
    rest = [line for line in lines[index + 1 :] if not line["covered"]]
    turns = [line for line in rest if line["closes"] and shown(line)]
    later = [line for line in lines[index + 1 :] if line["closes"] and shown(line)]
    able = [line for line in turns if not (line["skipped"] or line["pinned"])]
    with shared.write() as session:
        key = fill(session, lines)
        assert counting.count_uncovered_after(session, key, "layered", index) == (len(rest), len(able))
        assert counting.count_some_after(session, key, "layered", index, most) == min(most, len(able))
        assert counting.count_turns_after(session, key, index, most) == min(most, len(later))


@given(
    lines=LINES,
    user=st.sampled_from(["Mira", "You"]),
    assistant=st.sampled_from(["Tom", "Model"]),
    unseen=st.sets(st.sampled_from(["Mira", "Tom", "Ines", "Model"])),
    most=st.integers(1, 5),
)
def test_speakers(shared: Database, lines: list[Line], user: str, assistant: str, unseen: set[str], most: int) -> None:
    """Every name of a user's or assistant's message that is sent; who bears none goes by the name of the role."""
    by_role = {"user": user, "assistant": assistant}
    spoken = [line for line in lines if shown(line) and line["role"] in by_role]
    names = {line["name"] if line["name"] is not None else by_role[line["role"]] for line in spoken} - unseen
    with shared.write() as session:
        key = fill(session, lines)
        assert counting.count_speakers(session, key, user, assistant, most, unseen) == min(most, len(names))


@given(lines=LINES)
def test_all_messages(shared: Database, lines: list[Line]) -> None:
    """Positions are contiguous, so the last one says how many messages there are."""
    with shared.write() as session:
        key = fill(session, lines)
        assert chats.count_messages(session, key) == len(lines)
        assert chats.surroundings(session, key)[0] == len(lines)
