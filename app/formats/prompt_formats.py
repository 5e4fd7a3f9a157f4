"""A prompt as chat-completions messages, as Anthropic's Messages API takes it, or as one plain text."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from app.formats.openai_writing import is_legal_name

Format = Literal["openai", "anthropic", "text"]
Json = dict[str, Any]

OPENING = "(The conversation begins.)"
"""What Anthropic's API is given as the user's first message where the chat begins with another's."""

_ILLEGAL_ID = re.compile(r"[^A-Za-z0-9_-]")


class Said(NamedTuple):
    """A message of a prompt. `speaker` says whose line it is in a plain text, `name` what a `name` field would hold."""

    role: str
    content: str | None
    name: str | None = None
    tool_calls: Sequence[Mapping[str, Any]] | None = None
    tool_call_id: str | None = None
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """A prompt in one format. `system` only where the format keeps it apart, `text` only where it is one text."""

    messages: list[Json]
    system: str | list[Json] | None = None
    text: str | None = None


def write_prompt(said: Sequence[Said], format: Format) -> Written:
    """The prompt in a format; `name` is written where the format has such a field and the name is legal in it."""
    if format == "anthropic":
        return _anthropic(said)
    if format == "text":
        text = "\n".join(text_line(one) for one in said)
        return Written([{"role": "user", "content": text}] if said else [], text=text)
    return Written([_openai(one) for one in _results_at_calls(said)])


def needs_opening(said: Sequence[Said]) -> bool:
    """Whether the user's first message has to be made up: Anthropic's API refuses a prompt that begins otherwise."""
    spoken = _results_at_calls(said[system_end(said) :])  # as it will be written: results move, what is blank goes
    first = next((one.role for one in spoken if _says_something(one)), "user")
    return first == "assistant"


def _says_something(said: Said) -> bool:
    return bool(said.tool_calls or said.role == "tool" or (said.content and said.content.strip()))


def _openai(said: Said) -> Json:
    message: Json = {"role": said.role, "content": said.content}
    if said.name and is_legal_name(said.name):
        message["name"] = said.name
    if said.tool_calls:
        message["tool_calls"] = list(said.tool_calls)
    if said.tool_call_id is not None:
        message["tool_call_id"] = said.tool_call_id
    return message


def text_line(said: Said) -> str:
    """A message in a plain text."""
    calls = [f"[calls {_called(call)}]" for call in said.tool_calls or ()]
    text = " ".join(part for part in (said.content or "", *calls) if part)
    return f"{said.speaker}: {text}" if said.speaker else text


def _called(call: Mapping[str, Any]) -> str:
    function = _function(call)
    return f"{function.get('name', 'a tool')}({function.get('arguments', '')})"


def _function(call: Mapping[str, Any]) -> Mapping[str, Any]:
    function = call.get("function")
    return function if isinstance(function, Mapping) else {}


def _anthropic(said: Sequence[Said]) -> Written:
    """System messages before all else are `system`; later ones are said by the user, for there is no other role.

    Neighbours of one role are one message, so that roles alternate. Results follow their call at once.
    """
    end = system_end(said)
    heads = [one.content for one in said[:end] if one.content and one.content.strip()]
    system = heads[0] if len(heads) == 1 else [_text(head) for head in heads]
    opening = [Said("user", OPENING)] if needs_opening(said) else []
    messages: list[Json] = []
    for role, blocks in _spoken([*opening, *_results_at_calls(said[end:])]):
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        else:
            messages.append({"role": role, "content": blocks})
    return Written([{**message, "content": _content(message["content"])} for message in messages], system or None)


def system_end(said: Sequence[Said]) -> int:
    """How many system messages stand before all else."""
    return next((place for place, one in enumerate(said) if one.role != "system"), len(said))


def _results_at_calls(said: Sequence[Said]) -> Sequence[Said]:
    """Every result right behind its call, one for each: chat APIs refuse it elsewhere, and two of them.

    Calls of one message with the same id count as one; results of the same call are joined.
    """
    if not any(one.tool_calls for one in said):
        return said
    return [_joined([said[place] for place in places]) for places in sent_order(said)]


def sent_order(said: Sequence[Said]) -> list[list[int]]:
    """The places of messages in the order in which chat APIs are sent them; those of one list are one message."""
    placed: list[dict[object, list[int]]] = []
    callers: dict[object, dict[object, list[int]]] = {}
    for place, one in enumerate(said):
        group = callers.get(one.tool_call_id) if one.role == "tool" else None
        if group is not None:
            group.setdefault(one.tool_call_id, []).append(place)
            continue
        placed.append({0: [place]})
        for call in one.tool_calls or ():
            callers[call.get("id")] = placed[-1]
    return [places for group in placed for places in group.values()]


def _joined(said: Sequence[Said]) -> Said:
    """One message of several results of a call; a call's own ids once each."""
    if len(said) > 1:
        return said[-1]._replace(content="\n\n".join(str(one.content) for one in said))
    made = said[0].tool_calls
    if not made or len(made) == 1:
        return said[0]
    calls = {call.get("id"): call for call in reversed(made)}
    return said[0]._replace(tool_calls=list(calls.values())[::-1])


def _spoken(said: Iterable[Said]) -> Iterable[tuple[str, list[Json]]]:
    """The roles and content blocks of messages; ids of calls that come again are made different."""
    ids: dict[object, str] = {}
    used: set[str] = set()
    for one in said:
        for call in one.tool_calls or ():
            ids[call.get("id")] = _fresh(str(call.get("id")), used)
        blocks = _blocks(one, ids)
        if blocks:
            yield "assistant" if one.role == "assistant" else "user", blocks


def _fresh(call_id: str, used: set[str]) -> str:
    """An id that Anthropic's API takes: letters, digits, `_` and `-`, and never the same for two calls."""
    legal = _ILLEGAL_ID.sub("_", call_id) or "call"
    fresh, number = legal, 1
    while fresh in used:
        number += 1
        fresh = f"{legal}-{number}"
    used.add(fresh)
    return fresh


def _blocks(said: Said, ids: Mapping[object, str]) -> list[Json]:
    if said.role == "tool":
        answered = ids.get(said.tool_call_id, _ILLEGAL_ID.sub("_", said.tool_call_id or "") or "call")
        return [{"type": "tool_result", "tool_use_id": answered, "content": said.content or ""}]
    text = [_text(said.content)] if said.content and said.content.strip() else []
    return text + [_use(call, ids[call.get("id")]) for call in said.tool_calls or ()]


def _use(call: Mapping[str, Any], call_id: str) -> Json:
    function = _function(call)
    return {"type": "tool_use", "id": call_id, "name": str(function.get("name", "tool")), "input": _input(function)}


def _input(function: Mapping[str, Any]) -> Json:
    """Arguments as an object; what is none, or cannot be sent on, is kept as it was under `arguments`."""
    arguments = function.get("arguments") or "{}"
    try:
        found = json.loads(arguments) if isinstance(arguments, str) else arguments
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()  # neither NaN nor half a character is JSON
    except (ValueError, RecursionError):
        return {"arguments": arguments}
    return found if isinstance(found, dict) and not _is_deep(found) else {"arguments": arguments}


def _is_deep(value: object, left: int = 100) -> bool:
    """Whether it has more levels than a JSON writer can be trusted with."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return left == 0 or any(_is_deep(one, left - 1) for one in inner)


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _content(blocks: list[Json]) -> str | list[Json]:
    """Plain texts as one string; results of tools stand first, where they must."""
    if all(block["type"] == "text" for block in blocks):
        return "\n\n".join(block["text"] for block in blocks)
    return sorted(blocks, key=lambda block: block["type"] != "tool_result")
