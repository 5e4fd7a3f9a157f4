"""Chats with a small memory of several layers, and what the dashboard's picture of it holds."""

from typing import Any

from playwright.sync_api import Locator, Page

from tests.support.fake_model import FakeModel
from tests.support.service import Service

SMALL = {
    "verbatim_turns": 2,
    "turns_per_batch": 1,
    "flush_turns": 1,
    "snippets_per_layer": 3,
    "snippets_per_promotion": 2,
    "max_layers": 3,
}


def layered(service: Service, chat: str, turns: int = 12, **layered: Any) -> list[dict[str, Any]]:
    """A chat of so many turns with its older ones folded; its live snippets, deepest layer first."""
    service.put(f"/chats/{chat}", {"settings": {"on_backlog": "all", "layered": {**SMALL, **layered}}})
    service.say(chat, *range(turns))
    service.settled(chat)
    return snippets(service, chat)


def rolling(service: Service, chat: str, turns: int = 8) -> list[dict[str, Any]]:
    """A chat with one summary, which has gone on from others; all of these, the live one last."""
    settings = {"rolling": {"trigger_turns": 2, "trigger_tokens": 0, "keep_recent_turns": 2}}
    service.put(f"/chats/{chat}", {"strategy": "rolling", "settings": settings})
    for turn in range(turns):
        service.say(chat, turn)
    return snippets(service, chat, "all")


def snippets(service: Service, chat: str, state: str = "live") -> list[dict[str, Any]]:
    """The snippets of a chat in one state, in reading order."""
    found: list[dict[str, Any]] = service.get(f"/chats/{chat}/snippets?limit=500&state={state}").json()["items"]
    return found


def ask(service: Service, chat: str, model: FakeModel) -> None:
    """Let a chat's snippets be written by a model."""
    connection = {"provider": "openai", "base_url": model.base_url, "model": "small"}
    assert service.put(f"/connections/{chat}", connection).is_success
    assert service.patch(f"/chats/{chat}", {"settings": {"connection": chat}}).is_success


def cell(page: Page, snippet: dict[str, Any]) -> Locator:
    """A snippet's cell in the picture."""
    return page.locator(f"[data-key='{snippet['id']}']")
