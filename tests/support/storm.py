"""A server under load that is killed again and again, and what its database is like each time.

Real `turnfold serve` processes, a model server that is slow and fails now and then, and clients that append, change,
sync, delete, start backlogs and stop them. After each kill the leases are made to run out, so that what was interrupted
goes on after the next start and not ten seconds later.
"""

import random
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.serving import Launch, Serving, age_leases, end, start
from tests.support.storm_checks import violations
from tests.support.storm_clients import Client, Person, World, Writer
from tests.support.storm_ledger import Ledger
from tests.support.watchful_model import PROMPTS, Temper, WatchfulModel

VERBATIM = 4
LAYERED = {"verbatim_turns": VERBATIM, "turns_per_batch": 1, "snippets_per_layer": 3, "snippets_per_promotion": 2}
TEMPER = Temper(0.002, 0.06, faults=0.1)
QUICK = {"retry_base_s": "0.02", "retry_max_s": "0.1", "breaker_cooldown_s": "0.3", "llm_concurrency": "8"}
STANDS_STILL_S = 30.0
LIFE_S = 4.0


@dataclass
class Figures:
    """What happened. `resumed`: interrupted jobs after which another one went on; `ready_s`: from each start after a
    kill until the server was ready, in seconds.
    """

    seed: int
    kills: int = 0
    answers: int = 0
    messages: int = 0
    calls: int = 0
    jobs: int = 0
    interrupted: int = 0
    resumed: int = 0
    folds: int = 0
    seconds: float = 0.0
    ready_s: list[float] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)


class Storm:
    """Rages once. `answers`: a server lives until it has given so many, at random between these, or for LIFE_S at most;
    `tell` is told of each kill.
    """

    def __init__(
        self,
        folder: Path,
        launch: Launch,
        seed: int,
        kills: int,
        answers: tuple[int, int] = (1, 60),
        tell: Callable[[Figures], None] | None = None,
    ) -> None:
        self.figures = Figures(seed)
        self._folder, self._launch, self._kills, self._answers, self._tell = folder, launch, kills, answers, tell
        self._chance = random.Random(seed)
        self._model = WatchfulModel(TEMPER, seed)
        names = [(name, width) for name in ("steady", "wild") for width in (1, 4)]
        ledgers = [Ledger(f"{name}{width}", name == "steady", width) for name, width in names]
        self._world = World(ledgers)
        self._clients: list[Client] = [Writer(self._world, ledger, str(seed)) for ledger in ledgers]
        self._clients += [Person(self._world, f"{seed}-person{number}") for number in range(2)]

    def run(self) -> Figures:
        """Let it rage until a promise is broken or all kills are made, then calm down."""
        begun = time.monotonic()
        with self._model:
            self._serving = self._start()
            try:
                self._rage()
                self._calm_down()
            finally:
                self._world.over.set()
                self._world.gate.open()
                end(self._serving)
                for client in self._clients:
                    client.join(30)
        self.figures.seconds = time.monotonic() - begun
        return self.figures

    def _start(self) -> Serving:
        settings = {"llm_provider": "openai", "llm_base_url": self._model.base_url, "llm_model": "watchful"}
        return start(self._launch, self._folder, **settings, **QUICK)

    def _rage(self) -> None:
        _lay_out(self._serving, self._world.ledgers)
        for client in self._clients:
            client.start()
        while self.figures.kills < self._kills and not self.figures.violations:
            self._live_and_die()
            age_leases(self._folder)
            self._serving = self._start()
            self.figures.ready_s.append(self._serving.ready_s)
            if self._tell:
                self._tell(self.figures)

    def _live_and_die(self) -> None:
        world = self._world
        world.url = self._serving.url
        world.gate.open()
        enough, deadline = world.answers + self._chance.randint(*self._answers), time.monotonic() + LIFE_S
        while world.answers < enough and time.monotonic() < deadline:
            time.sleep(self._chance.uniform(0, 0.02))
        self._serving.kill()
        self._serving.http.close()
        self.figures.kills += 1
        self._look()

    def _look(self) -> None:
        """What is stored now, while nobody reads or writes."""
        self._world.gate.shut()
        found = [*self._world.violations]
        self._world.violations.clear()
        for ledger in self._world.ledgers:
            found += violations(self._folder, ledger, VERBATIM, self._model.made)
        self.figures.violations += [f"after kill {self.figures.kills}: {one}" for one in found]
        self.figures.answers = self._world.answers

    def _calm_down(self) -> None:
        """Nothing fails any more: everything is folded, and a request to end ends the server."""
        self._model.temper = Temper()
        for ledger in self._world.ledgers:
            self._serving.ask("POST", f"/chats/{ledger.chat}/resume")
            self._serving.ask("POST", f"/chats/{ledger.chat}/backlog", {"choice": "all"})
        for ledger in self._world.ledgers:
            left = _rest(self._serving, ledger.chat)
            self.figures.violations += [f"{ledger.chat} does not come to rest: {left}"] if left else []
        status = self._serving.terminate()
        self.figures.violations += [f"the server ended with status {status}"] if status else []
        self._look()
        self.figures.calls = len(self._model.calls)
        _count(self._folder / "turnfold.db", self.figures)


def _count(database: Path, figures: Figures) -> None:
    with closing(sqlite3.connect(database)) as connection:

        def count(rows: str) -> int:
            return int(connection.execute(f"SELECT count(*) FROM {rows}").fetchone()[0])

        later = "EXISTS (SELECT 1 FROM jobs AS later WHERE later.chat_key = jobs.chat_key AND later.key > jobs.key)"
        figures.messages = count("messages")
        figures.jobs = count("jobs")
        figures.interrupted = count("jobs WHERE state = 'interrupted'")
        figures.resumed = count(f"jobs WHERE state = 'interrupted' AND {later}")
        figures.folds = count("events WHERE kind = 'summarized'")


def _lay_out(serving: Serving, ledgers: Sequence[Ledger]) -> None:
    serving.ask("PATCH", "/settings", {"layered": {**LAYERED, **PROMPTS}})
    for ledger in ledgers:
        wanted = {"layered": {"backlog_concurrency": ledger.concurrency}}
        serving.ask("PUT", f"/chats/{ledger.chat}", {"settings": wanted})


def _rest(serving: Serving, chat: str) -> str | None:
    """Wait until a chat waits for nothing, or stands still; what it still waits for."""
    before, since = None, time.monotonic()
    while time.monotonic() < since + STANDS_STILL_S:
        status = serving.ask("GET", f"/chats/{chat}/status")
        left = (status["backlog"]["turns"], status["stale_snippets"], status["summarizer_usage"]["calls"])
        if status["job"] is None and left[:2] == (0, 0):
            return None
        if left != before:
            before, since = left, time.monotonic()
        time.sleep(0.05)
    return str({name: status[name] for name in ("job", "backlog", "stale_snippets", "last_error", "connection")})
