"""Slash commands: text for a person, and the same as data. A new command needs no new frontend."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from app.errors import InvalidRequest
from app.services import phrasing
from app.services.editing import Editing
from app.services.recording import MessageView, Recording
from app.services.repairing import Repairing
from app.services.reporting import Reporting, Status
from app.services.searching import HitView, Searching
from app.services.steering import Started, Steering

_HITS = 10
"""How many hits a command shows."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command has to say. `data` is what the matching REST call answers."""

    text: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CommandView:
    """A command as a frontend lists it; `arguments`: what may follow its name, empty if nothing may."""

    name: str
    help: str
    arguments: str


Answer = Callable[[str, str], Awaitable[CommandResult]]


@dataclass(frozen=True, slots=True)
class _Known:
    help: str
    answer: Answer
    arguments: str = ""


@dataclass(frozen=True)
class Commands:
    """Runs slash commands."""

    reporting: Reporting
    steering: Steering
    searching: Searching
    repairing: Repairing
    recording: Recording
    editing: Editing

    async def run(self, chat_id: str, command: str) -> CommandResult:
        """Run `/sc-NAME words`. Raises InvalidRequest for an unknown command, NotFound for an unknown chat."""
        name, _, words = command.strip().partition(" ")
        known = self._known()
        if name not in known:
            raise InvalidRequest(
                f"Unknown command. The commands are {', '.join(known)}; /sc-help says what they do.",
                [{"loc": ["body", "command"], "msg": "unknown command"}],
            )
        return await known[name].answer(chat_id, words.strip())

    def listed(self) -> list[CommandView]:
        """All commands, for frontends that complete what a person types."""
        return [CommandView(name, command.help, command.arguments) for name, command in self._known().items()]

    def _known(self) -> dict[str, _Known]:
        backlog = "what a backlog would cost; with all, one or skip: what to do with it"
        repair = "what is wrong with this chat's memory; with now: put right what has one right fix"
        pin = "keep a message in the prompt word for word, by its number or the newest one; with off: no longer"
        return {
            "/sc-status": _Known("how the memory stands", self._status),
            "/sc-preview": _Known("the memory as the model gets it", self._preview),
            "/sc-summarize": _Known("fold everything outside the window now", self._summarize),
            "/sc-backlog": _Known(backlog, self._backlog, "all | one | skip"),
            "/sc-stop": _Known("cut what runs on this chat", self._stop),
            "/sc-pause": _Known("stop folding by itself; the memory is still sent", self._pause),
            "/sc-resume": _Known("fold by itself again", self._resume),
            "/sc-clear": _Known("forget every summary; every message is visible again", self._clear),
            "/sc-repair": _Known(repair, self._repair, "now"),
            "/sc-search": _Known("find words in messages and summaries", self._search, "words"),
            "/sc-pin": _Known(pin, self._pin, "number off"),
            "/sc-help": _Known("this list", self._help),
        }

    async def _status(self, chat_id: str, _words: str) -> CommandResult:
        status = await self._read(chat_id)
        return CommandResult(phrasing.status_text(status), asdict(status))

    async def _read(self, chat_id: str) -> Status:
        return await asyncio.to_thread(self.reporting.status, chat_id)

    async def _preview(self, chat_id: str, _words: str) -> CommandResult:
        preview = await asyncio.to_thread(self.reporting.preview, chat_id)
        return CommandResult(preview.text or "(No summaries yet)", asdict(preview))

    async def _summarize(self, chat_id: str, _words: str) -> CommandResult:
        return await self._begun(chat_id, await asyncio.to_thread(self.steering.summarize, chat_id), "summarize")

    async def _backlog(self, chat_id: str, words: str) -> CommandResult:
        if not words:
            status = await self._read(chat_id)
            return CommandResult(phrasing.choices_text(status), asdict(status))
        if words == "skip":
            turns = await asyncio.to_thread(self.steering.skip, chat_id)
            return CommandResult(phrasing.skipped_text(turns, await self._read(chat_id)), {"skipped_turns": turns})
        if words not in ("all", "one"):
            raise _unknown_words(
                "Say /sc-backlog all, /sc-backlog one or /sc-backlog skip; /sc-backlog alone says what each would do."
            )
        choice: Literal["all", "one"] = "all" if words == "all" else "one"
        return await self._begun(chat_id, await asyncio.to_thread(self.steering.backlog, chat_id, choice), choice)

    async def _begun(self, chat_id: str, started: Started, choice: str) -> CommandResult:
        return CommandResult(phrasing.started_text(started, await self._read(chat_id), choice), asdict(started))

    async def _stop(self, chat_id: str, _words: str) -> CommandResult:
        stopped = await self.steering.stop(chat_id)
        return CommandResult(phrasing.stopped_text(stopped, await self._read(chat_id)), asdict(stopped))

    async def _pause(self, chat_id: str, _words: str) -> CommandResult:
        paused = await self.steering.pause(chat_id)
        return CommandResult(phrasing.paused_text(await self._read(chat_id)), {"paused": paused})

    async def _resume(self, chat_id: str, _words: str) -> CommandResult:
        paused = await asyncio.to_thread(self.steering.resume, chat_id)
        return CommandResult(phrasing.resumed_text(await self._read(chat_id)), {"paused": paused})

    async def _clear(self, chat_id: str, _words: str) -> CommandResult:
        cleared = await self.steering.clear(chat_id)
        return CommandResult(phrasing.cleared_text(cleared), asdict(cleared))

    async def _search(self, chat_id: str, words: str) -> CommandResult:
        found = await asyncio.to_thread(self.searching.search, chat_id, words, _HITS)
        text = "\n".join(map(_hit_line, found)) or "Nothing found."
        return CommandResult(text, {"items": [asdict(hit) for hit in found], "next_cursor": None})

    async def _repair(self, chat_id: str, words: str) -> CommandResult:
        if words not in ("", "now"):
            raise _unknown_words("Say /sc-repair to see what is wrong, /sc-repair now to have it put right.")
        found = await asyncio.to_thread(self.repairing.repair, chat_id, dry_run=not words)
        return CommandResult(phrasing.repaired_text(found), {"findings": [asdict(finding) for finding in found]})

    async def _pin(self, chat_id: str, words: str) -> CommandResult:
        number, _, rest = words.partition(" ")
        if words == "off":
            number, rest = "", "off"
        if rest.strip() not in ("", "off") or (number and not number.isdecimal()):
            raise _unknown_words("Say /sc-pin for the newest message, /sc-pin 12 for message 12, /sc-pin 12 off.")
        pinned = rest.strip() != "off"
        message = await asyncio.to_thread(self._pinned, chat_id, int(number[:18]) if number else None, pinned)
        return CommandResult(phrasing.pinned_text(message.index, pinned=pinned), asdict(message))

    def _pinned(self, chat_id: str, index: int | None, pinned: bool) -> MessageView:
        newest = self.reporting.status(chat_id).counts.messages - 1
        wanted = newest if index is None else index
        found = self.recording.page(chat_id, state="all", after=wanted - 1, limit=1)
        if not 0 <= wanted <= newest or not found:
            last = f"; the newest one is message {newest}" if newest >= 0 else ""
            raise _unknown_words(f"There is no message {max(wanted, 0)} in this chat{last}.")
        return self.editing.edit(chat_id, found[0].id, {"pinned": pinned})

    async def _help(self, _chat_id: str, _words: str) -> CommandResult:
        lines = {name: command.help for name, command in self._known().items()}
        return CommandResult("\n".join(f"{name}: {purpose}" for name, purpose in lines.items()), {"commands": lines})


def _unknown_words(detail: str) -> InvalidRequest:
    return InvalidRequest(detail, [{"loc": ["body", "command"], "msg": "unknown choice"}])


def _hit_line(hit: HitView) -> str:
    what = f"Message {hit.index}" if hit.kind == "message" else f"Snippet over message {hit.index} and what follows"
    return f"{what}: {hit.excerpt}"
