"""An old chat for tests in SillyTavern: as many turns as wanted, each of which names its number."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from tests.support.service import Service
from tests.support.tavern import line
from tests.support.tavern_page import TavernPage

IN_SYNC = """async (id) => {
    const { session } = await import('/scripts/extensions/third-party/turnfold/session.js');
    await tavernTest.until('the sync', () => session.id === id && session.phase === 'ready' && session.status);
}"""

# The first so many messages are ghosted, and what is rendered of them is marked so.
MARKED = """(number) => {
    const first = Number(document.querySelector('#chat > .mes').getAttribute('mesid'));
    return document.querySelectorAll('#chat .turnfold-ghost').length === Math.max(0, number - first);
}"""


def story(turns: int) -> list[dict[str, Any]]:
    """A greeting, and then this many turns: message 2n - 1 is the user's line of turn n, 2n its reply."""
    lines = [line("assistant", "Seraphina greets you at the gate.")]
    for turn in range(1, turns + 1):
        lines += [
            line("user", f"Mira asks about gate {turn}. She holds the brass key of door {turn} up high."),
            line("assistant", f"Tom opens gate {turn} with the brass key. Behind it lies room {turn}, cold and dark."),
        ]
    return lines


def open_story(tavern: TavernPage, name: str, messages: list[dict[str, Any]]) -> str:
    """Seed a chat and open it; gives its id for the server. That it is new there costs the console a 404."""
    tavern.expect_errors("/digest")
    tavern.tavern.seed_chat("Seraphina", name, messages, {"integrity": str(uuid4())})
    tavern.open_chat(name)
    return tavern.chat_id


def open_folded(tavern: TavernPage, turnfold: Service, name: str, turns: int) -> str:
    """The same with a story of so many turns, once the server knows and has folded it, and the page knows that."""
    chat = open_story(tavern, name, story(turns))
    in_sync(tavern)
    tavern.until(MARKED, turnfold.settled(chat)["counts"]["ghosted"], 20)
    return chat


def in_sync(tavern: TavernPage) -> None:
    """Until the extension has synced the open chat and knows how its memory stands."""
    tavern.js(IN_SYNC, tavern.chat_id)


@contextmanager
def asks_nobody(turnfold: Service) -> Iterator[None]:
    """Old chats fold without a question until the block ends."""
    assert turnfold.patch("/settings", {"on_backlog": "all"}).is_success
    yield
    assert turnfold.patch("/settings", {"on_backlog": None}).is_success
