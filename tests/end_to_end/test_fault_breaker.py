"""The breaker, on every path: what shuts a connection, for whom, for how long, and what one probe decides."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.end_to_end.fault_stage import Stage, staged
from tests.support import fake_replies as replies
from tests.support.fake_exchange import Behaviour, Exchange

DOWN = replies.status(503)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Batches that fail at their first attempt."""
    with staged(tmp_path_factory.mktemp("breaker"), attempts=1) as stage:
        yield stage


def chats_on(stage: Stage, connection: str, number: int, **fields: Any) -> list[str]:
    """Chats on a new connection, each of which folds with its next turn."""
    stage.connect(connection, "openai", **fields)
    names = [f"{connection}-{place}" for place in range(number)]
    for name in names:
        stage.open_chat(name, connection)
    return names


def fail(stage: Stage, chats: list[str], fault: Behaviour = DOWN) -> None:
    """One failed batch for each of these chats."""
    with stage.model.only(fault):
        for chat in chats:
            assert stage.service.say(chat, 13)["usage"]["calls"] == 1


def seen(stage: Stage, chat: str) -> tuple[str, float | None]:
    """State of a chat's connection, and for how many seconds it is left alone."""
    found = stage.service.status(chat)["connection"]
    return found["state"], stage.until(found["retry_at"]) if found["retry_at"] else None


def ready(stage: Stage, connection: str) -> tuple[str, float | None]:
    """The same as /readyz says it, of a connection; the server is ready all the same."""
    answer = stage.service.http.get("/readyz")
    assert answer.status_code == 200
    [found] = [check for check in answer.json()["checks"]["connections"] if check["name"] == connection]
    return found["state"], stage.until(found["retry_at"]) if found["retry_at"] else None


def ghosted(stage: Stage, chat: str) -> int:
    count: int = stage.service.settled(chat)["counts"]["ghosted"]
    return count


def on_ollama(fault: Behaviour) -> Behaviour:
    """A fault for calls in Ollama's format, an answer for others."""

    async def behave(exchange: Exchange) -> None:
        await (fault if exchange.request.wire == "ollama" else replies.answer("Anna left Ben."))(exchange)

    return behave


def wait_until(seen: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    "fault",
    [*(replies.status(status) for status in (401, 403, 404, 429, 500, 529)), replies.reset(), replies.hang()],
    ids=["401", "403", "404", "429", "500", "529", "reset", "time-out"],
)
def test_three_failed_batches_shut_the_connection_for_all_chats(
    stage: Stage, fault: Behaviour, request: pytest.FixtureRequest
) -> None:
    """Whatever chats they were of, the fourth batch calls nothing; its error says until when, and why."""
    name = f"shut-{request.node.callspec.id}"
    first, second, third, fourth = chats_on(stage, name, 4, timeout_s=0.15)
    fail(stage, [first, second])
    assert seen(stage, fourth) == ("failing", None)
    fail(stage, [third], fault)
    before = len(stage.model.calls)
    assert stage.service.say(fourth, 13)["usage"]["calls"] == 0
    assert len(stage.model.calls) == before
    assert {seen(stage, chat) for chat in (first, second, third, fourth)} == {("cooling_down", 60)}
    assert ready(stage, name) == ("cooling_down", 60)
    error = stage.service.status(fourth)["last_error"]
    until = stage.time.now().timestamp() + 60
    told = time.strftime("%H:%M:%S", time.gmtime(until))
    assert error["detail"].startswith(
        f"Connection '{name}' is left alone until {told} UTC, then tried again by itself."
    )
    assert "Before that: Connection" in error["detail"]
    assert (error["code"], stage.until(error["retry_at"]), ghosted(stage, fourth)) == ("provider_unavailable", 60, 0)


@pytest.mark.parametrize(
    "fault",
    [*(replies.status(status) for status in (400, 408, 413, 422)), replies.blank(), replies.length_stop("Anna")],
    ids=["400", "408", "413", "422", "blank", "length"],
)
def test_what_speaks_against_a_passage_shuts_nothing(
    stage: Stage, fault: Behaviour, request: pytest.FixtureRequest
) -> None:
    """However many batches a model does not take, the next one is asked; and they end a row of failures."""
    name = f"open-{request.node.callspec.id}"
    chats = chats_on(stage, name, 6)
    fail(stage, chats[:2])
    fail(stage, chats[2:5], fault)
    assert seen(stage, chats[5]) == ("ok", None)
    fail(stage, chats[5:])
    assert seen(stage, chats[5]) == ("failing", None)
    assert stage.service.say(chats[5], 14)["usage"]["calls"] == 1


def test_a_backlog_stops_at_its_first_failure(stage: Stage) -> None:
    """A server that is down costs a job one batch's calls, not one of each batch; three jobs shut the connection."""
    [chat] = chats_on(stage, "backlog", 1)
    stage.service.say(chat, *range(13, 61), fold="none")
    for count in (1, 2, 3, 3):
        with stage.model.only(DOWN):
            stage.service.post(f"/chats/{chat}/backlog", {"choice": "all"})
            status = stage.service.settled(chat)
        assert (status["summarizer_usage"]["calls"], status["counts"]["ghosted"]) == (count, 0)
    assert seen(stage, chat) == ("cooling_down", 60)
    assert status["last_error"]["detail"].startswith("Connection 'backlog' is left alone until ")


def test_calls_side_by_side_shut_it_once(stage: Stage) -> None:
    """Eight batches of one backlog that fail together are one cool-down of a minute; then all of it is folded."""
    [chat] = chats_on(stage, "wide", 1, concurrency=8)
    stage.service.patch(f"/chats/{chat}", {"settings": {"layered": {"backlog_concurrency": 8}}})
    stage.service.say(chat, *range(13, 71), fold="none")
    with stage.model.only(DOWN):
        stage.service.post(f"/chats/{chat}/backlog", {"choice": "all"})
        status = stage.service.settled(chat)
    assert (status["counts"]["ghosted"], status["memory_version"]) == (0, 0)
    assert 3 <= status["summarizer_usage"]["calls"] <= 8
    assert seen(stage, chat) == ("cooling_down", 60)
    assert stage.until(status["last_error"]["retry_at"]) == 60
    stage.time.pass_by(60)
    stage.service.post(f"/chats/{chat}/backlog", {"choice": "all"})
    assert (ghosted(stage, chat), seen(stage, chat)) == (120, ("ok", None))


def test_merges_count(stage: Stage) -> None:
    """Three failed merges shut the connection of merges, and no other; every turn is folded all the same."""
    chat, other = "merging", "not-merging"
    stage.connect("folds", "openai")
    stage.connect("merges", "ollama")
    small = {"verbatim_turns": 2, "turns_per_batch": 1, "snippets_per_layer": 3, "snippets_per_promotion": 2}
    stage.open_chat(chat, "folds", merge_connection="merges", layered=small)
    stage.open_chat(other, "merges")
    with stage.model.only(on_ollama(DOWN)):
        stage.service.post(f"/chats/{chat}/summarize")
        stage.service.settled(chat)
    assert (seen(stage, other), seen(stage, chat)) == (("cooling_down", 60), ("ok", None))
    status = stage.service.status(chat)
    assert status["last_error"]["connection"] == "merges"
    assert [layer["snippets"] for layer in status["layers"]] == [9, 1]


def test_what_is_made_anew_counts(stage: Stage) -> None:
    """Three failed tries to make a snippet anew shut the connection; its old text stays."""
    [chat] = chats_on(stage, "anew", 1)
    stage.service.say(chat, 13)
    [snippet] = stage.service.get(f"/chats/{chat}/snippets").json()["items"]
    for number in range(3):
        assert seen(stage, chat) == ("failing" if number else "ok", None)
        with stage.model.only(DOWN):
            stage.service.post(f"/chats/{chat}/snippets/{snippet['id']}/regenerate")
            stage.service.settled(chat)
    assert seen(stage, chat) == ("cooling_down", 60)
    [after] = stage.service.get(f"/chats/{chat}/snippets").json()["items"]
    assert (after["id"], after["text"]) == (snippet["id"], snippet["text"])


def test_the_fallback_counts_for_itself(stage: Stage) -> None:
    """A fallback that fails is shut after three batches too; the first connection, mended, does not mind."""
    chat, other = "falling", "on-the-fallback"
    stage.connect("first", "openai")
    stage.connect("fallback", "ollama")
    stage.open_chat(chat, "first", fallback_connection="fallback")
    stage.open_chat(other, "fallback")
    with stage.model.only(DOWN):
        for turn in (13, 14, 15):
            assert seen(stage, other)[0] != "cooling_down"
            stage.service.say(chat, turn)
    assert {seen(stage, chat), seen(stage, other)} == {("cooling_down", 60)}
    stage.connect("first", "openai")
    assert stage.service.say(chat, 16)["usage"]["calls"] == 2  # folds of turns 1-3 and 4-6
    assert (ghosted(stage, chat), seen(stage, chat), seen(stage, other)[0]) == (12, ("ok", None), "cooling_down")


def test_a_connection_that_is_shut_leaves_its_work_to_the_fallback(stage: Stage) -> None:
    """The fallback is asked at once, the first connection not at all; what it writes is marked, and says who wrote."""
    stage.connect("second", "ollama")
    *others, chat = chats_on(stage, "shut", 4)
    stage.service.patch(f"/chats/{chat}", {"settings": {"fallback_connection": "second"}})
    fail(stage, others)
    before = len(stage.model.calls)
    assert stage.service.say(chat, 13)["usage"]["calls"] == 1
    assert [call.wire for call in stage.model.calls[before:]] == ["ollama"]
    [snippet] = stage.service.get(f"/chats/{chat}/snippets").json()["items"]
    assert (snippet["connection"], snippet["degraded"], snippet["stale"]) == ("second", True, False)
    assert stage.service.status(chat)["degraded_snippets"] == 1


def test_a_list_of_models_is_no_call(stage: Stage) -> None:
    """Asking for it neither counts nor waits, nor does it end a cool-down."""
    chats = chats_on(stage, "lists", 3)
    with stage.model.only(DOWN):
        for _ in range(4):
            assert stage.service.get("/connections/lists/models").status_code == 503
    assert seen(stage, chats[0]) == ("ok", None)
    fail(stage, chats)
    assert stage.service.get("/connections/lists/models").json()["items"] == ["fake-small", "fake-large"]
    assert seen(stage, chats[0]) == ("cooling_down", 60)


def test_one_probe_decides_for_all(stage: Stage) -> None:
    """After the cool-down one call goes ahead while the others wait; it fails, so they make none, for twice as long."""
    chats = chats_on(stage, "probe", 4)
    fail(stage, chats[:3])
    stage.time.pass_by(60)
    before = len(stage.model.calls)
    stage.model.hold()
    with stage.model.only(DOWN):
        for chat in chats:
            stage.service.say(chat, 14, fold="background")
        wait_until(lambda: len(stage.model.calls) > before)
        time.sleep(0.2)
        assert len(stage.model.calls) == before + 1
        stage.model.release()
        assert {ghosted(stage, chat) for chat in chats} == {0}
    assert len(stage.model.calls) == before + 1
    assert {seen(stage, chat) for chat in chats} == {("cooling_down", 120)}


def test_a_good_probe_lets_the_others_go(stage: Stage) -> None:
    """Once it is answered, all that waited is asked; the connection is well again."""
    chats = chats_on(stage, "probed", 4)
    fail(stage, chats[:3])
    stage.time.pass_by(60)
    before = len(stage.model.calls)
    stage.model.hold()
    for chat in chats:
        stage.service.say(chat, 14, fold="background")
    wait_until(lambda: len(stage.model.calls) > before)
    time.sleep(0.2)
    assert len(stage.model.calls) == before + 1
    stage.model.release()
    assert {ghosted(stage, chat) for chat in chats} == {6}
    assert len(stage.model.calls) == before + 4
    assert {seen(stage, chat) for chat in chats} == {("ok", None)}


def test_the_cool_down_doubles_to_a_quarter_of_an_hour(stage: Stage) -> None:
    """60, 120, 240, 480, 900, 900 seconds: status and /readyz say so, and the server is ready all the same."""
    chats = chats_on(stage, "default", 3)
    fail(stage, chats[:2])
    rests = []
    for turn in range(13, 19):
        with stage.model.only(DOWN):
            assert stage.service.say(chats[2], turn)["usage"]["calls"] == 1
        state, rest = seen(stage, chats[2])
        assert (state, rest) == ready(stage, "default")
        assert (state, rest is None) == ("cooling_down", False)
        rests.append(rest or 0)
        stage.time.pass_by(rests[-1])
    assert rests == [60, 120, 240, 480, 900, 900]
    assert seen(stage, chats[2]) == ("failing", None)
