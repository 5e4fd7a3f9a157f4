"""What a database holds of a chat, for tests that compare it before and after something happened."""

import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Stored:
    """One chat's rows. Snippets by id, with what they cover: the ids of the messages under them; `earlier` are the
    texts they had before, by snippet id. `damage`: what SQLite itself finds wrong with the file.
    """

    chat: Row
    messages: list[Row]
    snippets: dict[str, Row]
    earlier: dict[str, list[str]]
    jobs: list[Row]
    events: list[Row]
    damage: list[str]

    @property
    def memory(self) -> list[tuple[object, ...]]:
        """What is remembered, without ids: the same for chats with the same fate."""
        found = self.snippets.values()
        texts = {one["key"]: one["text"] for one in found}
        columns = ("layer", "position", "state", "kind", "text", "stale", "degraded", "edited", "asked")
        return sorted(
            (*(one[name] for name in columns), texts.get(one["parent_key"], ""), *one["covers"]) for one in found
        )

    @property
    def told(self) -> Counter[str]:
        """How often what changes memory was told, by kind of event."""
        return Counter(event["kind"] for event in self.events if event["kind"] in ("summarized", "promoted"))

    @property
    def history(self) -> list[tuple[object, ...]]:
        """The messages, as a person knows them."""
        columns = ("id", "position", "role", "content", "hidden", "pinned", "omitted", "skipped")
        return [tuple(message[name] for name in columns) for message in self.messages]


def read_stored(database: Path, chat_id: str) -> Stored:
    """Everything of a chat; the database is closed, or nobody writes to it now."""
    with closing(sqlite3.connect(database)) as connection:
        connection.row_factory = sqlite3.Row
        chat = _rows(connection, "SELECT * FROM chats WHERE id = ?", (chat_id,))[0]
        of_chat = (chat["key"],)
        messages = _rows(connection, "SELECT * FROM messages WHERE chat_key = ? ORDER BY position", of_chat)
        snippets = _rows(connection, "SELECT * FROM snippets WHERE chat_key = ? ORDER BY key", of_chat)
        versions = _rows(connection, "SELECT * FROM snippet_versions ORDER BY key", ())
        jobs = _rows(connection, "SELECT * FROM jobs WHERE chat_key = ? ORDER BY key", of_chat)
        events = _rows(connection, "SELECT * FROM events WHERE chat_key = ? ORDER BY key", of_chat)
        damage = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        damage += [str(tuple(row)) for row in connection.execute("PRAGMA foreign_key_check")]
    for row in (chat, *snippets):
        row["usage"] = json.loads(row["usage"] or "{}")
    by_key = {snippet["key"]: snippet for snippet in snippets}
    for snippet in snippets:
        snippet["covers"] = [m["id"] for m in messages if _leads_to(m["layered_leaf"], snippet["key"], by_key)]
    earlier: dict[str, list[str]] = {snippet["id"]: [] for snippet in snippets}
    for version in versions:
        if version["snippet_key"] in by_key:
            earlier[by_key[version["snippet_key"]]["id"]].append(version["text"])
    return Stored(chat, messages, {one["id"]: one for one in snippets}, earlier, jobs, events, damage)


def copied(database: Path, folder: Path) -> Path:
    """A copy of a database with all that SQLite keeps beside it; looking at it changes nothing of the original."""
    folder.mkdir(exist_ok=True)
    for suffix in ("", "-wal", "-shm"):
        beside = folder / f"{database.name}{suffix}"
        beside.unlink(missing_ok=True)
        if (source := database.with_name(beside.name)).exists():
            shutil.copyfile(source, beside)
    return folder / database.name


def _rows(connection: sqlite3.Connection, query: str, values: Sequence[object]) -> list[Row]:
    return [dict(row) for row in connection.execute(query, values)]


def _leads_to(leaf: int | None, key: int, snippets: dict[int, Row]) -> bool:
    """Whether a message's leaf is a snippet, or absorbed by it through whatever layers."""
    while leaf is not None and leaf != key:
        leaf = snippets[leaf]["parent_key"]
    return leaf is not None
