"""Slash commands: text for a person, and the same as data. A new command needs no new frontend."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from app.errors import InvalidRequest
from app.services import phrasing
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


Answer = Callable[[str, str], Awaitable[CommandResult]]


@dataclass(frozen=True)
class Commands:
    """Runs slash commands."""

    reporting: Reporting
    steering: Steering
    searching: Searching

    async def run(self, chat_id: str, command: str) -> CommandResult:
        """Run `/sc-NAME words`. Raises InvalidRequest for an unknown command, NotFound for an unknown chat."""
        name, _, words = command.strip().partition(" ")
        known: dict[str, tuple[str, Answer]] = self._known()
        if name not in known:
            raise InvalidRequest(
                f"Unknown command. The commands are {', '.join(known)}; /sc-help says what they do.",
                [{"loc": ["body", "command"], "msg": "unknown command"}],
            )
        return await known[name][1](chat_id, words.strip())

    def _known(self) -> dict[str, tuple[str, Answer]]:
        return {
            "/sc-status": ("how the memory stands", self._status),
            "/sc-preview": ("the memory as the model gets it", self._preview),
            "/sc-summarize": ("fold everything outside the window now", self._summarize),
            "/sc-backlog": ("what a backlog would cost; with all, one or skip: what to do with it", self._backlog),
            "/sc-stop": ("cut what runs on this chat", self._stop),
            "/sc-pause": ("stop folding by itself; the memory is still sent", self._pause),
            "/sc-resume": ("fold by itself again", self._resume),
            "/sc-clear": ("forget every summary; every message is visible again", self._clear),
            "/sc-search": ("words: find them in messages and summaries", self._search),
            "/sc-help": ("this list", self._help),
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
            raise InvalidRequest(
                "Say /sc-backlog all, /sc-backlog one or /sc-backlog skip; /sc-backlog alone says what each would do.",
                [{"loc": ["body", "command"], "msg": "unknown choice"}],
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

    async def _help(self, _chat_id: str, _words: str) -> CommandResult:
        lines = {name: purpose for name, (purpose, _) in self._known().items()}
        return CommandResult("\n".join(f"{name}: {purpose}" for name, purpose in lines.items()), {"commands": lines})


def _hit_line(hit: HitView) -> str:
    what = f"Message {hit.index}" if hit.kind == "message" else f"Snippet over message {hit.index} and what follows"
    return f"{what}: {hit.excerpt}"
