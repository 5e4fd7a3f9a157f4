"""Two servers on one database file: a chat has one runner, and what one leaves the other takes up."""

import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from app.jobs.runner import BEAT_S, LEASE_MS
from tests.support.checks import assert_promises
from tests.support.provenance import assert_fresh
from tests.support.serving import Serving, age_leases, forked, served
from tests.support.stored import copied, read_stored
from tests.support.watchful_model import PROMPTS, Temper, WatchfulModel, words
from tests.support.zygote import Zygote

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

VERBATIM = 2
LAYERED = {"verbatim_turns": VERBATIM, "turns_per_batch": 1, "snippets_per_layer": 3, "snippets_per_promotion": 2}
SLACK_S = 8.0
"""A process that takes something up has things to do first, on a busy machine."""


@contextmanager
def pair(zygote: Zygote, folder: Path, model: WatchfulModel) -> Iterator[tuple[Serving, Serving]]:
    """Two servers on the database of a folder."""
    settings = {"llm_provider": "openai", "llm_base_url": model.base_url, "llm_model": "watchful"}
    with (
        served(forked(zygote), folder, "a", **settings) as one,
        served(forked(zygote), folder, "b", **settings) as other,
    ):
        one.ask("PATCH", "/settings", {"layered": {**LAYERED, **PROMPTS}, "on_backlog": "all"})
        yield one, other


def append(server: Serving, chat: str, turn: int) -> None:
    """A user line and a reply."""
    lines = [
        {"id": f"u{turn}", "role": "user", "content": words(chat, 2 * turn)},
        {"id": f"a{turn}", "role": "assistant", "content": words(chat, 2 * turn + 1)},
    ]
    server.ask("POST", f"/chats/{chat}/messages", {"messages": lines, "fold": "background"})


def until(reached: Callable[[], Any], seconds: float = 30) -> float:
    """Wait for something; how long that took, in seconds."""
    begun = time.monotonic()
    while not reached():
        assert time.monotonic() < begun + seconds
        time.sleep(0.02)
    return time.monotonic() - begun


def settled(server: Serving, chat: str) -> bool:
    """Whether nothing runs on a chat, and its window is all that is visible."""
    status = server.ask("GET", f"/chats/{chat}/status")
    return bool(status["job"] is None and status["backlog"]["turns"] == 0)


def runner(folder: Path) -> int:
    """Which process has the newest job."""
    with closing(sqlite3.connect(folder / "turnfold.db")) as connection:
        found = connection.execute("SELECT lease_owner FROM jobs ORDER BY key DESC LIMIT 1").fetchone()
    return int(found[0].split("-")[0])


def check(folder: Path, model: WatchfulModel, chat: str, turns: int) -> None:
    """The chat is whole, and each message is told once."""
    database = copied(folder / "turnfold.db", folder / "seen")
    assert_promises(database, chat, VERBATIM)
    assert_fresh(database, chat, model.made, set())
    stored = read_stored(database, chat)
    assert not stored.damage
    assert [message["content"] for message in stored.messages] == [words(chat, n) for n in range(2 * turns)]
    leaves = [snippet for snippet in stored.snippets.values() if snippet["kind"] != "merge"]
    assert sorted(m for leaf in leaves for m in leaf["covers"]) == sorted(
        message["id"] for message in stored.messages if message["layered_leaf"] is not None
    )


def test_one_runner_for_each_chat(zygote: Zygote, tmp_path: Path) -> None:
    """Appends that reach either server fold; two calls for one chat never meet, and both servers do their part."""
    chats = ["ann", "ben", "cem", "dan"]
    with WatchfulModel(Temper(0.01, 0.05)) as model, pair(zygote, tmp_path, model) as servers:
        for turn in range(10):
            for place, chat in enumerate(chats):
                append(servers[(turn + place) % 2], chat, turn)
        for chat in chats:
            until(partial(settled, servers[0], chat))
        assert model.most_at_once > 1
        assert model.overlaps == set()
        with closing(sqlite3.connect(tmp_path / "turnfold.db")) as connection:
            owners = connection.execute("SELECT DISTINCT lease_owner FROM jobs").fetchall()
        assert {int(owner.split("-")[0]) for (owner,) in owners} == {server.process.pid for server in servers}
        for chat in chats:
            check(tmp_path, model, chat, 10)


def _held(folder: Path, model: WatchfulModel, servers: tuple[Serving, Serving]) -> tuple[Serving, Serving]:
    """A chat of seven turns whose next fold the model is held with: the server that runs it, and the other one."""
    for turn in range(6):
        append(servers[turn % 2], "ann", turn)
    until(lambda: settled(servers[0], "ann"))
    model.hold()
    append(servers[0], "ann", 6)
    until(lambda: model.open_calls("ann"))
    one, other = servers
    return (one, other) if one.process.pid == runner(folder) else (other, one)


def test_the_other_takes_over(zygote: Zygote, tmp_path: Path) -> None:
    """What a killed server did is taken up by the other within its lease and a beat; nobody has to ask for it."""
    with WatchfulModel() as model, pair(zygote, tmp_path, model) as servers:
        victim, other = _held(tmp_path, model, servers)
        calls = len(model.calls)
        victim.kill()
        until(lambda: len(model.calls) > calls, LEASE_MS / 1000 + BEAT_S + SLACK_S)
        model.release()
        until(lambda: settled(other, "ann"))
        jobs = other.ask("GET", "/jobs?chat_id=ann")["items"]
        assert [job["state"] for job in jobs[:2]] == ["succeeded", "interrupted"]
        check(tmp_path, model, "ann", 7)


def test_a_late_answer_is_refused(zygote: Zygote, tmp_path: Path) -> None:
    """A server that stood still for longer than its lease cannot store what the other has stored meanwhile."""
    with WatchfulModel() as model, pair(zygote, tmp_path, model) as servers:
        sleeper, other = _held(tmp_path, model, servers)
        calls = len(model.calls)
        sleeper.process.send_signal(signal.SIGSTOP)
        age_leases(tmp_path)
        until(lambda: len(model.calls) > calls)
        model.release()  # both calls are answered; the sleeper finds its answer when it wakes
        until(lambda: settled(other, "ann"))
        before = read_stored(copied(tmp_path / "turnfold.db", tmp_path / "seen"), "ann")
        sleeper.process.send_signal(signal.SIGCONT)
        assert sleeper.ask("GET", "/chats/ann/status")["job"] is None
        append(sleeper, "ann", 7)
        until(lambda: settled(sleeper, "ann"))
        after = read_stored(copied(tmp_path / "turnfold.db", tmp_path / "seen"), "ann")
        assert set(before.snippets) <= set(after.snippets)
        assert len(after.snippets) == len(before.snippets) + 1
        check(tmp_path, model, "ann", 8)
        for server in servers:
            assert server.http.get("/readyz").status_code == 200
