"""Whatever a memory's file says, an import keeps every promise: damaged stores, on a real database."""

import io
import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.assembly import Server
from app.core.model import Role
from app.services.recording import Draft
from app.store.migrate import migrate
from tests.support.checks import assert_promises
from tests.support.parts import assembled

_NUMBERS = count()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that folds nothing by itself: what an import left is looked at as it was left."""
    server = assembled(tmp_path_factory.mktemp("adopting") / "turnfold.db")
    migrate(server.db.engine)
    server.services.keeping.patch_settings({"paused": True, "layered": {"verbatim_turns": 3}})
    yield server
    server.db.dispose()


def database(server: Server) -> Path:
    return Path(str(server.db.engine.url.database))


numbers = st.integers(-4, 34)
odd: st.SearchStrategy[Any] = st.sampled_from([None, "x", True, 3.5, [], {}])
snippets = st.fixed_dictionaries(
    {"text": st.sampled_from(["Mira comes.", "Tom goes.", "The gate is shut.", ""])},
    optional={
        "turnRange": st.lists(numbers, min_size=2, max_size=2) | odd,
        "mergedCount": st.integers(0, 4) | odd,
        "sourceMessageIds": st.lists(numbers.map(lambda number: f"m{number}"), max_size=6) | odd,
        "promoted": st.booleans(),
    },
)
stores = st.fixed_dictionaries(
    {"layers": st.lists(st.lists(snippets | st.none(), max_size=5) | odd, max_size=4) | odd},
    optional={
        "summarizedUpTo": numbers | odd,
        "ghostedIndices": st.lists(numbers, max_size=8) | odd,
        "ghostedMessageIds": st.lists(numbers.map(lambda number: f"m{number}"), max_size=8) | odd,
    },
)
lines = st.fixed_dictionaries(
    {
        "mes": st.sampled_from(["Who goes there?", "A friend.", "", " "]),
        "is_user": st.booleans(),
        "is_system": st.sampled_from([False, False, True]),
        "extra": st.sampled_from([{}, {}, {"sc_ghosted": True}, {"type": "narrator"}, {"type": "comment"}, None]),
    }
)
chats = st.lists(lines | st.just(None), min_size=1, max_size=30)


def chat_file(store: Any, chat: list[dict[str, Any] | None]) -> io.BytesIO:
    """Lines of a file; None is a broken one. Message i bears the id mi."""
    header = json.dumps({"user_name": "Mira", "chat_metadata": {"summaryception": store}})
    records = [header, json.dumps({"mes": "Stand.", "is_user": True})]
    for number, line in enumerate(chat, 1):
        extra = {"sc_id": f"m{number}", **(line["extra"] or {})} if line else {}
        records.append(json.dumps({**line, "extra": extra}) if line else "{broken")
    return io.BytesIO("\n".join(records).encode())


def assert_well(server: Server, chat_id: str) -> None:
    """Promises 1 and 2, and what `repair` looks for, the window included."""
    assert_promises(database(server), chat_id, 2)
    assert server.services.repairing.repair(chat_id) == []


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(store=stores, chat=chats, later=stores)
def test_promises_hold_after_any_import(
    server: Server, store: Any, chat: list[dict[str, Any] | None], later: Any
) -> None:
    """A chat with any memory, then any other memory into it: each snippet is taken or told, and nothing is broken."""
    chat_id = f"c{next(_NUMBERS)}"
    imported = server.services.importing.load(chat_file(store, chat), chat_id=chat_id, title=None, format=None)
    assert_well(server, chat_id)
    before = server.services.reporting.status(chat_id)
    assert before.memory_version == (1 if imported.snippets else 0)
    adopted = server.services.importing.adopt(chat_id, io.BytesIO(json.dumps(later).encode()))
    assert_well(server, chat_id)
    after = server.services.reporting.status(chat_id)
    assert after.memory_version == before.memory_version + (1 if adopted.snippets else 0)
    server.services.recording.store(chat_id, [Draft(Role.USER, "And now?"), Draft(Role.ASSISTANT, "Now.")], fold="none")
    assert_well(server, chat_id)
