"""What a prompt begins with, so that a client learns what a prompt cache can keep, and why it cannot.

A prompt is the system message, the memory, then the past; what is current changes with every request and is no part of
it. Turns that join the past leave the beginning as it was.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any, Literal

Cause = Literal["system_prompt", "fold", "memory", "trim", "edit"]

_HEX = 12
_SHAPE = re.compile(rf"([0-9a-f]{{{_HEX}}})-([0-9a-f]{{{_HEX}}})-(\d{{1,15}})-(\d{{1,15}})-(\d{{1,15}})")


@dataclass(frozen=True, slots=True)
class Prefix:
    """What a prompt's beginning was made of, small enough to keep.

    `system` and `memory` are hashes; `covered` is where the memory ends (the newest covered index + 1, 0: there is
    none), `dropped` the key of the last message that a budget left out (0: none), `changes` how often the history of
    the chat had been changed other than by appending. `sent` counts the messages of the past, `history` is their hash;
    both None where only the string is known.
    """

    system: str
    memory: str
    covered: int
    dropped: int
    changes: int
    sent: int | None = None
    history: str | None = None

    def __str__(self) -> str:
        """The `prefix_hash`: the same until the next fold, merge, trim or edit, however many turns join."""
        return f"{self.system}-{self.memory}-{self.covered}-{self.dropped}-{self.changes}"

    def as_json(self) -> dict[str, Any]:
        """All of it, for `from_json`."""
        return {"prefix": str(self), "sent": self.sent, "history": self.history}


@dataclass(frozen=True)
class Beginning:
    """The beginning of a prompt that is being made, with its texts.

    `system`: whatever stands before the memory, tools included. `memory`: its text and its placement, "" where it
    stands behind some of the past. `past`: a line per message that is sent before the current ones and before a memory
    behind them (`line_of`), `behind` those after it. `first`: the key of the window's first message, 0 without one.
    """

    system: str
    memory: str
    covered: int
    dropped: int
    changes: int
    past: Sequence[str]
    first: int = 0
    behind: Sequence[str] = ()

    def prefix(self) -> Prefix:
        """What is kept of it."""
        return self._prefix

    @cached_property
    def _prefix(self) -> Prefix:
        return Prefix(
            system=_hash([self.system]),
            memory=_hash_of_memory(self.memory),
            covered=self.covered,
            dropped=self.dropped,
            changes=self.changes,
            sent=len(self.past),
            history=_hash(self.past),
        )


def changed_by(before: Prefix, after: Beginning) -> Cause | None:
    """Why the beginning is not what it was: the cause that stands first in the prompt; None if it only grew.

    Without the hash of its messages (a prefix read from a string) the past counts as unchanged as long as `covered`,
    `dropped` and `changes` are. A window that begins later was trimmed, one that begins earlier had room again; where
    what had been dropped is gone, it was deleted.
    """
    now = after.prefix()
    if before.system != now.system:
        return "system_prompt"
    folded = after.covered > before.covered
    if before.memory != now.memory:
        return "fold" if folded else "memory"
    if _is_continued(before, after):
        return None
    if before.covered != now.covered:
        return "fold" if folded else "memory"
    trimmed = before.dropped < now.dropped or 0 < after.first <= before.dropped
    if trimmed:
        return "trim"
    moved = before.sent is not None and before.history == _hash([*after.past, *after.behind][: before.sent])
    return "memory" if moved else "edit"


def following(before: Prefix, after: Beginning) -> Prefix:
    """What is kept of the beginning that follows `before` in a view: with a new string where anything of it changed.

    Changes of the chat that are none of this beginning leave the string alone, but for deletions of what is covered:
    `covered` is an index.
    """
    now = after.prefix()
    if changed_by(before, after) is None:
        return replace(now, dropped=before.dropped, changes=before.changes)
    fresh = replace(now, changes=max(now.changes, before.changes + 1))
    return fresh if str(replace(now, changes=before.changes)) == str(before) else now


def parse_prefix(text: str) -> Prefix | None:
    """The prefix that a `prefix_hash` stands for; None if it is none of ours."""
    found = _SHAPE.fullmatch(text)
    return Prefix(found[1], found[2], int(found[3]), int(found[4]), int(found[5])) if found else None


def from_json(value: Any) -> Prefix | None:
    """What `as_json` wrote; None for anything else."""
    if not isinstance(value, Mapping) or not isinstance(value.get("prefix"), str):
        return None
    found, sent, history = parse_prefix(value["prefix"]), value.get("sent"), value.get("history")
    if found is None or not isinstance(sent, int) or not isinstance(history, str):
        return found
    return Prefix(found.system, found.memory, found.covered, found.dropped, found.changes, sent, history)


def line_of(message: Mapping[str, Any]) -> str:
    """A chat-completions message as one text, for `Beginning.past`."""
    rest = [message.get(name) for name in ("name", "content", "tool_calls", "tool_call_id")]
    return f"{message['role']}{rest!r}"


def _is_continued(before: Prefix, after: Beginning) -> bool:
    """Whether the past that was sent stands at the beginning of the present one."""
    if before.sent is None:
        known = (before.covered, before.dropped, before.changes)
        return known == (after.covered, after.dropped, after.changes)
    if before.sent == len(after.past):
        return before.history == after.prefix().history
    return before.sent < len(after.past) and before.history == _hash(after.past[: before.sent])


@lru_cache(maxsize=64)
def _hash_of_memory(text: str) -> str:
    """Remembered: it is long, and the same in prompt after prompt."""
    return _hash([text])


def _hash(texts: Iterable[str]) -> str:
    """Short: a chance likeness in one of many million prompts would only spare a client a hint."""
    digest = sha256()
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(encoded))
        digest.update(encoded)
    return digest.hexdigest()[:_HEX]
