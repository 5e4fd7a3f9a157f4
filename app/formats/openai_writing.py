"""A chat as messages of the chat-completions format: the history as it was said, without memory."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from app.formats.given import GivenMessage

_MAX_NAME_CHARS = 64


def write_openai(messages: Iterable[GivenMessage]) -> Iterator[str]:
    """The pieces of a JSON text `{"messages": […]}`.

    Ghosted messages are there: this is the history, not a prompt. Hidden and omitted ones are not: nobody is to be sent
    them.
    """
    yield '{"messages": ['
    before = "\n"
    for message in messages:
        if not (message.hidden or message.omitted):
            yield before + json.dumps(_fields(message), ensure_ascii=False)
            before = ",\n"
    yield "\n]}\n"


def is_legal_name(name: str) -> bool:
    """Whether the chat-completions format takes it as a name: 1–64 letters, digits, `_` and `-`."""
    return 1 <= len(name) <= _MAX_NAME_CHARS and all(c.isascii() and (c.isalnum() or c in "_-") for c in name)


def _fields(message: GivenMessage) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": message.role.value, "content": message.content}
    if message.name is not None and is_legal_name(message.name):
        fields["name"] = message.name
    if message.tool_calls:
        fields["tool_calls"] = message.tool_calls
    if message.tool_call_id is not None:
        fields["tool_call_id"] = message.tool_call_id
    return fields
