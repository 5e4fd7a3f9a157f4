"""app.services.viewing: what views keep when requests overlap, and what lets their windows begin afresh."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.blocks import BEGINNING, Mark
from app.core.prefix import Beginning
from app.core.window import Window
from app.services.reading import read_history, require_chat
from app.services.viewing import KeptView, ViewOptions, coverage_of, keep_window, read_view, reset_windows
from tests.support.table import Table, laid

PREFIX = Beginning("Speak.", "", 0, 2, 0, ()).prefix()


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    """A chat of three turns with one view."""
    async with laid(tmp_path) as table:
        await table.say(1, 2, 3, fold="none")
        table.services.viewing.put("c", "reply", {"context_size": 4096})
        yield table


def read(table: Table) -> KeptView:
    """The view as a request reads it."""
    with table.server.db.read() as session:
        return read_view(session, require_chat(session, "c"), "reply")


def window_at(table: Table, key: int, index: int) -> Window:
    """A window that begins with a message."""
    with table.server.db.read() as session:
        state = read_history(session, require_chat(session, "c"), for_prompt=True)
        return Window(coverage_of(state), Mark(key, index), PREFIX)


async def test_a_view_is_read_as_it_was_put(table: Table) -> None:
    """Its options and no window, before anything was kept."""
    view = read(table)
    assert (view.options, view.window) == (ViewOptions(context_size=4096), None)


async def test_of_two_requests_at_once_the_further_window_stays(table: Table) -> None:
    """Whichever of them comes last; one after the other, the last one counts."""
    early, late = window_at(table, 3, 2), window_at(table, 5, 4)
    both = read(table)
    keep_window(table.server.db, both, late)
    keep_window(table.server.db, both, early)
    assert read(table).window == late
    keep_window(table.server.db, read(table), early)
    assert read(table).window == early


async def test_a_view_that_was_changed_meanwhile_keeps_nothing(table: Table) -> None:
    """What was made with other options is of no use to it; nor to one that is gone."""
    view, window = read(table), window_at(table, 3, 2)
    table.services.viewing.put("c", "reply", {"context_size": 2048})
    keep_window(table.server.db, view, window)
    assert read(table).window is None
    view = read(table)
    table.services.viewing.delete("c", "reply")
    table.services.viewing.put("c", "reply", {})
    keep_window(table.server.db, view, window)
    assert read(table).window is None


async def test_keeping_a_window_is_no_change_of_the_view(table: Table) -> None:
    """Neither its ETag nor its times tell of it."""
    before = table.services.viewing.get("c", "reply")
    keep_window(table.server.db, read(table), window_at(table, 3, 2))
    assert table.services.viewing.get("c", "reply") == before


async def test_all_windows_of_a_chat_can_begin_afresh(table: Table) -> None:
    """They still know what their last prompts began with, and views without one get none."""
    table.services.viewing.put("c", "tool", {})
    window = window_at(table, 3, 2)
    keep_window(table.server.db, read(table), window)
    with table.server.db.write() as session:
        reset_windows(session, require_chat(session, "c").key)
    assert read(table).window == replace(window, mark=BEGINNING)


async def test_a_fork_begins_its_windows_itself(table: Table) -> None:
    """It has the options, and the views it has already stay its own."""
    keep_window(table.server.db, read(table), window_at(table, 3, 2))
    table.services.branching.fork("c", "f")
    with table.server.db.read() as session:
        view = read_view(session, require_chat(session, "f"), "reply")
    assert (view.options, view.window) == (ViewOptions(context_size=4096), None)
