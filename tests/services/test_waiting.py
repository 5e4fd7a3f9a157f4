"""The turns that wait, read by their sizes."""

from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.assembly import Server
from app.core.model import Role
from app.errors import Conflict
from app.services.reading import ChatState, read_head, read_state, require_chat
from app.services.recording import Draft
from app.services.waiting import read_waiting
from app.store.messages import set_skipped
from app.store.migrate import migrate
from tests.support.parts import assembled

Said = tuple[Role, str, str]

NAMES = count()
ROLES = st.sampled_from([Role.USER, Role.ASSISTANT, Role.ASSISTANT, Role.SYSTEM, Role.TOOL])
TEXTS = st.sampled_from(["Tom opens the gate.", "Mira asks.", " "])
MARKS = st.sampled_from(["", "", "", "", "hidden", "pinned", "omitted", "calls"])
HISTORIES = st.lists(st.tuples(ROLES, TEXTS, MARKS), min_size=100, max_size=140)
SMALL = {"on_backlog": "all", "layered": {"verbatim_turns": 1, "turns_per_batch": 1}}


@pytest.fixture
def server(tmp_path: Path) -> Server:
    server = assembled(tmp_path / "turnfold.db")
    migrate(server.db.engine)
    return server


def _draft(place: int, said: Said) -> Draft:
    role, text, mark = said
    calls = [{"id": f"c{place}", "function": {"name": "look", "arguments": "{}"}}]
    makes_calls = mark == "calls" and role is Role.ASSISTANT
    marks: dict[str, Any] = {mark: True} if mark in ("hidden", "pinned", "omitted") else {}
    return Draft(role, text, id=str(place), tool_calls=calls if makes_calls else None, **marks)


def _told(server: Server, history: list[Said], covered: tuple[int, int], skipped: range) -> str:
    """A chat with this history, a snippet by hand somewhere, and some messages skipped; its id."""
    name = f"c{next(NAMES)}"
    server.services.keeping.put(name, {"settings": SMALL})
    server.services.recording.store(name, [_draft(*said) for said in enumerate(history)], fold="none")
    with suppress(Conflict):
        server.services.revising.write(name, str(covered[0]), str(sum(covered)), "They talk.")
    with server.db.write() as session:
        uncovered = read_state(session, require_chat(session, name)).uncovered
        set_skipped(session, [message.key for message in uncovered if message.index in skipped])
    return name


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(HISTORIES, st.tuples(st.integers(0, 90), st.integers(0, 8)), st.integers(0, 90), st.integers(0, 6))
def test_the_head_and_the_rest_are_the_whole(
    server: Server, history: list[Said], covered: tuple[int, int], first: int, skips: int
) -> None:
    """A long backlog of which only the head is read whole has the same turns of the same sizes, whatever is in it."""
    chat = _told(server, history, covered, range(first, first + skips))
    with server.db.read() as session:
        whole, head = (read(session, require_chat(session, chat)) for read in (read_state, read_head))
        assert _rows(read_waiting(session, head, reopened=_reopened(whole))) == _rows(read_waiting(session, whole))


def _reopened(state: ChatState) -> int:
    """1 if the last reply ends no turn after all."""
    return sum(1 for message in state.view.open if message.closes)


def _rows(stretches: Any) -> list[Any]:
    return [(list(stretch.turns), stretch.preceded, stretch.followed, stretch.layer) for stretch in stretches]


def test_nothing_waits_where_nothing_folds(server: Server) -> None:
    """A chat whose strategy is none has no backlog, however long it is."""
    server.services.keeping.put("plain", {"strategy": "none"})
    lines = [_draft(place, (Role.ASSISTANT, "Tom opens the gate.", "")) for place in range(100)]
    server.services.recording.store("plain", lines, fold="none")
    assert server.services.reporting.status("plain").backlog.turns == 0


LONG = 1200


def test_a_long_backlog_is_told_as_if_it_were_read_anew(server: Server, tmp_path: Path) -> None:
    """While it folds, grows, and is changed, status says the same as a server that knows nothing of it yet."""
    chat = "long"
    server.services.keeping.put(chat, {"settings": {"on_backlog": "ask", "layered": {"turns_per_batch": 2}}})
    roles = (Role.USER, Role.ASSISTANT)
    for first, last in ((0, LONG), (LONG, LONG + 3)):
        drafts = [_draft(place, (roles[place % 2], "Tom opens the gate.", "")) for place in range(first, last)]
        server.services.recording.store(chat, drafts, fold="none")
        _same(server, tmp_path, chat)
    for first, last in ((0, 3), (4, 7), (8, 9)):  # the last one is half a batch
        server.services.revising.write(chat, str(first), str(last), "They talk.")
        _same(server, tmp_path, chat)
    server.services.editing.edit(chat, "700", {"content": "Tom opens the gate, and shuts it behind him."})
    server.services.editing.edit(chat, "900", {"hidden": True})
    _same(server, tmp_path, chat)
    with server.db.write() as session:
        uncovered = read_state(session, require_chat(session, chat)).uncovered
        set_skipped(session, [message.key for message in uncovered if 800 <= message.index < 804])
    _same(server, tmp_path, chat)


def _same(server: Server, folder: Path, chat: str) -> None:
    fresh = assembled(folder / "turnfold.db")
    for _ in range(2):
        told, anew = (one.services.reporting.status(chat).backlog for one in (server, fresh))
        tokens = anew.estimated_input_tokens
        assert told.estimated_input_tokens == pytest.approx(tokens, rel=0.02)  # real lines are other than guessed ones
        assert replace(told, estimated_input_tokens=tokens) == anew
    fresh.db.dispose()
