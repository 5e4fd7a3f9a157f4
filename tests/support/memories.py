"""Chats with the memory of another program, and what an import made of them."""

import io
import json
from collections.abc import Sequence
from typing import Any, BinaryIO

from app.services.browsing import SnippetView
from app.services.importing import Imported
from tests.support.checks import assert_promises
from tests.support.table import Table

GHOST: dict[str, Any] = {"is_system": True, "extra": {"sc_ghosted": True}}


def line(index: int, **fields: Any) -> dict[str, Any]:
    """A line of Mira at even places, a reply of Tom at odd ones."""
    user = index % 2 == 0
    return {"name": "Mira" if user else "Tom", "is_user": user, "mes": f"This is line {index}.", **fields}


def file(store: Any, lines: Sequence[dict[str, Any] | bytes]) -> BinaryIO:
    """A chat's file, with this store in its header."""
    header = {"user_name": "Mira", "character_name": "Tom", "chat_metadata": {"summaryception": store, "note": 1}}
    records = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in [header, *lines]]
    return io.BytesIO(b"\n".join(records))


def chat(length: int, ghosts: int = 0) -> list[dict[str, Any]]:
    """So many lines, of which the first are ghosts."""
    return [line(index, **(GHOST if index < ghosts else {})) for index in range(length)]


def told(text: str, *span: int, **fields: Any) -> dict[str, Any]:
    """A snippet, over this range if there is one."""
    return {"text": text, **({"turnRange": list(span)} if span else {}), **fields}


def store(*layers: list[Any], through: Any = None, **fields: Any) -> dict[str, Any]:
    """The extension's store with these layers, the shallowest first."""
    return {"layers": list(layers), "summarizedUpTo": through, **fields}


def load(table: Table, stream: BinaryIO, memory: Any = None, chat_id: str = "c") -> Imported:
    """Import a chat's file, with a memory beside it if there is one."""
    beside = None if memory is None else io.BytesIO(json.dumps(memory).encode())
    return table.services.importing.load(stream, chat_id=chat_id, title=None, format=None, memory=beside)


def adopt(table: Table, memory: Any) -> Imported:
    """Import a memory into the chat."""
    return table.services.importing.adopt("c", io.BytesIO(json.dumps(memory).encode()))


def codes(imported: Imported) -> list[str]:
    """Which warnings there were."""
    return [warning.code for warning in imported.warnings]


def shown(table: Table, state: str = "live") -> list[SnippetView]:
    """The chat's snippets in a state."""
    return table.services.browsing.snippets(
        "c", layer=None, state=state, stale=None, degraded=None, offset=0, limit=1000
    )


def spans(table: Table) -> list[tuple[str, int, int, int]]:
    """Text, layer, first and last index of the live snippets."""
    return [(s.text, s.layer, s.covers.first_index, s.covers.last_index) for s in shown(table) if s.covers]


def assert_well(table: Table, verbatim_turns: int = 10, chat_id: str = "c") -> None:
    """The promises hold, and `repair` finds nothing."""
    assert_promises(table.database, chat_id, verbatim_turns)
    assert table.services.repairing.repair(chat_id) == []


WHOLE = store(
    [told("Storm.", 14, 19, timestamp=1767000000000), told("Ford.", 20, 25)],
    [told("Harrow.", 0, 6, promoted=True), told("Road.", mergedCount=3, fromLayer=0)],
    through=25,
    ghostedIndices=[0, 3],
)


def of_state(table: Table, state: str) -> list[Any]:
    """The messages in a state."""
    return table.services.recording.page("c", state=state, after=-1, limit=1000)


def extra_of(table: Table) -> dict[str, Any]:
    """What is kept of the file beyond our own fields."""
    with table.server.db.read() as session:
        found = session.connection().exec_driver_sql("SELECT extra FROM chats WHERE id = 'c'").scalar_one()
    extra: dict[str, Any] = json.loads(found)
    return extra
