"""A page whose SillyTavern writes the summaries, and chats that need some."""

import json
import time
import uuid
from collections.abc import Callable
from typing import Any

from tests.support.fake_exchange import Request
from tests.support.fake_model import FakeModel
from tests.support.service import Service
from tests.support.tavern import line
from tests.support.tavern_page import TavernPage

EXTENSION = "/scripts/extensions/third-party/turnfold"
MEMORY = {"on_backlog": "all", "layered": {"verbatim_turns": 2, "turns_per_batch": 1}}
CHOOSE = f"async ([kind, fields]) => (await import('{EXTENSION}/source.js')).chooseSource(kind, fields)"
SHOWN = f"""async () => {{
    const {{ currentSource }} = await import('{EXTENSION}/source.js');
    return currentSource((await import('{EXTENSION}/session.js')).session.status);
}}"""

# What a generation could leave behind: everything that is saved, and what is shown while one runs.
STATE = """async () => {
    const context = SillyTavern.getContext();
    const script = await import('/script.js');
    return JSON.stringify({ chat: context.chatCompletionSettings, text: context.textCompletionSettings,
        power: context.powerUserSettings, length: script.amount_gen, size: script.max_context, api: context.mainApi,
        shown: getComputedStyle(document.querySelector('#mes_stop')).display, sending: script.is_send_press,
        events: ['CHAT_COMPLETION_SETTINGS_READY', 'GENERATE_AFTER_COMBINE_PROMPTS']
            .map((name) => context.eventSource.events[context.eventTypes[name]]?.length ?? 0) });
}"""


def is_summary(request: Request) -> bool:
    """Whether a request asks for a summary, not for a reply: replies have a preset's prompts before them."""
    return request.method == "POST" and request.system.startswith("You write the memory")


def speak(request: Request) -> str:
    """Replies and summaries that differ."""
    kind = "Anna folds" if is_summary(request) else "Anna says"
    return f"{kind} what Ben said ({len(request.messages)})."


class Lender:
    """The page, what its model is asked, and the server."""

    def __init__(self, tavern: TavernPage, turnfold: Service, model: FakeModel) -> None:
        self.tavern = tavern
        self.turnfold = turnfold
        self.model = model
        self.chats: list[str] = []
        model.default = speak

    def choose(self, kind: str = "main", **fields: Any) -> None:
        """As the panel does it."""
        self.tavern.js(CHOOSE, [kind, fields])

    def shown(self) -> dict[str, Any]:
        """What the panel shows as the source."""
        found: dict[str, Any] = self.tavern.js(SHOWN)
        return found

    def state(self) -> str:
        """Of SillyTavern; equal before and after."""
        return str(self.tavern.js(STATE))

    def seed(self, turns: int) -> tuple[str, str]:
        """A chat of so many turns that is not open: its id, and the name of its file."""
        chat, name = str(uuid.uuid4()), f"seeded {uuid.uuid4().hex[:8]}"
        lines = [one for turn in range(turns) for one in (line("user", f"Ask {turn}."), line("them", f"Say {turn}."))]
        self.tavern.tavern.seed_chat("Seraphina", name, lines, {"integrity": chat})
        return chat, name

    def begin(self, turns: int) -> str:
        """Open a chat of so many turns; it begins to fold by itself. Gives its id."""
        chat, name = self.seed(turns)
        self.tavern.open_chat(name)
        self.chats.append(chat)
        return chat

    def end(self) -> None:
        """Nothing of this test goes on in the next one."""
        for chat in self.chats:
            self.turnfold.post(f"/chats/{chat}/stop", {})

    def summaries(self) -> list[Request]:
        """What was asked for so far."""
        return [request for request in self.model.calls if is_summary(request)]

    def until(self, what: Callable[[], bool], seconds: float = 60) -> None:
        """Wait, with the page alive. Raises AssertionError."""
        deadline = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < deadline, json.dumps([one.body for one in self.model.calls[-2:]])
            self.tavern.page.wait_for_timeout(30)

    def asked(self, more_than: int) -> None:
        """Until the model is asked for another summary."""
        self.until(lambda: len(self.summaries()) > more_than)

    def settled(self, chat: str) -> dict[str, Any]:
        """The chat's status once nothing is left to fold."""
        # Until the page has synced it the server does not know the chat.
        self.until(lambda: self.turnfold.get(f"/chats/{chat}").status_code == 200)
        self.until(lambda: (status := self.turnfold.status(chat))["job"] is None and status["counts"]["ghosted"] > 0)
        return self.turnfold.status(chat)

    def waiting(self, chat: str) -> dict[str, Any] | None:
        """The calls of the chat that wait for a frontend."""
        found: dict[str, Any] | None = self.turnfold.status(chat)["connection"]["waiting"]
        return found
