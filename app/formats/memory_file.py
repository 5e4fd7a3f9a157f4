"""A memory that comes in a file of its own, or in the first line of a chat's."""

from collections.abc import Mapping
from typing import Any

from app.errors import InvalidRequest
from app.formats.decoding import ByteSource, decoded
from app.formats.lenient_json import BrokenJson, JsonCursor, storable
from app.formats.parsed import ParsedMemory, WarningLog
from app.formats.summaryception import STORE_KEY, is_store, read_store

_READ = (
    "an export of the Summaryception extension or of one of its forks (a JSON object with “layers”), a SillyTavern "
    "chat (.jsonl) whose first line holds the memory, and a group's .json"
)
_NAME_CHARS = 60


def open_memory(stream: ByteSource, log: WarningLog) -> ParsedMemory:
    """The memory in a seekable stream, of which only the first JSON value is read.

    Raises InvalidRequest if there is none. One that leaves open which memory is meant gives none and a warning.
    """
    try:
        value, source = JsonCursor(decoded(stream)).value()
        value, replaced = storable(value, source)
    except BrokenJson as error:
        raise InvalidRequest(f"The memory's file cannot be read: {error}. What can be read: {_READ}.") from error
    memory = find_memory(value, log) if isinstance(value, dict) else None
    if memory is None:
        raise InvalidRequest(f"There is no memory in the memory's file. What can be read: {_READ}.")
    if replaced:
        log.add("replaced_characters", "The memory holds characters that are no text; they became U+FFFD.")
    return memory


def find_memory(fields: Mapping[str, Any], log: WarningLog) -> ParsedMemory | None:
    """The memory in a store, in a chat's first line or in a group's file; None if there is none."""
    for place in (_object(fields.get("chat_metadata")), fields):
        if place.get(STORE_KEY) is not None:
            return _stored(place[STORE_KEY], log)
    if is_store(fields):
        return read_store(fields, log)
    return _past_memory(_object(fields.get("past_metadata")), log)


def _stored(store: object, log: WarningLog) -> ParsedMemory | None:
    if isinstance(store, dict):
        return read_store(store, log)
    log.add("unreadable_memory", f"The chat's metadata has a “{STORE_KEY}” that is no memory.")
    return None


def _past_memory(past: Mapping[str, Any], log: WarningLog) -> ParsedMemory | None:
    """The memory of a group's earlier chats, if one of them alone has one."""
    stores = {name: _object(metadata).get(STORE_KEY) for name, metadata in past.items()}
    found = {name: store for name, store in stores.items() if isinstance(store, dict)}
    if len(found) == 1:
        return read_store(next(iter(found.values())), log)
    if found:
        names = ", ".join(f"“{name[:_NAME_CHARS]}”" for name in list(found)[:10])
        log.add(
            "several_memories",
            f"The group's file holds the memories of {len(found)} chats ({names}), and none was taken: open the chat "
            "in SillyTavern, so that it is the group's present one, and take the file then.",
        )
        return ParsedMemory()
    return None


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
