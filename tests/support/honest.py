"""A model that says exactly what it read, so that texts show what they were made from, and a check that they do."""

import json
from collections.abc import Sequence, Set
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import Row, create_engine, text

from app.core.model import Usage
from app.core.summary import Summary, SummaryRequest
from tests.support.scripted import ScriptedModels


class HonestModels(ScriptedModels):
    """Answers a fold with the texts of its passage, as a JSON list, and a merge with a hash of those of its sources."""

    async def summarize(self, request: SummaryRequest) -> Summary:
        await super().summarize(request)
        texts = [line.text for line in request.passage]
        said = json.dumps(texts) if request.kind == "fold" else merged(texts)
        return Summary(said, len(said.split()), request.connection.name, "honest", Usage(1, 100, 10))


def merged(texts: Sequence[str]) -> str:
    """What is said of several snippets: texts that hold each other would double with every layer."""
    return sha256("\n".join(texts).encode()).hexdigest()


Rows = list[Row[*tuple[Any, ...]]]


def assert_truthful(database: Path, chat_id: str, pinned: Set[str | None] = frozenset()) -> None:
    """What no person wrote and is not stale says what is under it, and nothing else.

    `pinned`: what pinned messages ever said. It is context where it stands, and a snippet stays fresh without it.
    """
    engine = create_engine(f"sqlite:///{database}")
    with engine.connect() as connection:
        chat = {"chat": chat_id}
        mine = "chat_key = (SELECT key FROM chats WHERE id = :chat)"
        messages = list(connection.execute(text(f"SELECT * FROM messages WHERE {mine} ORDER BY position"), chat))
        found = list(connection.execute(text(f"SELECT * FROM snippets WHERE {mine}"), chat))
    engine.dispose()
    standing = _standing(found)
    for snippet in standing:
        if not snippet.edited and not snippet.stale:
            parts = [part for part in standing if part.parent_key == snippet.key]
            _assert_says(snippet, parts, messages, pinned)


def _standing(found: Rows) -> Rows:
    """Live snippets and their parts, through all layers."""
    level = [snippet for snippet in found if snippet.state == "live"]
    standing: Rows = []
    while level:
        standing += level
        keys = {snippet.key for snippet in level}
        level = [snippet for snippet in found if snippet.parent_key in keys]
    return standing


def _assert_says(snippet: Row[*tuple[Any, ...]], parts: Rows, messages: Rows, pinned: Set[str | None]) -> None:
    if parts:
        in_order = sorted(parts, key=lambda part: (-part.layer, part.position))
        assert snippet.text == merged([part.text for part in in_order]), f"snippet {snippet.key} is out of date"
        return
    said = json.loads(snippet.text)
    under = [message.content for message in messages if message.layered_leaf == snippet.key and not message.blank]
    assert [line for line in said if line in under] == under, f"snippet {snippet.key} lacks something"
    assert {line for line in said if line not in under} <= pinned, f"snippet {snippet.key} says too much"
