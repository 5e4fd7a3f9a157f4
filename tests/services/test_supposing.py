"""The prompt as another kind of memory would make it: the one that a switch brings, with nothing switched."""

import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.services.projection_query import ProjectionQuery
from app.services.projection_view import ProjectionView
from tests.support.chained import SETTINGS, Chained
from tests.support.hands import SMALL
from tests.support.table import Table, laid

STRATEGIES = ["layered", "rolling", "summary_buffer", "none"]
OPTIONS: list[dict[str, Any]] = [
    *({}, {"view": "v"}, {"context_size": 110, "max_tokens": 10}, {"names": "prefix", "format": "anthropic"}),
    *({"memory_placement": "in_chat:1", "format": "text"}, {"known_prefix": f"{'0' * 12}-{'0' * 12}-1-0-0"}),
]


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


async def grown(table: Table) -> Chained:
    """A chat of seven turns that every kind of memory tells something of, with a view that has a window."""
    chat = Chained(table, "layered")
    await table.say(*range(1, 6))
    for strategy in ("rolling", "summary_buffer"):
        chat.switch(strategy)
        table.services.steering.summarize("c")
        await table.settled()
    buffer = {**SETTINGS["summary_buffer"], "memory_placement": "user_message", "expose_messages_output": True}
    calm = {"paused": True, "memory_share": 0.4, "memory_placement": "system_message", "summary_buffer": buffer}
    table.services.keeping.put("c", {"settings": calm})
    table.services.viewing.put("c", "v", {"context_size": 150, "max_tokens": 10, "omit_authors": ["Tom"]})
    await table.say(6, 7)
    table.services.projecting.project("c", ProjectionQuery(view="v"), keep=True)
    return chat


def prompt(table: Table, **asked: Any) -> ProjectionView:
    return table.services.projecting.project("c", ProjectionQuery(**asked))


def same_version(found: ProjectionView) -> ProjectionView:
    """A switch itself makes another version of the chat's memory."""
    return replace(found, memory=replace(found.memory, version=0))


def stored(table: Table) -> list[str]:
    """All that the database holds of the chat."""
    with sqlite3.connect(table.database) as raw:
        tables = ("chats", "messages", "snippets", "views", "jobs", "events")
        return [str(raw.execute(f"SELECT * FROM {name}").fetchall()) for name in tables]


async def test_it_is_the_prompt_that_a_switch_brings(table: Table) -> None:
    """From every kind of memory to every other, with and without a view, whatever is asked for; nothing is stored."""
    chat = await grown(table)
    told = {name: prompt(table, strategy=name).memory.snippets for name in STRATEGIES}
    assert (told["none"], told["rolling"], told["summary_buffer"]) == (0, 1, 1)
    assert told["layered"] > 1
    real = {}
    for strategy in STRATEGIES:
        chat.switch(strategy)
        real[strategy] = [same_version(prompt(table, **options)) for options in OPTIONS]
    for present in STRATEGIES:
        chat.switch(present)
        held = stored(table)
        for strategy in STRATEGIES:
            supposed = [prompt(table, strategy=strategy, **options) for options in OPTIONS]
            assert [same_version(one) for one in supposed] == real[strategy]
        assert stored(table) == held


async def test_memory_that_changes_while_it_sleeps(table: Table) -> None:
    """Its block is not remembered: the chat's version does not tell of it."""
    chat = await grown(table)
    chat.switch("none")
    first = prompt(table, strategy="rolling")
    chat.change("u1", content="Something else altogether.")
    supposed = prompt(table, strategy="rolling")
    assert supposed.memory.text != first.memory.text
    chat.switch("rolling")
    assert same_version(supposed) == same_version(prompt(table))


async def test_layered_memory_would_give_turns_back(table: Table) -> None:
    """Too few are left in its window, so that the newest snippets would give way, merged ones to their parts."""
    chat = Chained(table, "layered")
    table.settings(**SMALL)
    await table.say(*range(1, 12))
    await table.settled()
    chat.switch("none")
    table.services.keeping.put("c", {"settings": {"paused": True, "layered": {"verbatim_turns": 8}}})
    supposed = prompt(table, strategy="layered", omit_authors=["Tom"])
    assert supposed.window.turns == 8
    chat.switch("layered")
    assert same_version(supposed) == same_version(prompt(table, omit_authors=["Tom"]))


async def test_a_failure_of_the_present_memory_is_its_own(table: Table) -> None:
    """What another would say of the turns that wait is told as after a switch."""
    chat = await grown(table)
    chat.switch("layered")
    table.sql("""UPDATE chats SET last_error = '{"skip": "model_error"}'""")
    supposed = prompt(table, strategy="rolling")
    chat.switch("rolling")
    assert same_version(supposed) == same_version(prompt(table))


async def test_without_ghosting_all_is_sent_anyway(table: Table) -> None:
    """Whatever the memory would be."""
    await grown(table)
    table.services.keeping.put("c", {"settings": {"ghosting": False}})
    plain = prompt(table)
    assert (plain.memory.text, plain.left_out) == ("", ())
    assert prompt(table, strategy="layered").messages == plain.messages
