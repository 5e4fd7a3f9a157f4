"""Taking in a file of our own format: all of it, as it was, in one transaction; or nothing."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO
from uuid import uuid4

from sqlmodel import Session

from app.core.model import Strategy
from app.errors import Conflict
from app.formats.parsed import Warning
from app.formats.turnfold import COVERING
from app.formats.turnfold_fields import Record
from app.formats.turnfold_reading import read_turnfold
from app.services.installing import install, unsound
from app.services.noting import note_history
from app.services.ports import Counter
from app.services.starting import queue_after_change
from app.services.unpacking import unpack
from app.store import chats, intake, soundness, trees
from app.store.engine import Database
from app.store.messages import Leaf, leaf_of
from app.store.soundness import Range

_IN_MEMORY = 32 * 1024 * 1024
"""Bytes of a file's rows that are held in memory before they go to disk."""

_WINDOW_KEPT = Warning(
    "window_kept",
    "The memory reached into the chat's newest turns, which stay verbatim here: its newest snippets gave way to the"
    " messages they stood for.",
)
_SAME = ("title", "user_name", "character_name", "strategy", "parent_chat_id", "forked_at_message_id")


@dataclass(frozen=True, slots=True)
class Restored:
    """What came in, what to know about it, and the job that folds what was due."""

    chat_id: str
    messages: int
    snippets: int
    warnings: list[Warning]
    job_id: str | None


def restore(
    db: Database,
    counter: Callable[[Mapping[str, Any]], Counter],
    stream: BinaryIO,
    *,
    chat_id: str | None,
    title: str | None,
) -> Restored:
    """Read a file that can be rewound. Raises InvalidRequest, UnsupportedComponent, and Conflict when chat_id is taken.

    The file's own id that is taken gives way to a new one, with a warning. `counter` gives what counts the texts of a
    chat with these settings of its own.
    """
    file = read_turnfold(stream)
    with SpooledTemporaryFile(max_size=_IN_MEMORY) as spool:
        unpacked = unpack(counter(file.chat["settings"] or {}), file.records, spool)
        with db.write() as session:
            own_id, warnings = _choose_id(session, chat_id, file.chat["id"])
            chat = chats.add(session, own_id, _fields(file.chat, title))
            chat.created_at = file.chat["created_at"]
            install(session, chat.key, unpacked)
            _require_sound(session, chat.key)
            session.flush()
            if unpacked.counts["message"]:
                note_history(session, chat, "import", unpacked.counts["message"])
            newest = intake.last_live(session, chat.key, chat.strategy)
            job, _ = queue_after_change(session, chat)
            left = intake.last_live(session, chat.key, chat.strategy)
            chat.memory_version = 0 if left is None else 1
            warnings += [_WINDOW_KEPT] if left != newest else []
            return Restored(
                chat_id=own_id,
                messages=unpacked.counts["message"],
                snippets=unpacked.counts["snippet"],
                warnings=[*warnings, *file.warnings],
                job_id=job.id if job else None,
            )


def _choose_id(session: Session, wanted: str | None, own: str) -> tuple[str, list[Warning]]:
    if wanted is not None:
        if chats.find(session, wanted):
            raise Conflict(f"There is a chat {wanted!r} already; import under another chat_id, or delete it first.")
        return wanted, []
    if chats.find(session, own) is None:
        return own, []
    new_id = str(uuid4())
    return new_id, [Warning("chat_id_taken", f"The file's own id {own} is taken; the chat is {new_id}.")]


def _fields(record: Record, title: str | None) -> dict[str, Any]:
    return {
        **{name: record[name] for name in _SAME},
        "title": title or record["title"],
        "settings": record["settings"] or {},
        "usage": record["usage"] or {},
        **{name: record[name] for name in ("backlog_answer", "extra")},
    }


def _require_sound(session: Session, chat_key: int) -> None:
    """Raises InvalidRequest where what came in would break a promise (layered.md, Promises)."""
    for strategy in COVERING:
        leaf = leaf_of(strategy)
        if leaf is None:
            continue
        stranded = soundness.first_stranded(session, chat_key, strategy, leaf)
        if stranded is not None:
            message, snippet = stranded
            raise unsound(
                f"message {message!r} is under snippet {snippet!r}, which is neither live nor a part of a live one"
            )
        if strategy.rewrites:
            _require_chain(session, chat_key, strategy, leaf)
        else:
            _require_order(soundness.live_ranges(session, chat_key, strategy, leaf))


def _require_chain(session: Session, chat_key: int, strategy: Strategy, leaf: Leaf) -> None:
    """One summary is live, what went into it is older and older, and nothing between them is left out."""
    levels = soundness.chain_ranges(session, chat_key, strategy, leaf)
    if any(len(level) > 1 for level in levels):
        raise unsound(f"of {strategy} more than one summary is live, or more than one went into another")
    spans = [(one.first, one.last) for [one] in levels if one.first is not None and one.last is not None]
    if levels and not spans:
        raise unsound(f"a summary of {strategy} is live, and no message is under it")
    if any(older[1] >= newer[0] for newer, older in pairwise(spans)):
        raise unsound(f"the summaries of {strategy} overlap, or are not in the order of the story")
    head = trees.end_of_head(session, chat_key)
    if spans and trees.joiners(session, chat_key, leaf, head, spans[0][1]):
        raise unsound(f"the summaries of {strategy} leave messages out between those they cover")


def _require_order(ranges: Iterator[Range]) -> None:
    before: Range | None = None
    for found in ranges:
        if found.first is None:
            raise unsound(f"snippet {found.snippet_id!r} is live, and no message is under it")
        if before is not None and before.last is not None and found.first <= before.last:
            raise unsound(
                f"snippets {before.snippet_id!r} and {found.snippet_id!r} overlap, or are not in the order of the story"
            )
        before = found
