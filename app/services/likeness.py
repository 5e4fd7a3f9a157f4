"""What stored messages and those of a frontend say, in a form in which both can be compared."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from app.core.alignment import Said
from app.services.recording import Draft
from app.store.history import Row


def said_all(rows: Sequence[Row]) -> list[Said]:
    """What stored messages say."""
    return [Said(row["id"], row["role"], row["name"], text(row)) for row in rows]


def given_all(drafts: Sequence[Draft]) -> list[Said]:
    """What a frontend's messages say."""
    return [Said(draft.id, draft.role.value, draft.name, text_of(draft)) for draft in drafts]


def is_same(row: Row, draft: Draft) -> bool:
    """Whether a stored message says what a draft does; a name that is not given is any."""
    named = draft.name is None or row["name"] is None or draft.name == row["name"]
    return named and row["role"] == draft.role.value and text(row) == text_of(draft)


def text(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The text of a stored message, with its tool calls or what it answers."""
    return _comparable(row["content"], row["tool_calls"], row["tool_call_id"])


def text_of(draft: Draft) -> tuple[str, ...]:
    """The same of a draft."""
    return _comparable(draft.content, draft.tool_calls, draft.tool_call_id)


def _comparable(content: str | None, calls: list[dict[str, Any]] | None, answers: str | None) -> tuple[str, ...]:
    if not calls and answers is None:
        return (content or "",)
    return content or "", json.dumps(calls or [], sort_keys=True), answers or ""
