"""Our own file format, versioned: JSON Lines that carry everything of a chat (docs/file-format.md).

The first line is the header, the last one counts what stands between them: an object a line, with one key that names
its part. What refers to something names it by its id.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from app.core.model import Role, Strategy
from app.formats.summaryception import STORE_KEY
from app.formats.turnfold_fields import (
    Field,
    Record,
    Shape,
    Unknown,
    Wrong,
    content,
    flag,
    identifier,
    json_object,
    list_of,
    not_blank,
    object_of,
    one_of,
    read_time,
    text,
    whole,
    word,
    write_record,
    write_time,
)
from app.formats.turnfold_settings import read_settings
from app.formats.turnfold_views import read_options

KEY, CHAT, END = "turnfold", "chat", "end"
VERSION = 1

COVERING = (Strategy.LAYERED, Strategy.ROLLING, Strategy.SUMMARY_BUFFER)
"""The strategies that have snippets."""

MAX_LAYER = 99
"""Ten layers can be made here; other programs' files may bring more."""

_COUNT = whole()
_KINDS = ("fold", "seed", "merge", "manual", "import", "rolling", "buffer")
_STATES = ("live", "absorbed", "superseded", "deleted")


_STRATEGY = re.compile(r"[a-z_]{1,20}")
_known_strategy = one_of([strategy.value for strategy in Strategy])


def _strategy(value: Any) -> str:
    if isinstance(value, str) and _STRATEGY.fullmatch(value) and value not in list(Strategy):
        raise Unknown(f"the strategy {value}")
    return str(_known_strategy(value))


def _covering(value: Any) -> str:
    if _strategy(value) not in COVERING:
        raise Wrong("must be a strategy with snippets")
    return str(value)


def _leaves(value: Any) -> dict[str, str]:
    return {_covering(strategy): identifier(leaf) for strategy, leaf in json_object(value).items()}


def _tool_call(value: Any) -> Record:
    if not isinstance(json_object(value).get("id"), str) or not value["id"]:
        raise Wrong("must have an id in each call")
    return dict(value)


def _chat_extra(value: Any) -> Record:
    """What files said of the chat; what a memory said of itself and of its snippets is read again by an export."""
    memory = json_object(json_object(value).get(STORE_KEY, {}))
    for part in ("store", "snippets"):
        json_object(memory.get(part, {}))
    for detail in memory.get("snippets", {}).values():
        json_object(detail)
    return dict(value)


def _run(value: Any) -> list[int]:
    """First and last index of neighbours, and how often their texts had been changed."""
    if not isinstance(value, list) or len(value) != 3:
        raise Wrong("must be lists of first index, last index and revision")
    first, last, revision = map(_COUNT, value)
    if first > last:
        raise Wrong("must have the first index before the last")
    return [first, last, revision]


_FLAG = Field(flag, default=False)
_TIME = Field(read_time, write_time)
_OPTIONAL_TEXT, _OPTIONAL_ID = Field(text, default=None), Field(identifier, default=None)
_OPTIONAL_OBJECT = Field(json_object, default=None)
_USAGE = Shape({name: Field(whole(most=2**53)) for name in ("calls", "prompt_tokens", "completion_tokens")})
_COVERED = Shape({"runs": Field(list_of(_run)), "gone": _FLAG})


def _covered(value: Any) -> dict[str, Record]:
    """By leaf, the messages that a deletion uncovered; `gone`: others were deleted themselves since."""
    return {identifier(leaf): object_of(_COVERED)(under) for leaf, under in json_object(value).items()}


def _write_covered(covered: Mapping[str, Record]) -> dict[str, Record]:
    return {leaf: write_record(_COVERED, under) for leaf, under in covered.items()}


_SAID: Mapping[str, Field] = {
    "role": Field(one_of([role.value for role in Role])),
    "name": _OPTIONAL_TEXT,
    "content": Field(content, default=None),
    "tool_calls": Field(list_of(_tool_call), default=None),
    "tool_call_id": _OPTIONAL_TEXT,
    "hidden": _FLAG,
    "pinned": _FLAG,
    "history": Field(one_of(("keep", "omit")), default="keep"),
    "created_at": _TIME,
    "extra": _OPTIONAL_OBJECT,
}

_CHAT: Mapping[str, Field] = {
    "id": Field(identifier),
    "title": _OPTIONAL_TEXT,
    "user_name": _OPTIONAL_TEXT,
    "character_name": _OPTIONAL_TEXT,
    "strategy": Field(_strategy),
    "settings": Field(read_settings, default=None),
    "parent_chat_id": _OPTIONAL_ID,
    "forked_at_message_id": _OPTIONAL_ID,
    "backlog_answer": Field(one_of(("all", "one", "skip", "began")), default=None),
    "usage": Field(object_of(_USAGE), default=None),
    "extra": Field(_chat_extra, default=None),
    "created_at": _TIME,
}

CHAT_SHAPE = Shape(_CHAT)

_PARTS: Mapping[str, Mapping[str, Field]] = {
    "message": {
        "index": Field(_COUNT),
        "id": Field(identifier),
        **_SAID,
        "skipped": _FLAG,
        "revision": Field(_COUNT, default=0),
        "leaves": Field(_leaves, default=None),
    },
    "snippet": {
        "id": Field(identifier),
        "strategy": Field(_covering),
        "layer": Field(whole(most=MAX_LAYER)),
        "position": Field(_COUNT),
        "kind": Field(one_of(_KINDS)),
        "state": Field(one_of(_STATES)),
        "parent_id": _OPTIONAL_ID,
        "text": Field(not_blank),
        "source_tokens": Field(_COUNT),
        **dict.fromkeys(("stale", "degraded", "edited", "asked"), _FLAG),
        "connection": _OPTIONAL_TEXT,
        "model": _OPTIONAL_TEXT,
        "usage": Field(object_of(_USAGE), default=None),
        "created_at": _TIME,
        "edited_at": Field(read_time, write_time, default=None),
    },
    "kept_message": {
        "id": Field(identifier),
        "why": Field(one_of(("deleted", "overwritten"))),
        "index": Field(_COUNT),
        "after_id": _OPTIONAL_ID,
        "kept_at": _TIME,
        **_SAID,
        "skipped": _FLAG,
    },
    "snippet_version": {
        "snippet_id": Field(identifier),
        "number": Field(_COUNT),
        "why": Field(word),
        "text": Field(not_blank),
        **dict.fromkeys(("edited", "stale", "degraded"), _FLAG),
        "connection": _OPTIONAL_TEXT,
        "model": _OPTIONAL_TEXT,
        "replaced_at": _TIME,
    },
    "undo_step": {
        "kind": Field(one_of(("edit", "delete", "manual", "regenerate"))),
        "snippet_id": Field(identifier),
        "version": Field(_COUNT, default=None),
        "covered": Field(_covered, _write_covered, default=None),
        "made_at": _TIME,
    },
    "view": {
        "name": Field(identifier),
        "options": Field(read_options),
        "created_at": _TIME,
        "updated_at": _TIME,
    },
}

PARTS: Mapping[str, Shape] = {part: Shape(fields) for part, fields in _PARTS.items()}
"""What a line may hold, by the key that names it."""


def write_turnfold(chat: Record, parts: Sequence[str], records: Iterable[tuple[str, Record]]) -> Iterator[str]:
    """The lines of a file, each with its end: the chat, then records with the names of their parts.

    `parts` are those that occur, so that a reader knows at once whether it can take them all.
    """
    yield _line({KEY: {"version": VERSION, "parts": list(parts)}, CHAT: write_record(CHAT_SHAPE, chat)})
    counts = dict.fromkeys(parts, 0)
    for part, record in records:
        counts[part] += 1
        yield _line({part: write_record(PARTS[part], record)})
    yield _line({END: counts})


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
