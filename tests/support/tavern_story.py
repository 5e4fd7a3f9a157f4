"""An old chat for tests in SillyTavern: as many turns as wanted, each of which names its number."""

from typing import Any

from tests.support.tavern import SillyTavern, line
from tests.support.tavern_page import TavernPage


def story(turns: int) -> list[dict[str, Any]]:
    """A greeting, and then this many turns: message 2n - 1 is the user's line of turn n, 2n its reply."""
    lines = [line("assistant", "Seraphina greets you at the gate.")]
    for turn in range(1, turns + 1):
        lines += [
            line("user", f"Mira asks about gate {turn}. She holds the brass key of door {turn} up high."),
            line("assistant", f"Tom opens gate {turn} with the brass key. Behind it lies room {turn}, cold and dark."),
        ]
    return lines


def open_story(tavern: TavernPage, name: str, turns: int, messages: list[dict[str, Any]] | None = None) -> str:
    """Seed such a chat and open it; gives its id for the server."""
    keeper: SillyTavern = tavern.tavern
    keeper.seed_chat("Seraphina", name, messages or story(turns), {"integrity": f"story-{name}"})
    tavern.open_chat(name)
    return tavern.chat_id
