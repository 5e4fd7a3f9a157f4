"""POST import: a chat from a file, token counts included, against inserting the same rows with nothing around it."""

import sqlite3
from collections.abc import Sized
from contextlib import closing
from functools import partial

from bench.figures import Aim, Figure
from bench.measuring import quotients, seconds, spread
from bench.prose import LINE_CHARS, as_file, messages
from bench.session import Session

_ROUNDS = 5


def importing(session: Session) -> list[Figure]:
    """Messages a second, from the first byte of the request to the answer after the commit."""
    count = session.scale.imported
    file = as_file(messages(count))
    ours, floor = [], []
    with session.serve("import") as server:
        server.ask("POST", "/v1/import?chat_id=warm-up", as_file(messages(10)))
        for number in range(_ROUNDS):
            asked = partial(server.ask, "POST", f"/v1/import?chat_id=i{number}", file)
            ours.append(count / seconds(asked))
            floor.append(count / _plain(session, number))
    return [
        Figure(
            scenario="import",
            what=f"POST import of {count:,} messages of {LINE_CHARS} characters",
            unit="msg/s",
            value=spread(ours),
            floor_name="executemany of the same rows",
            floor=spread(floor),
            ratio=quotients(ours, floor),
            aim=Aim("value", "at least", 15_000),
        )
    ]


def _plain(session: Session, number: int) -> float:
    """Seconds for `executemany` of the rows that the import stored, into the same tables but without the index."""
    source, target = session.folder / "import.db", session.database(f"plain-{number}")
    with closing(sqlite3.connect(source)) as stored:
        columns = [row[1] for row in stored.execute("PRAGMA table_info(messages)")]
        key = stored.execute("SELECT key FROM chats WHERE id = ?", (f"i{number}",)).fetchone()[0]
        chat = stored.execute("SELECT * FROM chats WHERE key = ?", (key,)).fetchone()
        rows = stored.execute("SELECT * FROM messages WHERE chat_key = ? ORDER BY position", (key,)).fetchall()
    with closing(sqlite3.connect(target)) as plain:
        plain.execute("PRAGMA journal_mode = WAL")
        plain.execute("PRAGMA synchronous = FULL")
        for (trigger,) in plain.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            plain.execute(f"DROP TRIGGER {trigger}")
        plain.execute(f"INSERT INTO chats VALUES ({_marks(chat)})", chat)
        plain.commit()
        insert = f"INSERT INTO messages VALUES ({_marks(columns)})"

        def run() -> None:
            plain.executemany(insert, rows)
            plain.commit()

        return seconds(run)


def _marks(values: Sized) -> str:
    return ", ".join("?" * len(values))
