"""The promises of layered.md, held by random chats, settings, failures and changes of mind after every step."""

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from app.core.folding import AUTO, DRAIN, FORCE, Fold, Mode
from app.core.model import Message, Outline, Role, Snippet
from app.core.projection import Costs, Projection, project
from app.core.promotion import Merge, Promotion, Seed
from app.core.settings import LayeredSettings
from app.core.turns import outline
from tests.support.builders import histories, layered, lines, reply, turns
from tests.support.replay import Answer, Chat


def _halved(source: int) -> int:
    return max(1, source // 2)


def _always(size: int) -> Answer:
    return lambda _: size


def _one_by_one(answers: Sequence[int]) -> Answer:
    """Answers of these lengths; 0 and their end are calls that fail or are cancelled."""
    left = iter(answers)
    return lambda _: next(left, 0) or None


class Histories(RuleBasedStateMachine):
    """A chat to which anything may happen in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.chat = Chat(LayeredSettings(verbatim_turns=2, turns_per_batch=2, snippets_per_layer=3, max_layers=3))

    # What happens

    @initialize(count=st.integers(0, 24))
    def begin(self, count: int) -> None:
        """Most chats have a memory already."""
        self.chat.append(turns(count))
        self._run(AUTO, _always(10))

    @rule(messages=st.lists(lines, min_size=1, max_size=6))
    def append(self, messages: list[Message]) -> None:
        self.chat.append(messages)

    @rule(count=st.integers(1, 12))
    def append_turns(self, count: int) -> None:
        self.chat.append(turns(count))

    @rule(settings=layered())
    def change_settings(self, settings: LayeredSettings) -> None:
        self.chat.settings = settings

    @precondition(lambda self: self.chat.messages)
    @rule(data=st.data(), hidden=st.booleans())
    def hide_or_show(self, data: st.DataObject, hidden: bool) -> None:
        self.chat.hide(self._place(data), hidden=hidden)

    @precondition(lambda self: self.chat.messages)
    @rule(data=st.data(), pinned=st.booleans())
    def pin_or_unpin(self, data: st.DataObject, pinned: bool) -> None:
        self.chat.pin(self._place(data), pinned=pinned)

    @precondition(lambda self: self.chat.messages)
    @rule(data=st.data())
    def remove_message(self, data: st.DataObject) -> None:
        self.chat.remove(self._place(data))

    @rule(data=st.data(), message=st.one_of(lines, st.just(reply())))
    def insert_message(self, data: st.DataObject, message: Message) -> None:
        self.chat.insert(data.draw(st.integers(0, len(self.chat.messages))), message)

    @rule()
    def show_and_unpin_all(self) -> None:
        for place in range(len(self.chat.messages)):
            self.chat.hide(place, hidden=False)
            self.chat.pin(place, pinned=False)

    @precondition(lambda self: self.chat.memory.live)
    @rule(data=st.data())
    def delete_snippet(self, data: st.DataObject) -> None:
        self.chat.forget(data.draw(st.integers(0, len(self.chat.memory.live) - 1)))

    @rule()
    def skip(self) -> None:
        self.chat.skip()

    @precondition(lambda self: self.chat.messages)
    @rule(data=st.data())
    def skip_one(self, data: st.DataObject) -> None:
        """Old turns may be skipped, newer ones not, and others come between them."""
        self.chat.skip({self.chat.messages[self._place(data)].key})

    @rule()
    def take_up_skipped(self) -> None:
        self.chat.take_up_skipped()

    @rule(mode=st.sampled_from([AUTO, AUTO, DRAIN, FORCE]), answers=st.lists(st.integers(0, 40), max_size=8))
    def fold(self, mode: Mode, answers: list[int]) -> None:
        self._run(mode, _one_by_one(answers))

    @rule(mode=st.sampled_from([AUTO, DRAIN, FORCE]), size=st.integers(1, 40))
    def fold_to_the_end(self, mode: Mode, size: int) -> None:
        """Folding ends, and then nothing is due."""
        self._run(mode, _always(size))
        assert self.chat.fold_due(mode) is None

    def _place(self, data: st.DataObject) -> int:
        return data.draw(st.integers(0, len(self.chat.messages) - 1))

    def _run(self, mode: Mode, answer: Answer) -> int:
        pending = len(self.chat.uncovered)
        bound = pending + (pending + len(self.chat.memory.live)) * (2 + self.chat.settings.max_layers)
        steps = self.chat.run(answer, mode, check=self._looked_at)
        assert steps <= bound
        return steps

    # What holds

    def _looked_at(self, plan: Fold | Promotion) -> None:
        """Promises 3 and 5: no fold enters the strict window, and every step has something to do."""
        if isinstance(plan, Seed):
            assert plan.layer > plan.snippet.layer
        elif isinstance(plan, Merge):
            self._merge_is_fair(plan)
        else:
            self._fold_is_fair(plan)

    def _merge_is_fair(self, merge: Merge) -> None:
        assert len(merge.sources) >= 2
        assert set(merge.sources) <= set(self.chat.memory.live)
        ranges = self.chat.ranges()
        gaps = [range(ranges[one.key][1], ranges[two.key][0]) for one, two in pairwise(merge.sources)]
        last = [turn.messages[-1].index for turn in self.chat.view.turns if turn.coverable]
        assert not any(index in gap for gap in gaps for index in last)

    def _fold_is_fair(self, fold: Fold) -> None:
        settings = self.chat.settings
        covers = {message.key for message in fold.covers}
        assert any(not message.blank for message in fold.covers)
        assert not covers & set(self.chat.under)
        assert all(message.visible and not message.pinned for message in fold.covers)
        assert not any(turn.skipped for turn in fold.turns)
        assert len(fold.turns) <= settings.turns_per_batch
        assert len(fold.turns) == 1 or sum(turn.tokens for turn in fold.turns) <= settings.passage_tokens
        inside = self.chat.messages[fold.covers[0].index : fold.last_index]
        assert not [m for m in inside if m.visible and not m.pinned and not m.blank and m.key not in covers]
        if settings.window == "strict":
            newest = outline(self.chat.messages, len(self.chat.messages)).turns[-settings.verbatim_turns :]
            assert not covers & {message.key for turn in newest for message in turn.messages}

    @invariant()
    def everything_is_visible_or_under_one_live_snippet(self) -> None:
        """Promise 1."""
        live = [snippet.key for snippet in self.chat.memory.live]
        assert len(set(live)) == len(live)
        assert set(self.chat.under.values()) == set(live)
        for message in self.chat.messages:
            if message.hidden or message.omitted or message.pinned:
                assert message.key not in self.chat.under

    @invariant()
    def live_snippets_ascend(self) -> None:
        """Promise 2."""
        live, ranges = self.chat.memory.live, self.chat.ranges()
        assert sorted(live, key=lambda snippet: -snippet.layer) == live
        ends = [place for snippet in live for place in ranges[snippet.key]]
        assert sorted(ends) == ends
        assert all(ranges[one.key][1] < ranges[two.key][0] for one, two in pairwise(live))

    @invariant()
    def the_prompt_says_what_it_leaves_out(self) -> None:
        """Promise 7, and that sent and left-out messages are all messages."""
        view, costs = self.chat.view, Costs(system=20, memory=10, current=5)
        for budget in (None, 40, 150, 600):
            found = project(view, self.chat.uncovered, len(self.chat.messages), costs, budget)
            _assert_fair(self.chat, view, found)


def _assert_fair(chat: Chat, view: Outline, found: Projection) -> None:
    sent = [message.index for part in (found.prompt, found.history, found.current) for message in part]
    left = [index for part in found.left_out for index in range(part.first_index, part.last_index + 1)]
    assert sorted(sent + left) == list(range(len(chat.messages)))
    assert sent == sorted(sent)
    for part in found.left_out:
        for message in chat.messages[part.first_index : part.last_index + 1]:
            _assert_reason(chat, message, part.reason)
    budget = found.tokens.budget
    assert budget is None or found.tokens.total <= budget or "over_budget" in found.warnings
    if "over_budget" in found.warnings:
        assert found.tokens.history == 0
    _assert_drops(view, found)


def _assert_reason(chat: Chat, message: Message, reason: str) -> None:
    assert (reason == "ghosted") == (message.key in chat.under)
    assert (reason == "hidden") == (message.hidden and reason != "ghosted")
    if reason in ("trimmed", "orphan"):
        assert message.visible
    assert reason != "trimmed" or not message.pinned


def _assert_drops(view: Outline, found: Projection) -> None:
    """Whole oldest turns: what is trimmed lies before everything of the window that is sent."""
    trimmed = [part.last_index for part in found.left_out if part.reason == "trimmed"]
    window = [m.index for m in (*found.history, *found.current) if not m.pinned]
    assert not trimmed or not window or max(trimmed) < min(window)
    assert found.tokens.budget is not None or not trimmed
    counted = [turn for turn in view.turns if turn.coverable]
    assert found.window_turns + found.dropped_turns == len(counted)


TestHistories = Histories.TestCase
TestHistories.settings = settings(stateful_step_count=30)


@given(messages=histories)
def test_without_memory_and_budget_the_prompt_is_the_history(messages: list[Message]) -> None:
    """Promise 7: all that is visible, says something and is no half of a tool pair, in order."""
    chat = Chat(LayeredSettings())
    chat.append(messages)
    found = project(chat.view, chat.uncovered, len(messages), Costs(), None)
    sent = [*found.prompt, *found.history, *found.current]
    plain = [m for m in chat.messages if m.visible and (not m.blank or m.role is Role.TOOL)]
    orphans = {part.first_index for part in found.left_out if part.reason == "orphan"}
    assert [message for message in sent if not (message.calls or message.answers)] == [
        message for message in plain if not (message.calls or message.answers)
    ]
    assert not orphans or found.warnings == ("orphaned_tool_messages",)


def _grown(
    messages: Sequence[Message], settings: LayeredSettings, cuts: Sequence[int]
) -> tuple[list[Snippet], dict[int, int]]:
    """The memory of a chat to which messages came in pieces, folded after each."""
    chat = Chat(settings)
    ends = sorted({cut % (len(messages) + 1) for cut in cuts} | {len(messages)})
    for start, end in zip([0, *ends], ends, strict=False):
        chat.append(messages[start:end])
        chat.run(_halved)
    return chat.memory.live, chat.under


cuts = st.lists(st.integers(0, 200), max_size=12)
steady = st.one_of(
    layered(window=st.just("strict"), flush_turns=st.none(), verbatim_tokens=st.just(0)),
    layered(window=st.just("compat"), verbatim_turns=st.integers(2, 5)),
)


@given(messages=histories, settings=steady, cut=cuts)
def test_the_same_history_gives_the_same_memory_however_it_came(
    messages: list[Message], settings: LayeredSettings, cut: list[int]
) -> None:
    """Promise 6, for any size of appends, unless flush_turns or verbatim_tokens make the moment count."""
    assert _grown(messages, settings, cut) == _grown(messages, settings, list(range(len(messages))))


@given(messages=histories, settings=layered(), cut=cuts)
def test_the_same_appends_give_the_same_memory(
    messages: list[Message], settings: LayeredSettings, cut: list[int]
) -> None:
    """Promise 6, for every setting."""
    assert _grown(messages, settings, cut) == _grown(messages, settings, cut)


@given(count=st.integers(0, 60), flush=st.integers(3, 12), cut=cuts)
def test_with_a_flush_the_snippets_are_the_same_as_far_as_they_go(count: int, flush: int, cut: list[int]) -> None:
    """The size of appends decides only how many batches are still pending, never where one ends."""
    settings = LayeredSettings(verbatim_turns=3, turns_per_batch=3, flush_turns=flush)
    _, one = _grown(turns(count), settings, cut)
    _, two = _grown(turns(count), settings, list(range(200)))
    shorter, longer = sorted([one, two], key=len)
    assert shorter.items() <= longer.items()
