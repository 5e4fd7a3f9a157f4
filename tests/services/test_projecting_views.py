"""The prompt of a view: its options under the request's own, its window, its frame, and what changed its beginning."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.core.model import Role
from app.services.projection_query import ProjectionQuery
from app.services.projection_view import ProjectionView
from app.services.recording import Draft
from tests.support.table import Table, laid

FRAME = {"template": "Hour: {{hour}}.", "values": {"hour": "nine"}, "position": "before_system"}
AND = {"role": "user", "content": "And?"}


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        await table.say(1, 2, 3, fold="none")
        yield table


def _view(table: Table, **options: Any) -> None:
    table.services.viewing.put("c", "reply", options)


def _prompt(table: Table, *, keep: bool = True, **asked: Any) -> ProjectionView:
    return table.services.projecting.project("c", ProjectionQuery(**{"view": "reply", **asked}), keep=keep)


def _stored(table: Table) -> Any:
    with table.server.db.read() as session:
        return session.connection().exec_driver_sql("SELECT window, updated_at FROM views").one()


async def test_a_views_options_stand_in_for_what_a_request_leaves_out(table: Table) -> None:
    """The request's own go before them, each by itself."""
    _view(table, system_prompt="Be Tom.", context_size=4096, max_tokens=96, names="prefix", format="text")
    found = _prompt(table)
    assert found.text is not None
    assert found.text.startswith("Be Tom.\nUser: ")
    assert found.tokens.budget == 4000
    other = _prompt(table, system_prompt="Be Mira.", format="openai", max_tokens=1096)
    assert (other.messages[0]["content"], other.tokens.budget) == ("Be Mira.", 3000)
    assert other.messages[1]["content"].startswith("User: ")


async def test_a_frame_stands_around_the_current_turn_only(table: Table) -> None:
    """It costs what it adds, is not stored, and the past stays plain."""
    _view(table, frame=FRAME)
    plain, found = _prompt(table, view=None, current=[AND]), _prompt(table, current=[AND])
    assert found.messages[:-2] == plain.messages[:-1]
    assert found.messages[-2:] == [{"role": "system", "content": "Hour: nine."}, AND]
    assert found.tokens.current > plain.tokens.current + 8
    assert found.tokens.history == plain.tokens.history
    assert len(table.services.recording.page("c", state="all", after=-1, limit=10)) == 6


async def test_a_request_fills_the_frame_of_its_view(table: Table) -> None:
    """Each part that it brings goes before the view's."""
    _view(table, frame=FRAME)
    found = _prompt(table, current=[AND], frame={"values": {"hour": "ten"}, "position": "after_user"})
    assert found.messages[-1] == {"role": "user", "content": "Hour: ten."}


async def test_a_frame_replaces_a_stored_line(table: Table) -> None:
    """The open turn's user message is told anew, under its speaker's name; what is stored stays."""
    await table.services.recording.append("c", [Draft(Role.USER, "Who is there?")], "none", 0)
    frame = {"template": "{{user_message}} It is {{hour}}.", "values": {"hour": "ten"}, "position": "replace"}
    plain, found = _prompt(table, view=None), _prompt(table, view=None, frame=frame, names="prefix")
    assert found.messages[-1] == {"role": "user", "content": "User: Who is there? It is ten."}
    assert found.tokens.current > plain.tokens.current
    assert found.left_out == ()


async def test_a_window_does_not_come_back_until_a_fold(table: Table) -> None:
    """A GET only reads it; a long request moves it on; a fold begins it afresh."""
    _view(table, context_size=300, max_tokens=100)
    long = [{"role": "user", "content": "gate " * 120}]
    assert _prompt(table, keep=False, current=long).window.dropped_turns == 3
    assert _prompt(table).window.dropped_turns == 0
    assert _prompt(table, current=long).window.dropped_turns == 3
    again = _prompt(table)
    assert (again.window.dropped_turns, again.window.turns) == (3, 0)
    small = {"on_backlog": "all", "layered": {"verbatim_turns": 1, "turns_per_batch": 1}}
    table.services.keeping.put("c", {"settings": small})
    table.models.script("Gate one.", "Gate two.", "Gate three.")
    await table.say(4)
    assert (await table.settled()).counts.ghosted == 6
    folded = _prompt(table)
    assert (folded.window.dropped_turns, folded.window.turns, folded.prefix_changed_by) == (0, 1, "fold")


async def test_only_a_change_is_written(table: Table) -> None:
    """The same request again leaves the view as it is."""
    _view(table, context_size=4096)
    assert _stored(table)[0] is None
    first = _prompt(table)
    kept = _stored(table)
    assert kept[0] is not None
    assert _prompt(table) == first
    assert _stored(table) == kept


async def test_what_changed_the_beginning_is_told(table: Table) -> None:
    """Since the view's last POST, or since the prompt that the request names; growing is no change."""
    _view(table, context_size=4096)
    first = _prompt(table)
    assert first.prefix_changed_by is None
    await table.say(4, fold="none")
    grown = _prompt(table)
    assert (grown.prefix_changed_by, grown.prefix_hash) == (None, first.prefix_hash)
    assert _prompt(table, system_prompt="Be Tom.").prefix_changed_by == "system_prompt"
    plain = _prompt(table, view=None, known_prefix=first.prefix_hash)
    assert plain.prefix_changed_by is None
    assert _prompt(table, view=None, system_prompt="X", known_prefix=first.prefix_hash).prefix_changed_by is not None
    table.services.editing.edit("c", "u1", {"content": "Mira asks again."})
    assert _prompt(table, system_prompt="Be Tom.").prefix_changed_by == "edit"
