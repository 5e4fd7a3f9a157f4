"""A process killed at any point between plan and commit has lost nothing, and the next one comes to the same end.

A run of each scene without a kill counts its points (tests/support/kill_points.py). Then the scene is lived through
again, killed at a point, begun anew, killed at a point of that, and begun once more. That is done for two points of
each scene, evenly spread; for as many as KILL_POINTS in the environment says; or with KILL_POINTS=all for every one,
some two thousand, which takes half an hour.
"""

import json
import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.checks import assert_promises
from tests.support.crash_scenes import BASES, SCENES, SMALL
from tests.support.folded import repairing
from tests.support.honest import assert_truthful
from tests.support.kill_points import DONE
from tests.support.stored import Stored, copied, read_stored
from tests.support.zygote import Zygote

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

KILLED = -9
CHAINS = "2"
SECOND = 45
"""About so many points lie between a start after a kill and the first commit that follows."""
STRIDE = 0.618
"""Multiples of the golden ratio, without their whole parts, are evenly spread, however many there are."""


@pytest.fixture(scope="module")
def bases(zygote: Zygote, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The databases that scenes begin with."""
    folder = tmp_path_factory.mktemp("bases")
    made = {base: folder / f"{base}.db" for base in BASES}
    for base, database in made.items():
        values = {"base": base, "database": str(database)}
        assert zygote.spawn("tests.support.kill_points:prepare", values, folder / "log").wait() == 0
    zygote.call(
        "tests.support.kill_points:rehearse", {"base": str(made["folded"]), "folder": str(folder / "rehearsal")}
    )
    return made


@dataclass(frozen=True)
class Stage:
    """Where one scene is lived through."""

    zygote: Zygote
    name: str
    base: Path
    concurrency: int
    folder: Path

    def fresh(self) -> Path:
        """The scene's beginning."""
        database = copied(self.base, self.folder / "run")
        layered = {"backlog_concurrency": self.concurrency, **SCENES[self.name].layered}
        with closing(sqlite3.connect(database)) as connection, connection:
            patch = json.dumps({"layered": layered})
            connection.execute("UPDATE chats SET settings = json_patch(settings, ?)", (patch,))
        return database

    def live(self, database: Path, at: int = 0, *, again: bool = False) -> tuple[int, list[str]]:
        """How the process ended, and the points it has come by."""
        report, log = self.folder / "report", self.folder / "log"
        report.unlink(missing_ok=True)
        values = {"name": self.name, "database": str(database), "report": str(report), "at": at, "again": again}
        status = self.zygote.spawn("tests.support.kill_points:live", values, log).wait()
        assert status in ((0, KILLED) if at else (0,)), log.read_text()
        return status, report.read_text().splitlines()

    def look(self, database: Path) -> Stored:
        """What is stored, which is sound; the database itself is left alone."""
        seen = copied(database, self.folder / "seen")
        assert_promises(seen, "c", SMALL["verbatim_turns"])
        stored = read_stored(seen, "c")
        assert not stored.damage
        return stored

    def was_begun(self, database: Path) -> bool:
        """Whether what the scene begins with has been committed."""
        with closing(sqlite3.connect(copied(database, self.folder / "seen"))) as connection:
            return bool(connection.execute(SCENES[self.name].begun).fetchone()[0])

    def findings(self, database: Path) -> list[str]:
        """What a repair would find, but for what is no fault here."""
        with repairing(database, self.folder / "examined.db") as service:
            codes = [found.code for found in service.repair("c", dry_run=True)]
        return [code for code in codes if code not in SCENES[self.name].wrong]


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("name", SCENES)
def test_killed_anywhere(zygote: Zygote, bases: dict[str, Path], tmp_path: Path, name: str, concurrency: int) -> None:
    """Whatever was committed stays, work goes on by itself to the end that it would have had, nothing is done twice."""
    stage = Stage(zygote, name, bases[SCENES[name].base], concurrency, tmp_path)
    database = stage.fresh()
    _, points = stage.live(database)
    whole = stage.look(database)
    for first, second in _chains(len(points), 0.75 if concurrency == 1 else 0.25):
        _live_and_die(stage, first, second, whole)


def _chains(points: int, shift: float) -> Iterable[tuple[int, int]]:
    """Pairs of points to be killed at: of a first life, and of the one that follows."""
    wanted = os.environ.get("KILL_POINTS", CHAINS)
    chains = points if wanted == "all" else min(int(wanted), points)
    return [
        (1 + int(points * (chain + shift) / chains), 1 + int(SECOND * ((chain + 1) * STRIDE % 1)))
        for chain in range(chains)
    ]


def _live_and_die(stage: Stage, first: int, second: int, whole: Stored) -> None:
    database = stage.fresh()
    killed = []
    for again, at in enumerate((first, second, 0)):
        status, points = stage.live(database, at, again=bool(again))
        if DONE in points:
            assert stage.was_begun(database), f"an answer was given for what is lost, at {points[-1]!r}"
        killed.append(stage.look(database))
        if not status:
            break
    *earlier, end = killed
    for before in earlier:
        _assert_kept(before, end, remakes=SCENES[stage.name].remakes)
        _assert_went_on(before, end)
    assert end.memory == whole.memory, f"another end after kills at {first} and {second}"
    assert end.history == whole.history
    assert end.told == whole.told
    assert end.chat["memory_version"] == whole.chat["memory_version"]
    assert_truthful(database, "c")
    assert not stage.findings(database)


def _assert_kept(before: Stored, end: Stored, *, remakes: bool) -> None:
    """What was committed is there: messages, texts and what they stand for, what was told of them, what they cost."""
    assert {row["id"] for row in before.messages} <= {row["id"] for row in end.messages}
    assert before.events == end.events[: len(before.events)]
    for snippet_id, was in before.snippets.items():
        now = end.snippets[snippet_id]
        texts = {now["text"], *(end.earlier[snippet_id] if remakes else ())}
        assert was["text"] in texts
        assert was["covers"] == now["covers"]
        assert now["state"] in ("live", "absorbed")
    for name in ("calls", "prompt_tokens", "completion_tokens"):
        spent = end.chat["usage"].get(name, 0)
        assert spent >= before.chat["usage"].get(name, 0)
        assert spent >= sum(snippet["usage"][name] for snippet in end.snippets.values())


def _assert_went_on(before: Stored, end: Stored) -> None:
    """A job that ran is interrupted, a later one has done the rest, and none is left."""
    states = {job["id"]: job["state"] for job in end.jobs}
    assert not {"queued", "running"} & set(states.values())
    for job in before.jobs:
        if job["state"] == "running":
            assert states[job["id"]] == "interrupted"
            assert [later["state"] for later in end.jobs if later["key"] > job["key"]][-1] == "succeeded"
        elif job["state"] != "queued":
            assert states[job["id"]] == job["state"]
