"""Asks models for summaries until one can become memory. Source of the rules: layered.md, Failing calls."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar, TypeVarTuple

import httpx
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_never

from app.core.acceptance import Accepted, TooLong, Unusable, judge
from app.core.cleaning import clean
from app.core.clipping import cut_to_phrases
from app.core.health import Health, Pending, Trial
from app.core.model import Usage
from app.core.retry import Decision, Failure, GiveUp, RetryPolicy, Wait, decide
from app.core.summary import Connection, CountTokens, Summary, SummaryRequest
from app.errors import ModelUnavailable
from app.llm import client as fronts
from app.llm import faults, journal
from app.llm.answers import ROOM_TO_THINK, Judged, judged_answer, max_tokens
from app.llm.batches import Batch, Batches
from app.llm.http import Clock, exchange, quiet_http_logs
from app.llm.lane import Lane
from app.llm.servers import listed_models, wire_format
from app.llm.slots import Slots
from app.llm.wire import Answer, Ask, CallFailed, unusable
from app.resources import resource_dir

T = TypeVar("T")
Args = TypeVarTuple("Args")

_TEST_TOKENS = 64
_BY_HAND = ""  # a person's test waits for its turn as a chat of its own


class _TryAgain(Exception):
    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


def _seconds(state: RetryCallState) -> float:
    """tenacity's wait: what was decided when the attempt failed."""
    failed = state.outcome.exception() if state.outcome else None
    return failed.seconds if isinstance(failed, _TryAgain) else 0.0


class Caller:
    """A Summarizer for every provider; one per process. Calls belong to one event loop."""

    def __init__(
        self,
        *,
        client: httpx.AsyncClient,
        count: CountTokens,
        extract: Callable[[SummaryRequest], str],
        policy: RetryPolicy,
        cooldown_s: float,
        clock: Clock,
        sleep: Callable[[float], Awaitable[None]],
        random: Callable[[], float],
        frontends: fronts.Frontends | None = None,
    ) -> None:
        """`extract` runs in a thread; `clock` gives aware times in UTC, `sleep` takes seconds, `random` gives 0-1.

        Its threads are its own, and few: whatever is folded, the API's are free. Without `frontends` no connection of
        the provider `client` can be called.
        """
        self._client = client
        self._count = count
        self._extract = extract
        self._policy = policy
        self._cooldown_s = cooldown_s
        self._clock = clock
        self._sleep = sleep
        self._random = random
        self._frontends = frontends
        self._lanes: dict[str, Lane] = {}
        self._batches = Batches(clock)
        self._extracting = ThreadPoolExecutor(1, "turnfold-extracting")
        self._extractor = Slots(1)  # so that chats take turns in that thread too
        self._judging = ThreadPoolExecutor(2, "turnfold-judging")
        prompts = Environment(
            loader=FileSystemLoader(resource_dir("prompts")), undefined=StrictUndefined, autoescape=False
        )
        self._too_long = prompts.get_template("too_long.md.j2")
        self._test_prompt = prompts.get_template("connection_test.md.j2").render()
        quiet_http_logs()

    async def summarize(self, request: SummaryRequest) -> Summary:
        """As Summarizer promises. `usage` sums every call, failed ones included."""
        with journal.about(request):
            if request.connection.provider == "extractive":
                return await self._extracted(request)
            with self._batches.under_way(request, self._lane(request.connection)) as batch:
                return await self._tried(batch)

    async def _tried(self, batch: Batch) -> Summary:
        retrying = AsyncRetrying(
            sleep=self._sleep,
            wait=_seconds,
            stop=stop_never,  # how many attempts there are is part of the decision to try again
            retry=retry_if_exception_type(_TryAgain),
            reraise=True,
        )
        return await retrying(self._attempt, batch)

    async def models(self, connection: Connection) -> list[str]:
        """The models a server offers, in its order. Asked once; raises ModelError."""
        if connection.provider in ("extractive", fronts.PROVIDER):
            return []
        try:
            return await listed_models(self._client, connection, self._clock)
        except CallFailed as failed:
            raise faults.error(connection, failed.failure, used=Usage(1)) from None

    async def test(self, connection: Connection) -> Trial:
        """Asks the model for one word, once, during a cool-down too; if that goes well, the cool-down is over."""
        if connection.provider == "extractive":
            return Trial(True, 0, "The extractive summarizer is built in and needs no server.")
        lane = self._lane(connection)
        if connection.provider == fronts.PROVIDER and self._frontends is not None:
            trial = await fronts.trial(self._frontends, connection, self._clock())
        else:
            async with lane.slots.of(_BY_HAND):
                trial = await self._timed_trial(connection)
        if trial.ok or connection.provider != fronts.PROVIDER:  # that no frontend is there now is no failure
            lane.tested(trial)
        return trial

    def health(self, name: str) -> Health:
        """How a connection fares, as far as this process has called it. From any thread."""
        lane = self._lanes.get(name)
        return lane.health if lane else Health("ok")

    def healths(self) -> dict[str, Health]:
        """How those connections fare that this process has called since they were last changed. From any thread."""
        return {name: lane.health for name, lane in sorted(self._lanes.copy().items()) if lane.known}

    def pending(self, chat: str) -> Pending | None:
        """How the summary fares that a chat waits for; None if this process asks no model for one. From any thread."""
        return self._batches.pending(chat)

    def silent(self, chat: str, seconds: float) -> None:
        """That summary is given up after so many seconds: a failed batch of its connection, if that was asked. From any
        thread.
        """
        self._batches.silent(chat, seconds)

    def forget(self, name: str) -> None:
        """A person changed the connection: what was known of it counts no more. From any thread.

        Its calls under way still take their place among those that may run at once.
        """
        lane = self._lanes.get(name)
        if lane:
            lane.forget()

    def _counter(self, request: SummaryRequest) -> CountTokens:
        return request.count or self._count

    def _lane(self, connection: Connection) -> Lane:
        lane = self._lanes.get(connection.name)
        if lane is None:
            lane = self._lanes[connection.name] = Lane(connection.name, self._cooldown_s, self._clock)
        lane.admit(connection)
        return lane

    async def _extracted(self, request: SummaryRequest) -> Summary:
        name = request.connection.name
        async with self._extractor.of(request.chat):
            text = await _in(self._extracting, self._extract, request)
        if not text.strip():
            raise faults.nothing_to_extract(name)
        return Summary(text, self._counter(request)(text), name, None, Usage(), degraded=request.clipped)

    async def _attempt(self, batch: Batch) -> Summary:
        batch.attempt, batch.said = batch.attempt + 1, ""
        try:
            judged = await self._ask(batch, batch.request.user)
            if isinstance(judged.verdict, TooLong):
                return await self._shortened(batch, judged)
            return _summary(batch, judged, degraded=batch.request.clipped)
        except CallFailed as failed:
            raise self._after(batch, failed.failure) from None

    async def _shortened(self, batch: Batch, judged: Judged) -> Summary:
        """Asks once more, with the limit stated; then (or if that fails) keeps the whole phrases within the limit."""
        request = batch.request
        stated = self._too_long.render(max_tokens=request.limit)
        try:
            judged = await self._ask(batch, f"{request.user}\n\n{stated}")
        except CallFailed as failed:
            # There will be a summary, so nothing is tried again; but a server that wants to be left alone is.
            decision = decide(self._policy, failed.failure, batch.attempt, self._random)
            if not isinstance(decision, Wait):
                batch.lane.failed(request.connection, failed.failure, decision)
        except ModelUnavailable:
            pass  # the connection began to cool down between the two calls
        if isinstance(judged.verdict, Accepted):
            return _summary(batch, judged, degraded=request.clipped)
        count = self._counter(request)
        text = await _in(self._judging, cut_to_phrases, judged.text, request.limit, count)
        if not text:
            raise unusable("gave no phrase that fits")
        return _summary(batch, replace(judged, text=text, tokens=count(text)), degraded=True)

    async def _ask(self, batch: Batch, user: str) -> Judged:
        """One call, cleaned and judged. Raises CallFailed, for an unusable answer too."""
        request = batch.request
        count = self._counter(request)
        room = await _in(self._judging, max_tokens, request, user, count)
        ask = Ask(request.system, user, room)
        with journal.told(request.connection, batch.attempt) as call:
            answer = await batch.lane.run(request, batch.used, lambda: self._send(batch, ask, call))
            batch.lane.answered()
            batch.said = answer.text
            # Tens of milliseconds for a model that rambles: not on the event loop.
            judged = await _in(self._judging, judged_answer, request, ask, answer, count)
            call.judged(judged.verdict, judged.usage)
            batch.pay(judged.usage)
            if isinstance(judged.verdict, Unusable):
                raise unusable(judged.verdict.reason)
            return judged

    async def _send(self, batch: Batch, ask: Ask, call: journal.Call) -> Answer:
        try:
            if batch.request.connection.provider == fronts.PROVIDER and self._frontends is not None:
                return await self._ask_frontend(self._frontends, batch, ask, call)
            self._batches.sent(batch)
            return await self._call(batch.request.connection, ask, call)
        finally:
            batch.pay(Usage(calls=call.made))

    async def _ask_frontend(self, frontends: fronts.Frontends, batch: Batch, ask: Ask, call: journal.Call) -> Answer:
        """Until somebody takes it this is no call: it costs nothing, and nobody is to blame for the time it takes."""

        def taken() -> None:
            call.begin()
            self._batches.sent(batch)

        with call.measured():
            return await fronts.ask(frontends, batch.request, ask, batch.attempt, taken)

    async def _call(self, connection: Connection, ask: Ask, call: journal.Call) -> Answer:
        wire = wire_format(connection)
        request, reader = wire.build_request(connection, ask), wire.reader()
        with call.timed():
            await exchange(self._client, request, connection.timeout_s, self._clock, reader.take)
        return reader.answer()

    def _after(self, batch: Batch, failure: Failure) -> Exception:
        """What a failed attempt leads to: another one, or the end."""
        connection = batch.request.connection
        decision = self._decide(batch, failure)
        health = batch.lane.failed(connection, failure, decision)
        if isinstance(decision, Wait) and health.state != "cooling_down":
            journal.retrying(connection, batch.attempt + 1, decision.seconds)
            return _TryAgain(decision.seconds)
        return faults.error(connection, failure, retry_at=health.retry_at, used=batch.used, said=batch.said)

    def _decide(self, batch: Batch, failure: Failure) -> Decision:
        """In a trial an answer that cannot be used is what one wants to see, not a reason to wait for a better one."""
        if batch.request.trial and failure.kind == "unusable":
            return GiveUp()
        return decide(self._policy, failure, batch.attempt, self._random)

    async def _timed_trial(self, connection: Connection) -> Trial:
        started = self._clock()
        failure = await self._trial(connection)
        latency_ms = round((self._clock() - started).total_seconds() * 1000)
        if failure:
            return Trial(False, latency_ms, faults.describe(connection, failure))
        return Trial(True, latency_ms, f"Connection {connection.name!r} answered in {latency_ms} ms.")

    async def _trial(self, connection: Connection) -> Failure | None:
        ask = Ask("", self._test_prompt, connection.max_tokens or ROOM_TO_THINK)
        try:
            with journal.told(connection, 1) as call:
                answer = await self._call(connection, ask, call)
                tokens = {"tokens": 1, "limit": _TEST_TOKENS, "source_tokens": _TEST_TOKENS}
                verdict = judge(clean(answer.text), answer.ending, **tokens)
                call.judged(verdict)
        except CallFailed as failed:
            return failed.failure
        return Failure("unusable", reason=verdict.reason) if isinstance(verdict, Unusable) else None


async def _in(pool: ThreadPoolExecutor, call: Callable[[*Args], T], *args: *Args) -> T:
    return await asyncio.get_running_loop().run_in_executor(pool, call, *args)


def _summary(batch: Batch, judged: Judged, *, degraded: bool) -> Summary:
    connection = batch.request.connection
    model = judged.model or connection.model
    return Summary(judged.text, judged.tokens, connection.name, model, batch.used, degraded)
