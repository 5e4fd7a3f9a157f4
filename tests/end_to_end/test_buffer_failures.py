"""A summary buffer whose model fails or is too slow: the answer goes ahead, nothing is lost, and it costs little."""

import asyncio
import json
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import httpx
import pytest

from app.services.projection_query import ProjectionQuery
from tests.support.buffer import BufferChat, buffering, codes, said
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import answer, blank, hang, status
from tests.support.scripted import ScriptedModels
from tests.support.service import Service
from tests.support.table import laid

_numbers = count(1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, FakeModel]]:
    with buffering(tmp_path_factory.mktemp("failures")) as server:
        yield server


@pytest.fixture
def chat(server: tuple[Service, FakeModel]) -> BufferChat:
    """Ten turns: a fold is due."""
    return due(*server, f"chat-{next(_numbers)}")


def due(service: Service, model: FakeModel, name: str = "c") -> BufferChat:
    chat = BufferChat(service, model, name, expose_error_output=True)
    chat.say(*range(1, 11))
    return chat


def test_a_model_that_hangs_costs_one_time_out(chat: BufferChat) -> None:
    """The call is cut at the limit, the history is sent as it is, and the next answers do not wait."""
    chat.change(timeout_s=0.3)
    chat.model.do(hang())
    prompt = chat.ask()
    assert (codes(prompt), len(said(prompt)), prompt["memory"]["version"]) == (["fold_failed"], 20, 0)
    assert prompt["skipped"] == {"reason": "cancelled", "pending_turns": 7, "pending_tokens": 161}
    assert prompt["error"]["connection"] == "default"
    assert "within 0.3 s" in prompt["error"]["detail"]
    chat.left()
    chat.say(11)
    chat.change(timeout_s=30)
    began = time.monotonic()
    assert codes(chat.ask()) == ["fold_failed"]
    assert time.monotonic() - began < 5
    assert (len(chat.calls), chat.counts()) == (1, (0, 22))
    assert chat.service.status(chat.id)["last_error"]["code"] == "provider_unavailable"


def test_after_a_while_it_is_tried_again(chat: BufferChat) -> None:
    """Once the cool-down has passed an answer waits for the fold again; until then a person may ask for it."""
    chat.change(timeout_s=0.3)
    chat.model.do(hang())
    chat.ask()
    chat.change(timeout_s=30)
    assert codes(chat.ask()) == ["fold_failed"]
    with sqlite3.connect(chat.service.database) as database:
        database.execute("UPDATE chats SET retry_at = 1 WHERE id = ?", [chat.id])
    prompt = chat.ask()
    assert (codes(prompt), prompt["error"], chat.counts()) == ([], None, (14, 6))
    assert chat.service.status(chat.id)["last_error"] is None


def test_the_rest_grows(tmp_path: Path) -> None:
    """Time-outs in a row let answers rest twice as long each."""
    rests = []
    with buffering(tmp_path) as server:
        chat = due(*server)
        chat.change(timeout_s=0.2)
        for _ in range(3):
            chat.model.do(hang())
            assert codes(chat.ask()) == ["fold_failed"]
            with sqlite3.connect(chat.service.database) as database:
                [told] = database.execute("SELECT last_error FROM chats WHERE id = ?", [chat.id]).fetchone()
                database.execute("UPDATE chats SET retry_at = 1 WHERE id = ?", [chat.id])
            failure = json.loads(told)
            rests.append(round((failure["retry_at"] - failure["at"]) / 1000))
    assert rests == [60, 120, 240]


def test_what_a_person_asked_for_is_not_cut(chat: BufferChat) -> None:
    """An answer that joined a `summarize` goes ahead at its limit; the job goes on, and ends the rest."""
    chat.change(timeout_s=0.3)
    chat.model.hold()
    job = chat.service.post(f"{chat.path}/summarize").json()["job"]
    chat.called()
    assert codes(chat.ask()) == codes(chat.ask()) == ["fold_failed"]
    assert chat.service.get(f"/jobs/{job['id']}").json()["state"] == "running"
    chat.model.release()
    chat.service.settled(chat.id)
    assert (codes(chat.ask()), chat.counts(), len(chat.calls)) == ([], (14, 6), 1)


def test_a_person_may_ask_at_once(chat: BufferChat) -> None:
    """`summarize` folds whatever answers wait for, and ends the cool-down."""
    chat.change(timeout_s=0.3)
    chat.model.do(hang())
    chat.ask()
    chat.service.post(f"{chat.path}/summarize")
    chat.service.settled(chat.id)
    assert (codes(chat.ask()), chat.counts()) == ([], (14, 6))


def test_a_model_that_fails_is_tried_before_the_next_answer(chat: BufferChat) -> None:
    """The warning says which connection, what it answered and what to do; nothing has changed."""
    chat.model.do(status(500))
    prompt = chat.ask()
    assert (codes(prompt), len(said(prompt)), chat.counts()) == (["fold_failed"], 20, (0, 20))
    [warning] = [one["detail"] for one in prompt["warnings"] if one["code"] == "fold_failed"]
    assert "Connection 'default' answered 500 Internal Server Error: look at its server, or wait." in warning
    assert (prompt["error"]["code"], prompt["error"]["status"]) == ("provider_unavailable", 500)
    assert prompt["skipped"]["reason"] == "model_error"
    assert chat.service.get(f"{chat.path}/snippets?state=all").json()["items"] == []
    assert (codes(chat.ask()), chat.counts()) == ([], (14, 6))


def test_a_blank_answer_is_no_summary(chat: BufferChat) -> None:
    """Whatever says nothing is never stored, and the error is hidden unless it is exposed."""
    chat.change(expose_error_output=False)
    chat.model.do(blank())
    prompt = chat.ask()
    assert (codes(prompt), prompt["skipped"]["reason"], prompt["error"]) == (["fold_failed"], "empty_output", None)
    assert chat.counts() == (0, 20)


def test_a_dead_model_is_left_alone(tmp_path: Path) -> None:
    """After three failures the connection cools down: answers are warned without any call."""
    with buffering(tmp_path) as server:
        chat = due(*server)
        with chat.model.only(status(503)):
            for _ in range(4):
                assert codes(chat.ask()) == ["fold_failed"]
        assert len(chat.calls) == 3
        assert "left alone until" in str(chat.ask()["warnings"])


def test_a_missing_connection_is_a_warning(chat: BufferChat) -> None:
    """A connection that does not exist fails the fold, not the answer."""
    chat.change(llm_source="external", connection="gone")
    prompt = chat.ask()
    assert (codes(prompt), len(said(prompt))) == (["fold_failed"], 20)
    assert "gone" in prompt["error"]["detail"]


def test_stop_ends_the_wait(chat: BufferChat) -> None:
    """Who waits for a fold that is stopped gets the history at once; the next message lets it fold again."""
    chat.model.hold()
    with chat.asking() as [asked]:
        chat.called()
        assert chat.service.post(f"{chat.path}/stop").json()["stopped"] is True
        prompt = asked.result(10)
    assert (codes(prompt), prompt["skipped"]["reason"]) == (["fold_failed"], "cancelled")
    chat.model.release()
    assert (codes(chat.ask()), chat.counts()) == ([], (0, 20))
    chat.say(11)
    assert (codes(chat.ask()), chat.counts()) == ([], (16, 6))


def test_what_is_cleared_stays_cleared(chat: BufferChat) -> None:
    """A summary that comes after a clear or a reset is not stored."""
    chat.model.hold()
    with chat.asking() as [asked]:
        chat.called()
        chat.service.put(f"{chat.path}/messages", {"messages": [{"role": "user", "content": "Anew."}], "reset": True})
        chat.model.release()
        prompt = asked.result(10)
    assert (said(prompt), prompt["memory"]["text"], codes(prompt)) == (["Anew."], "", [])
    assert chat.counts() == (0, 1)


def test_chunks_before_the_time_out_stand(chat: BufferChat) -> None:
    """What was folded in time stays, with a warning for the rest, which is folded before the next answer."""
    wire = {"provider": "openai", "base_url": chat.model.base_url, "model": "small", "context_size": 1400}
    chat.service.put("/connections/small", wire)
    chat.change(llm_source="external", connection="small", max_summary_tokens=64, timeout_s=1.5)
    chat.say(*range(11, 101), fold="none")
    chat.model.do(answer("Mira passes many gates."), hang())
    assert codes(chat.ask()) == ["fold_failed"]
    folded = chat.counts()[0]
    assert 0 < folded < 194
    assert (codes(chat.ask()), chat.counts()) == ([], (194, 6))


def test_a_client_that_leaves_keeps_nobody_from_waiting(chat: BufferChat) -> None:
    """The fold goes on for others when the client that began it has gone."""
    chat.model.hold()
    with pytest.raises(httpx.ReadTimeout):
        chat.service.http.post(f"/v1{chat.path}/projection", json={}, timeout=0.3)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(chat.ask)
        chat.called()
        chat.model.release()
        assert codes(asked.result(10)) == []
    assert (len(chat.calls), chat.counts()) == (1, (14, 6))


async def test_a_fold_under_way_survives_a_restart(tmp_path: Path) -> None:
    """A server that ends during the call leaves everything as it was; the next one makes the fold by itself."""
    models = ScriptedModels()
    models.hold()
    async with laid(tmp_path, models) as table:
        table.services.keeping.put("c", {"strategy": "summary_buffer"})
        await table.say(*range(1, 11))
        asked = asyncio.create_task(table.services.answering.project("c", ProjectionQuery()))
        await models.arrived(1)
        await table.server.runner.stop()
        prompt = await asked
        assert "fold_failed" in [warning.code for warning in prompt.warnings]
        assert table.status().counts.ghosted == 0
    async with laid(tmp_path) as table:
        assert (await table.folded()).counts.ghosted == 14
        await table.settled()
        assert len((await table.services.answering.project("c", ProjectionQuery())).messages) == 7
        assert len(table.models.requests) == 1
