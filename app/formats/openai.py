"""Messages of the chat-completions format: a bare array, or a request body with `messages`."""

from collections import deque
from collections.abc import Iterator
from typing import Any, TextIO

from app.core.limits import is_too_long
from app.core.model import Role
from app.errors import InvalidRequest
from app.formats.lenient_json import BrokenJson, JsonCursor, storable
from app.formats.parsed import ParsedChat, ParsedMessage, WarningLog, usable_id

MESSAGES_KEY = "messages"

_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}


class _Unreadable(ValueError):
    """An element that is no message. The message says why, as the end of a sentence."""


def read_openai(text: TextIO, log: WarningLog) -> ParsedChat:
    """The messages of a JSON text. Raises InvalidRequest if it has none; what else is wrong is a warning."""
    cursor = JsonCursor(text)
    try:
        found = _enter(cursor)
    except BrokenJson as error:
        raise InvalidRequest(f"The file cannot be read as OpenAI messages: {error}.") from error
    if not found:
        raise InvalidRequest("The file holds neither an array of messages nor an object with “messages”.")
    return ParsedChat(messages=_Reader(log).messages(cursor), warnings=log.entries)


def _enter(cursor: JsonCursor) -> bool:
    """Put the cursor before the array of messages, if there is one."""
    if cursor.peek() == "{":
        for key in cursor.each_key():
            if key == MESSAGES_KEY:
                break
        else:
            return False
    return cursor.peek() == "["


class _Reader:
    """One pass over the messages, with what it has to remember on the way."""

    def __init__(self, log: WarningLog) -> None:
        self._log = log
        self._calls = _ToolCalls()
        self._parts_left_out = 0

    def messages(self, cursor: JsonCursor) -> Iterator[ParsedMessage]:
        position = 0
        try:
            for position, (value, source) in enumerate(cursor.each_element(), 1):
                message = self._try(position, value, source)
                if message:
                    yield message
        except BrokenJson as error:
            self._log.summarize("cut_short", f"Reading ended after message {position}: {error}.")
        if self._parts_left_out:
            self._log.summarize(
                "parts_left_out",
                f"{self._parts_left_out} parts of messages are not text (images, audio, files): they are kept in "
                "`extra`, but no model will see them.",
            )

    def _try(self, position: int, value: Any, source: str) -> ParsedMessage | None:
        try:
            fields, replaced = storable(value, source)
            message = self._message(position, fields)
        except (BrokenJson, _Unreadable) as error:
            self._log.add("unreadable_message", f"Message {position} was skipped: {error}.")
            return None
        if replaced:
            self._log.add(
                "replaced_characters", f"Message {position} holds characters that are no text; they became U+FFFD."
            )
        return message

    def _message(self, position: int, fields: Any) -> ParsedMessage:
        if not isinstance(fields, dict):
            raise _Unreadable("it is no JSON object")
        rest = {key: value for key, value in fields.items() if value is not None}
        role = _role(rest.pop("role", None))
        content, other_parts = _content(rest.pop("content", None))
        calls = self._calls.made(position, rest) if role is Role.ASSISTANT else None
        answers = self._calls.answered(rest) if role is Role.TOOL else None
        if "tool_calls" in rest:
            self._log.add("unreadable_tool_calls", f"Message {position} has tool calls that are none; see its `extra`.")
        if other_parts:
            self._parts_left_out += len(other_parts)
            rest["content_parts"] = other_parts
        return ParsedMessage(
            role=role,
            content=content if content is not None or calls else "",
            name=_taken(rest, "name"),
            id=usable_id(rest.get("id")) and rest.pop("id"),
            tool_calls=calls,
            tool_call_id=answers,
            extra=rest,
            file_index=position - 1,
        )


class _ToolCalls:
    """Gives an id to calls and answers that have none (the old `function_call`, Ollama), in order."""

    def __init__(self) -> None:
        self._waiting: deque[str] = deque()

    def made(self, position: int, fields: dict[str, Any]) -> list[dict[str, Any]] | None:
        """The calls of an assistant message, taken out of its fields; ones that are no calls stay there."""
        if isinstance(fields.get("function_call"), dict) and not fields.get("tool_calls"):
            fields["tool_calls"] = [{"type": "function", "function": fields.pop("function_call")}]
        calls = fields.get("tool_calls")
        if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
            return None
        del fields["tool_calls"]
        named = [
            call if isinstance(call.get("id"), str) and call["id"] else {**call, "id": f"call-{position}-{number}"}
            for number, call in enumerate(calls, 1)
        ]
        self._waiting = deque(call["id"] for call in named)
        return named or None

    def answered(self, fields: dict[str, Any]) -> str | None:
        """The id of the call a tool message answers: its own word, else the oldest call still unanswered."""
        given = _taken(fields, "tool_call_id")
        if given is None:
            return self._waiting.popleft() if self._waiting else None
        if given in self._waiting:
            self._waiting.remove(given)
        return given


def _role(value: object) -> Role:
    role = _ROLES.get(value) if isinstance(value, str) else None
    if role is None:
        raise _Unreadable("it has no role this format knows")
    return role


def _content(value: object) -> tuple[str | None, list[Any]]:
    """The text of a message, and those of its parts that are none."""
    parts = value if isinstance(value, list) else []
    texts = [part["text"] for part in parts if _is_text(part)]
    text = "\n".join(texts) if isinstance(value, list) else value
    if text is not None and not isinstance(text, str):
        raise _Unreadable("its content is neither text nor a list of parts")
    if text and is_too_long(text):
        raise _Unreadable("its text is longer than 1 MiB")
    return text, [part for part in parts if not _is_text(part)]


def _is_text(part: object) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str)


def _taken(fields: dict[str, Any], key: str) -> str | None:
    """A text field, taken out of the others; anything but a text stays there."""
    value = fields.get(key)
    if value is None or value == "":
        fields.pop(key, None)
        return None
    return fields.pop(key) if isinstance(value, str) else None
