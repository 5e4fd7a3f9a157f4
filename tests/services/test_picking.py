"""app.services.picking: what is tried is what is folded, asked in the same words."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.core.model import Role, Span
from app.core.summary import SummaryRequest
from app.errors import Conflict, InvalidRequest
from app.services.recording import Draft
from app.services.rehearsing import Rehearsal, TrialQuery
from tests.support.table import Table, laid, turn_drafts

SETTINGS: dict[str, dict[str, Any]] = {
    "layered": {"layered": {"verbatim_turns": 2, "turns_per_batch": 2, "flush_turns": 4, "snippets_per_layer": 4}},
    "rolling": {"rolling": {"keep_recent_turns": 1, "trigger_turns": 2, "trigger_tokens": 0}},
    "summary_buffer": {"summary_buffer": {"max_messages_before_summary": 6, "recent_messages_to_keep": 2}},
}
STRATEGIES = sorted(SETTINGS)


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


def prepare(table: Table, strategy: str, **settings: Any) -> None:
    names = {"user_name": "Mira", "character_name": "Tom"}
    table.services.keeping.put("c", {"strategy": strategy, "settings": {**SETTINGS[strategy], **settings}, **names})


async def attempt(table: Table, first: int | None = None, last: int | None = None, **settings: Any) -> Rehearsal:
    span = None if first is None else Span(first, first if last is None else last)
    return await table.services.rehearsing.rehearse("c", TrialQuery(settings=settings, span=span))


async def folded(table: Table) -> list[SummaryRequest]:
    """What folding asks once all that is due is folded."""
    before = len(table.models.requests)
    job = table.services.steering.summarize("c").job
    assert job is not None
    await table.settled()
    return table.models.requests[before:]


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_what_would_fold_next_is_asked_as_the_fold_asks_it(table: Table, strategy: str) -> None:
    """Word for word, with the memory there is: the first fold's prompt, and that of a later one."""
    prepare(table, strategy)
    for turns in (range(1, 7), range(7, 13)):
        await table.say(*turns, fold="none")
        tried = await attempt(table)
        asked = (await folded(table))[0]
        assert (tried.system, tried.user) == (asked.system, asked.user)
        assert tried.passage.tokens == asked.source_tokens


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_with_nothing_due_it_is_the_newest_fold_again(table: Table, strategy: str) -> None:
    """The prompt that made the newest summary, and none of what that says."""
    prepare(table, strategy, layered={**SETTINGS["layered"]["layered"], "snippets_per_layer": 30})
    await table.say(*range(1, 9), fold="none")
    asked = await folded(table)
    tried = await attempt(table)
    assert (tried.system, tried.user) == (asked[-1].system, asked[-1].user)
    assert "Line" not in tried.user or f"Line {len(asked)} " not in tried.user


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_young_chat_is_tried_on_the_turns_it_has(table: Table, strategy: str) -> None:
    """Inside the window too; the open turn is none of them, and a chat without a turn says what it lacks."""
    prepare(table, strategy)
    with pytest.raises(Conflict, match="closed turn"):
        await attempt(table)
    await table.say(1)
    await table.services.recording.append("c", turn_drafts(2)[:1], "none", 0)
    passage = (await attempt(table)).passage
    assert (passage.first_index, passage.last_index, passage.turns) == (0, 1, 1)


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_chosen_range_is_widened_to_whole_turns(table: Table, strategy: str) -> None:
    """Covered or not; every message of the turns is told, none before or after."""
    prepare(table, strategy, rolling={**SETTINGS["rolling"]["rolling"], "context_size": 4096})
    await table.say(*range(1, 13), fold="none")
    await folded(table)
    for span, turns in {(3, 4): (2, 5), (4, 4): (4, 5), (0, 99): (0, 23), (22, 23): (22, 23)}.items():
        tried = await attempt(table, *span)
        assert (tried.passage.first_index, tried.passage.last_index) == turns
        told = tried.user[tried.user.index("Mira: ") :]
        assert told.count("Mira: ") == told.count("Tom: ") == tried.passage.turns == (turns[1] - turns[0] + 1) // 2


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_only_what_precedes_a_passage_is_its_context(table: Table, strategy: str) -> None:
    """A covered passage is asked about without the summary that covers it, and without later ones."""
    prepare(table, strategy)
    table.models.default = lambda request: f"Told {request.passage[0].text}"
    for turns in (range(1, 9), range(9, 17)):
        await table.say(*turns, fold="none")
        await folded(table)
    assert "Told" not in (await attempt(table, 0)).user
    late = (await attempt(table, 30)).user
    assert "Told" in late
    middle = (await attempt(table, 16)).user
    assert "gate 9." not in middle[: middle.index("Mira: ")].replace("Mira asks", "")


async def test_a_range_without_a_turn_is_refused(table: Table) -> None:
    """Beyond the chat, of hidden messages, or of a turn that no reply closes."""
    prepare(table, "layered")
    await table.say(1, 2)
    await table.services.recording.append("c", turn_drafts(3)[:1], "none", 0)
    for name in ("u1", "a1"):
        table.services.editing.edit("c", name, {"hidden": True})
    for span in ((0, 1), (4, 4), (70, 80)):
        with pytest.raises(InvalidRequest) as refused:
            await attempt(table, *span)
        assert refused.value.errors[0]["loc"] == ["body", "first_index"]
    assert (await attempt(table, 0, 2)).passage.first_index == 2


async def test_settings_hold_for_the_call_alone(table: Table) -> None:
    """The passage, the prompt and its limits follow them; the chat keeps its own."""
    prepare(table, "layered")
    await table.say(*range(1, 9), fold="none")
    before = table.services.keeping.get("c")
    tried = await attempt(
        table,
        layered={"turns_per_batch": 3, "system_prompt": "At most {{max_tokens}}, {{nobody}}.", "snippet_tokens": 40},
    )
    assert (tried.system, tried.passage.turns) == ("At most 40, {{nobody}}.", 3)
    assert table.services.keeping.get("c") == before
    assert (await attempt(table)).passage.turns == 2


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_very_long_turn_loses_its_middle_as_when_it_folds(table: Table, strategy: str) -> None:
    """A message of a quarter of a megabyte makes the very prompt that its fold makes, and no larger one."""
    prepare(table, strategy, rolling={**SETTINGS["rolling"]["rolling"], "oversize": "clip"})
    long = "".join(f"Gate {number} is open. " for number in range(12_000))
    drafts = [Draft(Role.USER, long), Draft(Role.ASSISTANT, "Tom nods.")]
    await table.services.recording.append("c", drafts, "none", 0)
    await table.say(*range(2, 9), fold="none")
    tried = await attempt(table)
    asked = (await folded(table))[0]
    assert (tried.system, tried.user) == (asked.system, asked.user)
    assert " […] " in tried.user
    assert tried.tokens < 13_500 < tried.passage.tokens


async def test_where_rolling_memory_would_stop_the_trial_says_so(table: Table) -> None:
    """A turn that its window has no room for is a problem, and asked about by nobody."""
    prepare(table, "rolling")
    long = "Every gate is open. " * 2000
    await table.services.recording.append("c", [Draft(Role.USER, long), Draft(Role.ASSISTANT, "Yes.")], "none", 0)
    tried = await table.services.rehearsing.rehearse("c", TrialQuery(run=True))
    assert tried.problem is not None
    assert (tried.problem.code, tried.text, table.models.requests) == ("invalid_request", None, [])
    assert "oversize" in tried.problem.detail
