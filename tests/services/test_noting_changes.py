"""What is told of changes of chats, histories and settings: one row each, and none for what changes nothing."""

from collections.abc import AsyncIterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from app.core.model import Role
from app.errors import Conflict, NotFound
from app.services.recording import Draft
from app.services.syncing import Line
from app.store import events
from tests.support.table import Table, laid, turn_drafts

OURS = frozenset({"chat", "history", "settings"})
FIELDS: dict[str, Any] = {"provider": "openai", "base_url": "http://127.0.0.1:1/v1"}


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


class Told:
    """What is told after one look and before the next."""

    def __init__(self, table: Table) -> None:
        self._db, self._seen = table.server.db, 0
        self()

    def __call__(self) -> list[tuple[Any, ...]]:
        """Kind, reason and chat of each, and how many messages it speaks of."""
        with self._db.read() as session:
            stretch = events.of_all(session, self._seen, 1000)
        self._seen = stretch.through
        return [
            (one.kind, one.data["why"], *(one.data[name] for name in ("messages", "chat_id") if name in one.data))
            for one in stretch.found
            if one.kind in OURS
        ]


def lines(*drafts: Draft) -> list[Line]:
    return [Line(draft, frozenset()) for draft in drafts]


async def test_messages(table: Table) -> None:
    """Appending, changing, marking, deleting and restoring are told with how many messages there are then."""
    told = Told(table)
    editing, recovering = table.services.editing, table.services.recovering
    await table.say(1, 2)
    assert told() == [("chat", "created"), ("history", "append", 4)]
    await table.say(1, 2, 3)
    assert told() == [("history", "append", 6)]
    await table.say(1)
    assert told() == []
    for content in ("Other words.", "Other words."):
        editing.edit("c", "u2", {"content": content, "pinned": True})
    assert told() == [("history", "edit", 6)]
    for marks in ({"hidden": True}, {"extra": {"n": 1}}, {"hidden": True}):
        editing.edit("c", "a2", marks)
    assert told() == [("history", "mark", 6)] * 2
    editing.delete("c", "u1")
    recovering.restore("c", "u1")
    recovering.restore("c", "u2")
    assert told() == [("history", "delete", 5), ("history", "restore", 6), ("history", "restore", 6)]


async def test_refusals(table: Table) -> None:
    """What is refused has not happened."""
    await table.say(1)
    told = Told(table)
    changed = Draft(Role.USER, "Something else.", id="u1")
    with suppress(Conflict):
        await table.services.recording.append("c", [changed], "none", 0)
    with suppress(Conflict):
        table.services.syncing.sync("c", [])
    with suppress(NotFound):
        table.services.editing.delete("c", "none")
    with suppress(NotFound):
        table.services.connections.delete("none")
    assert told() == []


async def test_syncs(table: Table) -> None:
    """A sync is told once whatever it changes, be it an id alone; one that changes nothing is not."""
    told = Told(table)
    drafts = turn_drafts(1) + turn_drafts(2)
    sync = table.services.syncing.sync
    for _ in range(2):
        sync("c", lines(*drafts))
    assert told() == [("chat", "created"), ("history", "sync", 4)]
    renamed = Draft(Role.USER, drafts[0].content, id="other")
    for some in ([renamed, *drafts[1:]], drafts[2:], drafts[2:]):
        sync("c", lines(*some), allow_shrink=True)
    assert told() == [("history", "sync", 4), ("history", "sync", 2)]
    table.services.keeping.put("branch", {})
    sync("branch", lines(*drafts[2:]), parent_chat_id="c")
    assert told() == [("chat", "created"), ("history", "sync", 2)]
    table.services.branching.fork("c", "forked")
    assert told() == [("chat", "created"), ("history", "fork", 2)]


async def test_imports(table: Table) -> None:
    """A chat that is imported, in a format of others or our own, is created and has its messages."""
    await table.say(1)
    told = Told(table)
    tavern = b'{"user_name":"Mira","character_name":"Tom"}\n{"name":"Tom","is_user":false,"mes":"Ahoy."}\n'
    table.services.importing.load(BytesIO(tavern), chat_id="one", title=None, format=None)
    assert told() == [("chat", "created"), ("history", "import", 1)]


async def test_chats(table: Table) -> None:
    """A chat is created, changed by whoever sets, pauses, stops or resumes it, and deleted; the same again is none."""
    told = Told(table)
    keeping, steering = table.services.keeping, table.services.steering
    keeping.put("c", {"title": "The gates"})
    assert told() == [("chat", "created")]
    for fields in ({"title": "The gates"}, {"strategy": "rolling"}, {"settings": {"enabled": False}}, {}):
        keeping.patch("c", fields)
        keeping.put("c", fields)
    assert told() == [("chat", "changed")] * 2
    for act in (steering.pause, steering.pause, steering.stop, steering.stop):
        await act("c")
    assert told() == [("chat", "changed")] * 2
    steering.resume("c")
    steering.resume("c")
    assert told() == [("chat", "changed")]
    await keeping.delete("c")
    assert told() == [("chat", "deleted", "c")]


async def test_settings(table: Table) -> None:
    """Other server settings and connections are told, and belong to no chat."""
    told = Told(table)
    for _ in range(2):
        table.services.keeping.patch_settings({"paused": True})
    assert told() == [("settings", "settings")]
    put, delete = table.services.connections.put, table.services.connections.delete
    keys = (None, None, "brass", "brass", "iron")  # three of them are news
    for key in keys:
        put("near", FIELDS, keep_key=False, api_key=key)
    put("near", FIELDS, keep_key=True, api_key=None)
    assert told() == [("settings", "connections")] * 3
    for change in ({"timeout_s": 30.0}, {"timeout_s": 30.0}):
        put("near", {**FIELDS, **change}, keep_key=True, api_key=None)
    delete("near")
    delete("default")
    assert told() == [("settings", "connections")] * 2


async def test_a_skipped_backlog(table: Table) -> None:
    """Leaving a backlog as it is marks its messages."""
    table.settings(verbatim_turns=1, turns_per_batch=1)
    await table.say(*range(1, 60), fold="none")
    told = Told(table)
    assert table.services.steering.skip("c") > 0
    assert told() == [("history", "mark", 118)]
