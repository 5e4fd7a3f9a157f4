"""The ways a story becomes memory: all at once from a file, or turn by turn with the model away for a third of it."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.markers.reader import Reader
from bench.markers.story import Story
from bench.markers.survey import Survey, not_found, survey
from bench.model_server import ModelServer, in_thread
from bench.processes import Remote, model_settings, turnfold
from bench.prose import as_file

MANY = 16
_SETTINGS: Mapping[str, str] = {
    "TURNFOLD_RETRY_ATTEMPTS": "2",
    "TURNFOLD_RETRY_BASE_S": "0.01",
    "TURNFOLD_RETRY_MAX_S": "0.02",
    "TURNFOLD_BREAKER_COOLDOWN_S": "0.1",
    "TURNFOLD_LOG_LEVEL": "error",
}
"""An outage passes in seconds instead of hours; nothing else is different."""
_LIMIT_S = 900.0


@dataclass(frozen=True, slots=True)
class Play:
    """`at_once`: backlog_concurrency."""

    name: str
    at_once: int
    outage: bool


PLAYS = (
    Play("one at a time", 1, outage=False),
    Play("16 at once", MANY, outage=False),
    Play("one at a time, outage", 1, outage=True),
    Play("16 at once, outage", MANY, outage=True),
)


@dataclass(frozen=True, slots=True)
class Outage:
    """What there was to see at its end: turns waiting, calls the server refused, the state of the connection."""

    waiting: int
    refused: int
    state: str


@dataclass(frozen=True, slots=True)
class Played:
    """A play in a chat, its memory, the missing facts that no search finds, and the most calls open at once."""

    play: Play
    chat: str
    found: Survey
    not_found: list[int]
    most_open: int
    outage: Outage | None


@dataclass(frozen=True)
class Stage:
    """A server, and a model in this process that answers it over HTTP.

    It answers at once, but takes `latency_s` where several calls run at once, so that all of them are under way.
    """

    server: Remote
    model: ModelServer
    reader: Reader
    layered: Mapping[str, int]
    latency_s: float

    def play(self, play: Play, story: Story) -> Played:
        """The story in a chat of its own, folded to the end."""
        chat, before = f"{play.at_once}-{play.outage}", len(self.reader.log)
        self.model.most_open = 0
        settings = {"settings": {"layered": {**self.layered, "backlog_concurrency": play.at_once}}}
        fold = self._live if play.outage else self._all
        outage = fold(chat, settings, play, story)
        found = survey(self.server, chat, story, self.reader.log[before:])
        return Played(play, chat, found, not_found(self.server, chat, found), self.model.most_open, outage)

    def _all(self, chat: str, settings: Any, play: Play, story: Story) -> None:
        """From a file, in one go."""
        self.server.ask("POST", f"/v1/import?chat_id={chat}", as_file(story.messages()))
        self.server.put(f"/v1/chats/{chat}", settings)
        with self._busy(play):
            self.server.post(f"/v1/chats/{chat}/backlog", {"choice": "all"})
            self._until(chat, lambda status: status["job"] is None)

    def _live(self, chat: str, settings: Any, play: Play, story: Story) -> Outage:
        """Turn by turn. What piles up meanwhile is taken up by itself, before the story goes on."""
        self.server.put(f"/v1/chats/{chat}", settings)
        third, refused = len(story.turns) // 3, self.model.refused
        said = story.messages()
        self._say(chat, said[: 2 * third], "wait")
        self.model.away = True
        self._say(chat, said[2 * third : 4 * third], "background")
        status = self._until(chat, lambda status: status["job"] is None)
        with self._busy(play):
            self.model.away = False
            self._until(chat, lambda status: status["job"] is None and not status["backlog"]["batches"])
        self._say(chat, said[4 * third :], "wait")
        return Outage(status["backlog"]["turns"], self.model.refused - refused, status["connection"]["state"])

    def _say(self, chat: str, messages: list[dict[str, str]], fold: str) -> None:
        for turn in range(0, len(messages), 2):
            new = {"messages": messages[turn : turn + 2], "fold": fold, "wait_s": 60}
            self.server.post(f"/v1/chats/{chat}/messages", new)

    @contextmanager
    def _busy(self, play: Play) -> Iterator[None]:
        self.model.latency_s = self.latency_s if play.at_once > 1 else 0.0
        yield
        self.model.latency_s = 0.0

    def _until(self, chat: str, reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        deadline = time.monotonic() + _LIMIT_S
        while True:
            status: dict[str, Any] = self.server.get(f"/v1/chats/{chat}/status")
            if reached(status):
                return status
            if time.monotonic() > deadline:
                raise TimeoutError(f"{chat}: {status['backlog']}, {status['last_error']}")
            time.sleep(0.1)


@contextmanager
def stage(database: Path, count: Callable[[str], int], layered: Mapping[str, int], latency_s: float) -> Iterator[Stage]:
    """Serve a database; `count` gives the tokens of a text, `layered` are settings other than the default."""
    reader = Reader(count)
    model = ModelServer(reader.answer)
    with in_thread(model) as port, turnfold(database, {**_SETTINGS, **model_settings(port, MANY)}) as server:
        yield Stage(server, model, reader, layered, latency_s)
