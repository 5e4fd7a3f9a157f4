"""What a prompt says of its beginning: its hash and the cause are true, whatever happened to the chat."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.core.model import Role
from app.services.projection_query import ProjectionQuery
from app.services.projection_view import ProjectionView
from app.services.recording import Draft
from app.services.syncing import Line
from tests.support.table import Table, laid

SMALL = {"on_backlog": "all", "layered": {"verbatim_turns": 2, "turns_per_batch": 1}}


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        await table.say(1, 2, 3, 4, fold="none")
        table.services.viewing.put("c", "reply", {})
        yield table


def _prompt(table: Table, view: str | None = None, **asked: Any) -> ProjectionView:
    return table.services.projecting.project("c", ProjectionQuery(view=view, **asked), keep=True)


def _all(table: Table) -> list[Draft]:
    page = table.services.recording.page("c", state="all", after=-1, limit=100)
    return [Draft(Role(one.role), one.content, id=one.id) for one in page]


def _sync(table: Table, drafts: list[Draft]) -> None:
    table.services.syncing.sync("c", [Line(draft, frozenset()) for draft in drafts], allow_shrink=True)


def _change(table: Table, what: str) -> None:
    editing, drafts = table.services.editing, _all(table)
    match what:
        case "delete":
            editing.delete("c", "u2")
        case "delete a reply":
            editing.delete("c", "a2")
        case "hide" | "omit" | "rename" | "edit":
            column = {"hide": "hidden", "omit": "omitted", "rename": "name", "edit": "content"}[what]
            editing.edit("c", "u2", {column: True if column in ("hidden", "omitted") else "Ines"})
        case "insert":
            _sync(table, [*drafts[:2], Draft(Role.USER, "Wait.", id="new"), *drafts[2:]])
        case "drop":
            _sync(table, drafts[2:])


CHANGES = ["delete", "delete a reply", "hide", "omit", "rename", "edit", "insert", "drop"]


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("view", [None, "reply"])
async def test_every_change_of_the_past_is_told(table: Table, what: str, view: str | None) -> None:
    """The hash is another one, and the cause is an edit, with `known_prefix` and with a view beside it too."""
    options = {"names": "prefix", "view": view}
    before = _prompt(table, **options)
    _change(table, what)
    after = _prompt(table, **options, known_prefix=before.prefix_hash)
    assert after.messages[: len(before.messages)] != before.messages
    assert after.prefix_hash != before.prefix_hash
    assert after.prefix_changed_by == "edit"
    again = _prompt(table, **options, known_prefix=after.prefix_hash)
    assert (again.prefix_hash, again.prefix_changed_by) == (after.prefix_hash, None)


@pytest.mark.parametrize("view", [None, "reply"])
async def test_appends_change_nothing(table: Table, view: str | None) -> None:
    """One by one, and by a sync that sends all of the history again, which many frontends do."""
    before = _prompt(table, view)
    await table.say(5, fold="none")
    _sync(table, [*_all(table), Draft(Role.USER, "And?", id="u6"), Draft(Role.ASSISTANT, "No.", id="a6")])
    _sync(table, _all(table))
    after = _prompt(table, view, known_prefix=before.prefix_hash)
    assert after.messages[: len(before.messages)] == before.messages
    assert (after.prefix_hash, after.prefix_changed_by) == (before.prefix_hash, None)


async def test_a_view_knows_that_others_changes_are_not_its_own(table: Table) -> None:
    """What it does not show may be deleted; its string then means the same as before."""
    table.services.viewing.put("c", "reply", {"context_size": 100, "max_tokens": 10})
    before = _prompt(table, "reply")
    assert before.window.dropped_turns == 2
    table.services.editing.delete("c", "u1")
    after = _prompt(table, "reply", known_prefix=before.prefix_hash)
    assert (after.prefix_hash, after.prefix_changed_by) == (before.prefix_hash, None)
    assert after.messages == before.messages


@pytest.mark.parametrize("view", [None, "reply"])
@pytest.mark.parametrize("options", [{"names": "prefix"}, {"format": "text"}])
async def test_a_renamed_person_makes_another_prompt(table: Table, view: str | None, options: dict[str, str]) -> None:
    """Where the prompt says who speaks."""
    before = _prompt(table, view, **options)
    table.services.keeping.patch("c", {"user_name": "Ines"})
    after = _prompt(table, view, **options, known_prefix=before.prefix_hash)
    assert after.prefix_hash != before.prefix_hash
    assert after.prefix_changed_by == "system_prompt"


async def test_a_name_that_no_prompt_shows_changes_none(table: Table) -> None:
    """A chat of two is told without names."""
    before = _prompt(table, "reply")
    table.services.keeping.patch("c", {"user_name": "Ines"})
    assert _prompt(table, "reply").prefix_hash == before.prefix_hash


@pytest.mark.parametrize(("depth", "cause"), [(500, "memory"), (0, None)])
@pytest.mark.parametrize("view", [None, "reply"])
async def test_a_memory_at_a_depth_counts_where_it_stands_in_front(
    table: Table, view: str | None, depth: int, cause: str | None
) -> None:
    """Behind the past it is no part of the beginning."""
    table.services.keeping.put("c", {"settings": SMALL})
    table.models.script("Gate one.", "Gate two.", "Gate three.")
    await table.say(5)
    await table.settled()
    options = {"memory_placement": f"in_chat:{depth}", "view": view}
    before = _prompt(table, **options)
    assert "Gate three." in before.memory.text
    [*_, snippet] = table.services.browsing.snippets(
        "c", layer=None, state="live", stale=None, degraded=None, offset=0, limit=9
    )
    table.services.revising.edit("c", snippet.id, "Gate four.")
    after = _prompt(table, **options, known_prefix=before.prefix_hash)
    assert after.prefix_changed_by == cause
    assert (after.prefix_hash == before.prefix_hash) == (cause is None)


async def test_a_memory_among_the_past_ends_the_beginning(table: Table) -> None:
    """What stands behind it moves with every turn anyway."""
    table.services.keeping.put("c", {"settings": {**SMALL, "layered": {"verbatim_turns": 3, "turns_per_batch": 1}}})
    table.models.script("Gate one.", "Gate two.")
    await table.say(5)
    await table.settled()
    first = _prompt(table, "reply", memory_placement="in_chat:2")
    table.services.editing.edit("c", "a5", {"content": "Nobody."})
    second = _prompt(table, "reply", memory_placement="in_chat:2")
    assert (second.prefix_changed_by, second.prefix_hash) == (None, first.prefix_hash)
    table.services.editing.edit("c", "u3", {"content": "Hm?"})
    assert _prompt(table, "reply", memory_placement="in_chat:2").prefix_changed_by == "edit"


@pytest.mark.parametrize("view", [None, "reply"])
async def test_deleted_turns_were_not_trimmed(table: Table, view: str | None) -> None:
    """Neither the dropped ones nor the first of the window were taken away by a budget."""
    sizes: dict[str, Any] = {"context_size": 100, "max_tokens": 10}
    before = _prompt(table, view, **sizes)
    assert before.window.dropped_turns == 2
    for name in ("u1", "a1", "u2", "a2", "u3", "a3"):
        table.services.editing.delete("c", name)
    after = _prompt(table, view, **sizes, known_prefix=before.prefix_hash)
    assert (after.window.dropped_turns, after.prefix_changed_by) == (0, "edit")
