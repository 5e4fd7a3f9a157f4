"""SillyTavern's chat files, written: the header, then a JSON object a line.

What an import kept of a SillyTavern file is said again; what has changed since is what is stored now.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from app.core.model import Role
from app.formats.given import GivenChat, GivenMessage
from app.formats.sillytavern_marks import MARKS, Marks, write_marks
from app.formats.summaryception import STORE_KEY

_KEPT = "sillytavern"
_METADATA, _GHOSTED = "chat_metadata", "sc_ghosted"
_NO_NAME = "unused"
# What is derived here from chat and message; nothing that was kept may stand in its place.
_DERIVED_OF_CHAT = frozenset({"user_name", "character_name", "create_date", _METADATA})
_DERIVED = frozenset({"name", "is_user", "is_system", "send_date", "mes", "extra"})
_NOTES = frozenset({"narrator", "comment"})
_FALLBACKS = {Role.USER: "User", Role.ASSISTANT: "Assistant", Role.SYSTEM: "System", Role.TOOL: "Tool"}


def write_sillytavern(
    chat: GivenChat, memory: Mapping[str, Any] | None, messages: Iterable[GivenMessage]
) -> Iterator[str]:
    """The lines of a file, each with its end; one for every message, so that indices are the same.

    `memory` is the store of the Summaryception extension (summaryception_writing), None where there is no memory.
    """
    yield _line(_header(chat, memory))
    for message in messages:
        yield _line(_fields(chat, message))


def _line(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False) + "\n"


def _header(chat: GivenChat, memory: Mapping[str, Any] | None) -> dict[str, Any]:
    kept = _object(chat.extra.get(_KEPT))
    metadata = _without(_object(kept.get(_METADATA)), {STORE_KEY, MARKS})
    names = {"title": chat.title, "user_name": chat.user_name, "character_name": chat.character_name}
    if any(names.values()) and not kept:
        # SillyTavern writes its own names into the header when it saves a chat, and messages that came from elsewhere
        # may have none of their own; these it leaves alone.
        metadata[MARKS] = {key: name for key, name in names.items() if name}
    if memory is not None:
        metadata[STORE_KEY] = memory
    return {
        "user_name": chat.user_name or _NO_NAME,
        "character_name": chat.character_name or _NO_NAME,
        "create_date": kept.get("create_date") or _iso(chat.created_at),
        **_without(kept, _DERIVED_OF_CHAT),
        _METADATA: metadata,
    }


def _fields(chat: GivenChat, message: GivenMessage) -> dict[str, Any]:
    kept = _object(message.extra.get(_KEPT))
    sent = kept.get("send_date")
    text = message.content or ""
    return {
        "name": message.name or _speaker(chat, message.role),
        "is_user": message.role is Role.USER,
        "is_system": message.hidden or message.omitted or message.ghosted,
        "send_date": _iso(message.created_at) if sent is None else sent,
        "mes": text,
        **_without(kept, _DERIVED),
        **_swipes(kept, text),
        "extra": _extra(chat, message, _object(kept.get("extra"))),
    }


def _speaker(chat: GivenChat, role: Role) -> str:
    names = {Role.USER: chat.user_name, Role.ASSISTANT: chat.character_name}
    return names.get(role) or _FALLBACKS[role]


def _swipes(kept: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The swipes with the chosen one as the message is now: another was chosen, or it was edited."""
    swipes, chosen = kept.get("swipes"), kept.get("swipe_id")
    if not isinstance(swipes, list) or not swipes:
        return {}
    place = chosen if isinstance(chosen, int) and 0 <= chosen < len(swipes) else len(swipes)
    if swipes[place : place + 1] == [text]:
        return {}
    if text in swipes:
        return {"swipe_id": swipes.index(text)}
    return {"swipes": [*swipes[:place], text, *swipes[place + 1 :]], "swipe_id": place}


def _extra(chat: GivenChat, message: GivenMessage, raw: Mapping[str, Any]) -> dict[str, Any]:
    extra = _without(raw, {_GHOSTED, MARKS})
    note = extra.get("type") if isinstance(extra.get("type"), str) else None
    if message.role in (Role.SYSTEM, Role.TOOL):
        # What a narrator says is sent to a model in the system role: no speaker of the chat said it.
        extra["type"] = note if note in _NOTES else "narrator"
    elif note in _NOTES and message.role is Role.ASSISTANT:
        del extra["type"]
    if message.ghosted:
        extra[_GHOSTED] = True
    marks = write_marks(_marks(chat, message, _marked_id(message, raw)))
    return {**extra, MARKS: marks} if marks else extra


def _marked_id(message: GivenMessage, raw: Mapping[str, Any]) -> str | None:
    """The id that the extension shall know it by. A file that came without ids goes without them."""
    return message.id if MARKS in raw or _KEPT not in message.extra else None


def _marks(chat: GivenChat, message: GivenMessage, own_id: str | None) -> Marks:
    return Marks(
        id=own_id,
        role="tool" if message.role is Role.TOOL else None,
        wordless=message.content is None,
        given_name=None if message.name else _speaker(chat, message.role),
        pinned=message.pinned,
        omitted=message.omitted,
        hidden=message.hidden and message.omitted,
        tool_calls=message.tool_calls,
        tool_call_id=message.tool_call_id,
        extra=_without(message.extra, {_KEPT}),
    )


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _without(fields: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
