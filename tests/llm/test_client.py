"""The client provider: a frontend's own model answers, however long that takes."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.core.calling import Ending, Reply, Trouble
from app.core.health import Pending
from app.core.model import Usage
from app.core.retry import RetryPolicy
from app.core.summary import Connection, Summary, SummaryRequest
from app.errors import ModelRejected, ModelUnavailable, ModelUnusable, ModelWithdrawn
from app.llm.caller import Caller
from app.llm.http import new_client
from app.llm.wire import MAX_ANSWER_CHARS
from tests.support.fake_frontends import FakeFrontends
from tests.support.fake_time import FakeTime

CONNECTION = Connection("SillyTavern", "client", concurrency=2, timeout_s=90)
REQUEST = SummaryRequest("fold", CONNECTION, "You summarize.", "Anna: I leave.", (), (), 20, 1000, chat="c")
TWO_ATTEMPTS = RetryPolicy(attempts=2)


@pytest.fixture
def frontends() -> FakeFrontends:
    return FakeFrontends()


@pytest.fixture
async def caller(time: FakeTime, frontends: FakeFrontends) -> AsyncIterator[Caller]:
    async with new_client() as client:
        yield Caller(
            client=client,
            count=lambda text: len(text.split()),
            extract=lambda _: "",
            policy=TWO_ATTEMPTS,
            cooldown_s=60,
            clock=time.now,
            sleep=time.sleep,
            random=lambda: 0.0,
            frontends=frontends,
        )


def begin(caller: Caller, chat: str = "c", **changed: Any) -> asyncio.Task[Summary]:
    return asyncio.create_task(caller.summarize(replace(REQUEST, chat=chat, **changed)))


async def test_an_answer_becomes_a_summary(caller: Caller, frontends: FakeFrontends) -> None:
    """It is cleaned and judged as every model's; we count where the frontend does not, and its model is named."""
    frontends.script(Reply("<think>Hm.</think>Summary: Anna left.", "stop", "kunoichi"))
    found = await caller.summarize(REQUEST)
    assert found == Summary("Anna left.", 2, "SillyTavern", "kunoichi", Usage(1, 5, 3))
    [prompt] = frontends.prompts
    assert (prompt.chat, prompt.connection, prompt.system, prompt.user) == (
        *("c", "SillyTavern"),
        *("You summarize.", "Anna: I leave."),
    )
    assert (prompt.attempt, prompt.timeout_s, prompt.temperature) == (1, 90, 0.3)


async def test_its_own_counts_are_taken(caller: Caller, frontends: FakeFrontends) -> None:
    """Tokens that a frontend's server counted are the cost."""
    frontends.script(Reply("Anna left.", prompt_tokens=70, completion_tokens=9))
    assert (await caller.summarize(REQUEST)).usage == Usage(1, 70, 9)


@pytest.mark.parametrize(
    "said",
    [
        Reply(" \n"),
        Reply("Anna left the", "length"),
        Reply("I'm sorry, but I can't help with that."),
        Reply("a" * (MAX_ANSWER_CHARS + 1)),
    ],
)
async def test_what_cannot_become_memory_is_asked_again(caller: Caller, frontends: FakeFrontends, said: Reply) -> None:
    """A blank, truncated, refusing or endless answer is a failed attempt; the second call says that it is one."""
    frontends.script(said, Reply("Anna left."))
    assert (await caller.summarize(REQUEST)).text == "Anna left."
    assert [prompt.attempt for prompt in frontends.prompts] == [1, 2]


async def test_never_a_usable_answer(caller: Caller, frontends: FakeFrontends) -> None:
    """When the attempts are used up the batch has failed for its own sake."""
    frontends.script(Reply(""), Reply(""))
    with pytest.raises(ModelUnusable):
        await caller.summarize(REQUEST)


@pytest.mark.parametrize(
    "said", [Trouble("Overloaded", 529), Trouble("Too many", 429), Trouble("No idea"), "timed_out"]
)
async def test_passing_trouble_is_tried_again(
    caller: Caller, frontends: FakeFrontends, time: FakeTime, said: Trouble | Ending
) -> None:
    """After the usual wait; once attempts are used up the error names the connection."""
    frontends.script(said, Reply("Anna left."), said, said)
    assert (await caller.summarize(REQUEST)).usage.calls == 2
    assert time.sleeps == [2.0]
    with pytest.raises(ModelUnavailable, match="Connection 'SillyTavern'"):
        await caller.summarize(REQUEST)


async def test_the_wait_that_was_asked_for(caller: Caller, frontends: FakeFrontends, time: FakeTime) -> None:
    """`retry_after_s` takes the usual wait's place."""
    frontends.script(Trouble("Too many", 429, 20), Trouble("Busy", None, 30))
    with pytest.raises(ModelUnavailable):
        await caller.summarize(REQUEST)
    assert time.sleeps == [20]


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_refusals_are_not_tried_again(caller: Caller, frontends: FakeFrontends, status: int) -> None:
    """What a person has to put right is told in the frontend's own words."""
    frontends.script(Trouble("No such model.", status))
    with pytest.raises(ModelRejected, match=rf"'SillyTavern' answered {status} [\w ]+: No such model\.$") as caught:
        await caller.summarize(REQUEST)
    assert (caught.value.status, caught.value.calls) == (status, 1)


async def test_a_frontend_s_words_are_clipped(caller: Caller, frontends: FakeFrontends) -> None:
    """On one line, no longer than 300 characters, and without what may be a key."""
    frontends.script(Trouble(f"Bad\x1b[31m key\nsk-{'x1' * 20} " + "so " * 500, 401))
    with pytest.raises(ModelRejected) as caught:
        await caller.summarize(REQUEST)
    told = caught.value.detail
    assert told.startswith("Connection 'SillyTavern' answered 401 Unauthorized: Bad [31m key … so so")
    assert len(told) < 400
    assert told.isprintable()


async def test_until_it_is_taken_nothing_counts(caller: Caller, frontends: FakeFrontends, time: FakeTime) -> None:
    """A call that nobody takes is no call: it costs nothing, blames nobody, and may be cut."""
    call = begin(caller)
    await frontends.asked(1)
    time.pass_by(100_000)
    assert caller.pending("c") == Pending(100_000, 0)
    caller.silent("c", 45)
    assert caller.health("SillyTavern").state == "ok"
    call.cancel()
    await asyncio.wait([call])
    assert (frontends.cut, time.sleeps) == (1, [])


async def test_other_chats_are_not_held_up(caller: Caller, frontends: FakeFrontends) -> None:
    """Each chat has as many calls waiting as the connection allows, whatever the others have."""
    calls = [begin(caller, chat) for chat in "ccccdd"]
    await frontends.asked(4)
    await asyncio.sleep(0)
    assert sorted(prompt.chat for prompt in frontends.prompts) == ["c", "c", "d", "d"]
    frontends.script(*[Reply("Anna left.")] * 6)
    assert len(await asyncio.gather(*calls)) == 6


async def test_after_a_cool_down_nobody_waits_for_another(
    caller: Caller, frontends: FakeFrontends, time: FakeTime
) -> None:
    """Three failed batches cool the connection down; then every chat asks, for one might wait for ever."""
    frontends.script(*[Trouble("Overloaded", 503)] * 6)
    for _ in range(3):
        with pytest.raises(ModelUnavailable):
            await caller.summarize(REQUEST)
    assert caller.health("SillyTavern").state == "cooling_down"
    time.pass_by(61)
    calls = [begin(caller, chat) for chat in "cd"]
    await frontends.asked(8)
    frontends.script(Reply("Anna left."), Reply("Anna left."))
    await asyncio.gather(*calls)
    assert caller.health("SillyTavern").state == "ok"


async def test_what_is_withdrawn_has_not_failed(caller: Caller, frontends: FakeFrontends) -> None:
    """The caller is told to plan anew; the connection is as well as before."""
    frontends.script("withdrawn")
    with pytest.raises(ModelWithdrawn):
        await caller.summarize(REQUEST)
    assert caller.health("SillyTavern").state == "ok"


async def test_a_test_asks_whether_somebody_is_there(caller: Caller, frontends: FakeFrontends, time: FakeTime) -> None:
    """It calls no model; it says what to do while no frontend has asked for prompts lately, and harms nothing."""
    never = await caller.test(CONNECTION)
    assert (never.ok, "none has asked for prompts yet" in never.detail) == (False, True)
    frontends.looked_at = time.now()
    time.pass_by(30)
    assert (await caller.test(CONNECTION)).ok
    time.moment += timedelta(minutes=5)
    late = await caller.test(CONNECTION)
    assert (late.ok, "since 12:00 UTC" in late.detail) == (False, True)
    assert (await caller.models(CONNECTION), frontends.prompts) == ([], [])
    assert caller.health("SillyTavern").state == "ok"
