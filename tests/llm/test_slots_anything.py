"""Slots under any sequence of calls that come, end and are cut, beside a plain model of the rule."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

from hypothesis import given
from hypothesis import strategies as st

from tests.support.desk import Desk, settle


class Rule:
    """The rule once more, as plainly as can be: every call with all that ever happened to it, looked at anew."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.chats: list[str] = []
        self.states: list[str] = []
        self.history: list[tuple[str, str, int]] = []  # what happened, to which chat, to which call

    def note(self, what: str, call: int) -> None:
        self.history.append((what, self.chats[call], call))

    def ask(self, chat: str) -> None:
        self.chats.append(chat)
        self.states.append("waits")
        self.note("came", len(self.chats) - 1)
        self.serve()

    def end(self, call: int) -> None:
        self.note("ended" if self.states[call] == "holds" else "left", call)
        self.states[call] = "over"
        self.serve()

    def held(self) -> list[int]:
        return [call for call, state in enumerate(self.states) if state == "holds"]

    def waiting(self) -> list[int]:
        return [call for call, state in enumerate(self.states) if state == "waits"]

    def serve(self) -> None:
        while self.waiting() and len(self.held()) < self.limit:
            under_way = Counter(self.chats[call] for call in self.held())
            chosen = min(self.waiting(), key=lambda call: (under_way[self.chats[call]], self._since(call), call))
            self.states[chosen] = "holds"
            self.note("began", chosen)

    def _since(self, call: int) -> int:
        return max(
            place
            for place, (what, chat, which) in enumerate(self.history)
            if which == call or (chat == self.chats[call] and what in ("began", "ended"))
        )


ASK = st.tuples(st.just("ask"), st.sampled_from("abcd"))
NUMBERED = st.tuples(st.sampled_from(["finish", "cut waiting", "cut holding"]), st.integers(0, 30))
LIMIT = st.tuples(st.just("limit"), st.integers(1, 4))
STEPS = st.lists(ASK | ASK | NUMBERED | NUMBERED | LIMIT, max_size=40)
Step = tuple[str, str | int]


async def _take_step(desk: Desk, step: Step, rest: Callable[[], Awaitable[None]]) -> int | None:
    """What it says; the place of the call that it ended."""
    what, value = step
    if what == "ask":
        await desk.ask(str(value))
    elif what == "limit":
        desk.slots.limit = int(value)
        await rest()
    else:
        calls = [call for call in desk.calls if not call.over and call.begun == (what != "cut waiting")]
        if not calls:
            return None
        call = calls[int(value) % len(calls)]
        if what == "finish":
            call.go.set()
        else:
            call.cancel()
        await rest()
        return desk.calls.index(call)
    return None


@given(STEPS, st.integers(1, 4))
def test_slots_go_as_the_rule_says(steps: list[Step], limit: int) -> None:
    """Whatever comes, ends, is cut or changes the limit: the same calls are under way as by the plain rule."""

    async def play() -> None:
        desk, rule = Desk(limit), Rule(limit)
        for step in steps:
            ended = await _take_step(desk, step, settle)
            if step[0] == "ask":
                rule.ask(str(step[1]))
            elif step[0] == "limit":
                rule.limit = int(step[1])
                rule.serve()
            elif ended is not None:
                rule.end(ended)
            assert [desk.calls.index(call) for call in desk.calls if call.holds] == rule.held()
        _assert_nobody_starves(rule)
        await desk.close()
        assert all(call.over for call in desk.calls)

    asyncio.run(play())


def _assert_nobody_starves(rule: Rule) -> None:
    """While a chat waits with nothing under way, every other chat begins one call at most."""
    waiting, under_way = Counter[str](), Counter[str]()
    passed: dict[str, Counter[str]] = {}  # for every chat that waits so, who has begun how many calls since
    for what, chat, _ in rule.history:
        waiting[chat] += {"came": 1, "began": -1, "left": -1, "ended": 0}[what]
        under_way[chat] += {"came": 0, "began": 1, "left": 0, "ended": -1}[what]
        idle = {name for name in waiting if waiting[name] and not under_way[name]}
        passed = {name: passed.get(name, Counter()) for name in idle}
        if what == "began":
            for begun in passed.values():
                begun[chat] += 1
                assert begun[chat] == 1


async def _no_rest() -> None:
    """So that the next step comes before the last one was noticed."""


@given(STEPS, st.integers(1, 4))
def test_no_slot_is_lost_or_doubled_in_any_race(steps: list[Step], limit: int) -> None:
    """Steps that fall into one moment: never more under way than the highest limit, and none free while calls wait."""

    async def play() -> None:
        desk, most = Desk(limit), limit
        for step in steps:
            await _take_step(desk, step, _no_rest)
            most = max(most, desk.slots.limit)
            assert len(desk.holding) <= most
        await settle()
        waiting = [call for call in desk.calls if not call.begun and not call.over]
        assert not waiting or len(desk.holding) >= desk.slots.limit
        await desk.close()
        await desk.ask(*"abcdabcd")
        assert len(desk.holding) == desk.slots.limit
        await desk.close()

    asyncio.run(play())
