"""Forks of chats to which anything has happened before."""

import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.services.browsing import SnippetView
from app.services.recording import MessageView
from tests.support.checks import assert_promises
from tests.support.table import Table, laid, turn_drafts

WINDOWS = (1, 2, 4, 7)


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        table.settings(snippets_per_layer=3, snippets_per_promotion=2, turns_per_batch=1, verbatim_turns=1)
        yield table


class Story:
    """A chat to which things happen at random."""

    def __init__(self, table: Table, seed: int) -> None:
        self.table, self.dice, self.said = table, random.Random(seed), 0

    async def go_on(self) -> None:
        """One thing that may happen to a chat."""
        happenings = (self.talk, self.talk, self.talk, self.skip, self.resettle, self.edit, self.delete, self.mark)
        await self.dice.choice((*happenings, self.rewrite))()
        await self.table.settled()

    async def talk(self) -> None:
        for _ in range(self.dice.randint(1, 6)):
            self.said += 1
            await self.table.say(self.said)

    async def skip(self) -> None:
        turns = range(self.said + 1, self.said + 4)
        self.said += len(turns)
        await self.table.say(*turns, fold="none")
        self.table.services.steering.skip("c")
        await self.talk()
        if self.dice.random() < 0.7:
            self.table.services.steering.backlog("c", "all")

    async def resettle(self) -> None:
        self.table.settings(max_layers=self.dice.choice([1, 2, 3]), verbatim_turns=self.dice.choice(WINDOWS))

    async def edit(self) -> None:
        message = self._any_message()
        self.table.services.editing.edit("c", message.id, {"content": f"{message.content} Or so they say."})

    async def delete(self) -> None:
        self.table.services.editing.delete("c", self._any_message().id)

    async def mark(self) -> None:
        message = self._any_message()
        name = self.dice.choice(["hidden", "pinned", "omitted"])
        self.table.services.editing.edit("c", message.id, {name: self.dice.random() < 0.7})

    async def rewrite(self) -> None:
        live = memory(self.table, "c", "live")
        if live:
            snippet = self.dice.choice(live)
            if self.dice.random() < 0.5:
                self.table.services.revising.delete("c", snippet.id)
            else:
                self.table.services.revising.edit("c", snippet.id, "They never speak of it.")

    def _any_message(self) -> MessageView:
        return self.dice.choice(history(self.table, "c"))


def history(table: Table, chat: str) -> list[MessageView]:
    return table.services.recording.page(chat, state="all", after=-1, limit=1000)


def memory(table: Table, chat: str, state: str) -> list[SnippetView]:
    """A chat's snippets in a state, in reading order."""
    return table.services.browsing.snippets(
        chat, layer=None, state=state, stale=None, degraded=None, offset=0, limit=1000
    )


def ends(table: Table, chat: str) -> dict[str, int]:
    """Where what is under each live or absorbed snippet ends, by its id."""
    found = memory(table, chat, "live") + memory(table, chat, "absorbed")
    return {snippet.id: snippet.covers.last_index for snippet in found if snippet.covers}


@pytest.mark.parametrize("seed", range(3))
async def test_forks_of_anything(table: Table, seed: int) -> None:
    """Wherever a chat with edits, deletions, marks, skipped turns and late folds is forked, the promises hold there,
    what is ghosted lies before the window, and all memory that ends before it came along; the fork folds on."""
    story = Story(table, seed)
    await story.talk()
    for round_number in range(6):
        await story.go_on()
        await story.go_on()
        window = story.dice.choice(WINDOWS)
        table.settings(verbatim_turns=window)
        await table.settled()
        said = history(table, "c")
        place = story.dice.randrange(len(said))
        fork = table.services.branching.fork("c", f"f{round_number}", said[place].id)
        assert_promises(table.database, fork.id, window)
        copies = history(table, fork.id)
        assert [(m.id, m.content, m.pinned, m.hidden) for m in copies] == [
            (m.id, m.content, m.pinned, m.hidden) for m in said[: place + 1]
        ]
        last = max((message.index for message in copies if message.ghosted), default=-1)
        carried = ends(table, fork.id)
        assert carried == {one: end for one, end in ends(table, "c").items() if end <= last}
        await table.services.recording.append(fork.id, turn_drafts(900) + turn_drafts(901), "wait", 20)
        assert_promises(table.database, fork.id, window, shrunk=True)
    assert_promises(table.database, "c", window, shrunk=True)
