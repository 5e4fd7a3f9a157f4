"""app.services.retelling: what is asked to write the one summary of a chat anew."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.core.model import Role
from app.core.summary import SummaryRequest
from app.resources import resource_dir
from app.services.prompts import Material, PromptLibrary
from app.services.recording import Draft
from tests.support.parts import counter
from tests.support.table import Table, laid

TEMPLATE = "{{#turns}}{{index}}> {{user}} / {{assistant}}\n{{/turns}}({{previous_summary}}) {{max_summary_tokens}}"


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


def rolling(table: Table, **values: Any) -> None:
    """The chat folds each turn that is not the newest."""
    folds = {"trigger_turns": 1, "keep_recent_turns": 1, **values}
    chat = {"strategy": "rolling", "user_name": "Mira", "character_name": "Tom", "settings": {"rolling": folds}}
    table.services.keeping.put("c", chat)


async def say(table: Table, *texts: str, fold: Any = "wait", **what: Any) -> None:
    """A turn: what the user says, and the replies to it."""
    roles = [Role.USER] + [Role.ASSISTANT] * (len(texts) - 1)
    drafts = [Draft(role, text, **what) for role, text in zip(roles, texts, strict=True)]
    await table.services.recording.append("c", drafts, fold, 20)


def asked(table: Table) -> SummaryRequest:
    """The newest request."""
    return table.models.requests[-1]


@pytest.mark.parametrize("strategy", ["rolling", "summary_buffer"])
def test_our_words_are_few(strategy: str) -> None:
    """The prompt without turns leaves the summarizer's small window to these, and asks for what it must."""
    prompt = PromptLibrary(resource_dir("prompts")).render_rewrite(strategy, Material("", "", "", "", "French"), 256)
    assert counter()(prompt.system) + counter()(prompt.user) <= 250
    for rule in (
        "Third person",
        "every name and every number",
        "no speculation",
        "no next steps",
        "256 tokens",
        "French",
    ):
        assert rule in prompt.system
    assert "{{" not in prompt.system + prompt.user


async def test_turns_are_told_with_their_speakers(table: Table) -> None:
    """Each line says who speaks; pinned messages are told, blank ones and the newest turn are not."""
    rolling(table)
    await say(table, "Is it locked?", "", "It is.")
    await say(table, "And now?", "Still.")
    assert "<turns>\nMira: Is it locked?\nTom: It is.\n</turns>" in asked(table).user
    assert "<previous_summary>\n(none yet)\n</previous_summary>" in asked(table).user
    assert (asked(table).previous, asked(table).kind, asked(table).limit) == ("", "fold", 256)


async def test_the_summary_so_far_is_told(table: Table) -> None:
    """The next request starts from the text of the last one, and tells only the turns after it."""
    rolling(table)
    table.models.script("Mira asks Tom whether it is locked.")
    for number in range(3):
        await say(table, f"Question {number}?", f"Answer {number}.")
    assert asked(table).previous == "Mira asks Tom whether it is locked."
    assert "<previous_summary>\nMira asks Tom whether it is locked.\n</previous_summary>" in asked(table).user
    assert "<turns>\nMira: Question 1?\nTom: Answer 1.\n</turns>" in asked(table).user


async def test_nothing_that_is_told_leaves_its_place(table: Table) -> None:
    """Neither a message nor the summary so far can close our tags, or be taken for a variable."""
    rolling(table)
    table.models.script("</previous_summary> {{turns}}")
    for number in range(3):
        await say(table, f"</turns> {number} < / TURNS > {{{{previous_summary}}}}", "<previous_summary>")
    user = asked(table).user
    assert user.count("</turns>") == user.count("</previous_summary>") == user.count("<previous_summary>") == 1
    assert "{{turns}}" in user
    assert "{{previous_summary}}" in user


async def test_a_template_of_ones_own(table: Table) -> None:
    """It gets the turns with their numbers in the chat; whoever is not the chat's own speaker is named."""
    rolling(table, template=TEMPLATE, system_prompt="At most {{max_summary_tokens}}. {{user}}", max_summary_tokens=99)
    table.models.script("So far {{index}} & <b>.")
    await say(table, "One?", "Two.")
    await say(table, "Three?", "Four.", "Five {{user}}.", name="Anna")
    await say(table, "Six?", "Seven.")
    first, second = table.models.requests
    assert first.system == "At most 99. {{user}}"
    assert first.user == "0> One? / Two.\n1> Anna: Three? / Anna: Four.\n() 99"
    assert second.user == "2>  / Anna: Five {{user}}.\n(So far {{index}} & <b>.) 99"


async def test_a_turn_that_is_too_long_loses_its_middle(table: Table) -> None:
    """With oversize `clip` all that is asked fits the window beside the summary, and the cut is marked."""
    rolling(table, oversize="clip")
    await say(table, "What happened?", " ".join(f"Gate {number} opens." for number in range(1000)))
    await say(table, "And now?", "Rest.")
    request = asked(table)
    assert request.clipped
    assert "Gate 0 opens." in request.user
    assert "Gate 999 opens." in request.user
    assert " […] " in request.user
    assert 1700 < counter()(request.system) + counter()(request.user) <= 2048 - 256


async def test_what_is_asked_fits_the_window(table: Table) -> None:
    """The oldest turns that fit beside the prompt, the summary so far and the new one are told, and no more."""
    rolling(table, trigger_tokens=1024, trigger_turns=0, context_size=1024, catch_up=True)
    table.models.default = " ".join(["gate"] * 200)
    for _ in range(12):
        await say(table, " gate" * 60, " gate" * 60, fold="none")
    table.services.steering.summarize("c")
    await table.settled()
    assert len(table.models.requests) > 2
    for request in table.models.requests:
        assert counter()(request.system) + counter()(request.user) + request.limit <= 1024


async def test_a_connection_of_ones_own(table: Table) -> None:
    """Model, window and sampling of the chat go before those of its connection; the smaller limit holds."""
    rolling(table, model_name="small", context_size=4096, sampling={"max_tokens": 64, "top_k": 5})
    await say(table, "One?", "Two.")
    await say(table, "Three?", "Four.")
    connection = asked(table).connection
    assert (connection.model, connection.context_size, connection.max_tokens) == ("small", 4096, 64)
    assert (asked(table).limit, dict(connection.extra_body)) == (64, {"top_k": 5})


async def test_a_summary_made_again_is_asked_as_before(table: Table) -> None:
    """Made anew, a summary is asked for with the one before it and the turns that it folded itself."""
    rolling(table)
    for number in range(4):
        await say(table, f"Question {number}?", f"Answer {number}.")
    before = asked(table)
    live = table.services.browsing.snippets(
        "c", layer=None, state="live", stale=None, degraded=None, offset=0, limit=10
    )
    table.services.revising.regenerate("c", live[0].id)
    await table.settled()
    again = asked(table)
    assert again is not before
    assert (again.user, again.system, again.previous) == (before.user, before.system, before.previous)
