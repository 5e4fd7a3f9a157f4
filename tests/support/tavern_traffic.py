"""What passes between SillyTavern's page and Turnfold's server, and what both know of a chat."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Request, Route

from tests.support.service import Service
from tests.support.tavern_page import TavernPage

EXTENSION = "/scripts/extensions/third-party/turnfold"
_CALL = re.compile(r"/v1/chats/[^/?]+/?([^?]*)")


class Traffic:
    """Watches a page's requests to a server, from now on."""

    def __init__(self, tavern: TavernPage, turnfold: Service) -> None:
        self.tavern = tavern
        self.turnfold = turnfold
        self.requests: list[Request] = []
        tavern.page.on("request", self._note)

    def _note(self, request: Request) -> None:
        if request.url.startswith(self.turnfold.url) and request.method != "OPTIONS":
            self.requests.append(request)

    @property
    def chat_id(self) -> str:
        """What the open chat is called on the server: its integrity, but for branches of old versions."""
        return str(self.tavern.js(f"async () => (await import('{EXTENSION}/session.js')).session.id"))

    def settle(self, seconds: int = 15) -> bool:
        """Let the page send what it knows; whether it could."""
        return bool(self.tavern.js(f"async () => (await import('{EXTENSION}/sync.js')).settled({seconds}000)"))

    def calls(self) -> list[str]:
        """The requests about chats since the last time, as "POST messages"."""
        found = [(one.method, _CALL.search(one.url)) for one in self.requests]
        self.requests.clear()
        return [f"{method} {match[1].partition('/')[0]}" for method, match in found if match]

    def writes(self) -> list[str]:
        """Those of them that change a history."""
        return [call for call in self.calls() if call.endswith("messages") and not call.startswith("GET")]

    def history(self) -> list[dict[str, Any]]:
        """The open chat's messages as the server has them, once the page has sent all it knows."""
        assert self.settle()
        return list(self.turnfold.get(f"/chats/{self.chat_id}/messages?limit=1000").json()["items"])

    def is_equal(self) -> bool:
        """Whether the server's history is what the page shows, once the page has sent all it knows."""
        there = [(one["content"], one["role"] == "user", one["hidden"]) for one in self.history()]
        here = [(one["mes"], one["is_user"], bool(one.get("is_system"))) for one in self.tavern.chat]
        return there == here

    def memory(self) -> dict[str, Any]:
        """What the page knows of the chat's memory."""
        found: dict[str, Any] = self.tavern.js(f"async () => (await import('{EXTENSION}/session.js')).session.memory")
        return found

    def remembered(self) -> str:
        """The memory's text, as soon as there is one."""
        self._until("session.memory.text")
        return str(self.memory()["text"])

    def up_to_date(self) -> str:
        """The memory's text, once the page has what the server has."""
        self.turnfold.settled(self.chat_id)
        text = str(self.turnfold.get(f"/chats/{self.chat_id}/preview").json()["text"])
        self._until(f"session.memory.text === {json.dumps(text)}")
        return text

    def phase(self, wanted: str) -> None:
        """Wait until the session is in a phase."""
        self._until(f"session.phase === '{wanted}'")

    def ghosted(self, index: int) -> None:
        """Wait until the memory stands for a message."""
        self._until(f"memory.isGhosted(SillyTavern.getContext().chat[{index}])")

    def note_toasts(self) -> None:
        """Keep what toasts say from now on, in this load of the page: they go by themselves after a while."""
        self.tavern.js("""() => {
            globalThis.toastsSaid = [];
            for (const kind of ['warning', 'success']) {
                const show = toastr[kind];
                toastr[kind] = (text, ...rest) => { toastsSaid.push(text); return show(text, ...rest); };
            }
        }""")

    def said(self, words: str) -> int:
        """How many of those toasts have these words in them."""
        return sum(words in text for text in self.tavern.js("toastsSaid"))

    def _until(self, condition: str) -> None:
        script = f"""async () => {{
            const {{ session }} = await import('{EXTENSION}/session.js');
            const memory = await import('{EXTENSION}/memory.js');
            await tavernTest.until({json.dumps(condition)}, () => {condition});
        }}"""
        self.tavern.js(script)

    def change(self, **settings: Any) -> None:
        """Change the extension's settings, as its panel does."""
        script = f"""async changes => {{
            const {{ settings, save }} = await import('{EXTENSION}/settings.js');
            Object.assign(settings(), changes);
            save();
            (await import('{EXTENSION}/sync.js')).changed();
        }}"""
        self.tavern.js(script, settings)

    @contextmanager
    def cut(self) -> Iterator[None]:
        """The server cannot be reached from the page meanwhile. What is open already is not cut."""
        self.tavern.expect_errors(r"net::ERR_", "Failed to load resource")

        def refuse(route: Route) -> None:
            route.abort("connectionrefused")

        self.tavern.page.route(f"{self.turnfold.url}/**", refuse)
        try:
            yield
        finally:
            self.tavern.page.unroute(f"{self.turnfold.url}/**", refuse)


def sent(tavern: TavernPage) -> str:
    """The last prompt as one text."""
    return json.dumps(tavern.prompt(), ensure_ascii=False)
