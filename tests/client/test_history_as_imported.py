"""The extension sends of a message what the server's importer makes of it."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.formats.parsed import ParsedMessage, WarningLog
from app.formats.sillytavern import read_sillytavern
from tests.support.javascript import CLIENT, run

FIELDS = ("role", "name", "content", "hidden", "history", "pinned", "created_at", "tool_calls", "tool_call_id")
CALLS = [{"id": "call-1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
DATES: list[Any] = [
    "April 26, 2024 6:06am",
    "June 3, 2023 12:15pm",
    "2024-04-26 @06h 06m 12s 123ms",
    "2024-4-6@6h6m",
    "2024-04-26T06:06:12.123Z",
    "2024-04-26T06:06:12.5+05:30",
    "2024-04-26 06:06",
    "2024-04-26",
    1714111572000,
    1714111572,
    "1714111572.25",
    "yesterday",
    "2023-02-29",
    True,
    None,
]
ODDITIES: list[dict[str, Any]] = [
    {"is_user": True, "name": "Mira"},
    {"is_system": True},
    {"is_system": True, "extra": {"sc_ghosted": True}},
    {"extra": {"type": "narrator"}},
    {"is_user": False, "extra": {"type": "comment"}, "is_system": True},
    {"extra": {"type": "help"}, "is_system": True},
    {"name": "  "},
    {"name": "\x1c\x85"},
    {"name": "\ufeff"},
    {"name": 7},
    {"mes": None, "swipes": ["first", "second"], "swipe_id": 1},
    {"mes": None, "swipes": ["first"], "swipe_id": 3},
    {"mes": ""},
    {"mes": "nul \x00, half \ud83d a pair, whole 🜂"},
    {"mes": "", "extra": {"turnfold": {"wordless": True, "tool_calls": CALLS}}},
    {"extra": {"turnfold": {"role": "tool", "tool_call_id": "call-1", "given_name": "Tool"}}, "name": "Tool"},
    {"extra": {"turnfold": {"history": "omit"}}, "is_system": True},
    {"extra": {"turnfold": {"history": "omit", "hidden": True, "pinned": True}}, "is_system": True},
    {"extra": []},
    {"extra": None, "is_user": 1},
]


def lines() -> list[dict[str, Any]]:
    """Messages as SillyTavern writes them, of every kind that matters."""
    plain = {"name": "Anna", "is_user": False, "is_system": False, "mes": "Well met."}
    dated = [{**plain, "send_date": date} for date in DATES]
    return [*dated, *({**plain, "send_date": DATES[4], **odd} for odd in ODDITIES)]


def as_imported(path: Path) -> list[dict[str, Any]]:
    """What the importer makes of a file."""
    with path.open(encoding="utf-8") as text:
        return [_shown(message) for message in read_sillytavern(text, WarningLog()).messages]


def _shown(message: ParsedMessage) -> dict[str, Any]:
    shown = {name: getattr(message, name, None) for name in FIELDS}
    return {**shown, "role": message.role.value, "history": "omit" if message.omitted else "keep"}


def as_sent(node: str, path: Path) -> list[dict[str, Any]]:
    """What the extension sends of it."""
    done = run(node, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", CLIENT / "history.mjs", path)
    assert done.returncode == 0, done.stderr
    sent: list[dict[str, Any]] = json.loads(done.stdout)
    return [{**{name: line.get(name) for name in FIELDS}, **_read(line)} for line in sent]


def _read(line: dict[str, Any]) -> dict[str, Any]:
    at = line.get("created_at")
    moment = datetime.fromisoformat(at).astimezone(UTC) if at else None
    return {"created_at": moment, "history": line.get("history", "keep"), "pinned": line.get("pinned", False)}


def test_sent_as_imported(node: str, tmp_path: Path) -> None:
    """Role, name, text, marks and time of every message are the same, whichever way the chat comes to the server."""
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in [{"chat_metadata": {}}, *lines()]), encoding="utf-8")
    imported = as_imported(path)
    assert len(imported) == len(lines()) - 1
    assert as_sent(node, path) == imported
