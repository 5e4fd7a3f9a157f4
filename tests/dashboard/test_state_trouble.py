"""The strip on top of a chat's pages where something keeps its memory from folding."""

from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.support.dashboard import Dashboard
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import status
from tests.support.service import Service


@pytest.fixture(scope="module")
def service_settings() -> dict[str, Any]:
    return {"retry_attempts": 1, "breaker_cooldown_s": 30}


@pytest.fixture
def local(service: Service, local: str) -> str:
    """A chat with three turns over its window, whose summaries the scripted model would write."""
    service.say(local, *range(13), fold="none")
    return local


def strip(dashboard: Dashboard) -> Locator:
    """The part that is on top of every page of a chat."""
    return dashboard.section("State of the memory")


def test_a_refusal(dashboard: Dashboard, model: FakeModel, local: str) -> None:
    """A model that refuses the key: who, its status and what to do are told until a try goes well."""
    dashboard.open("chats", local, "care")
    with model.only(status(401)):
        dashboard.button("Summarize now").click()
        told = strip(dashboard).get_by_role("group", name="The last error")
        expect(told).to_contain_text("“local” was refused by its server (status 401)")
        expect(told).to_contain_text("answered 401 Unauthorized: check its API key.")
        expect(told).to_contain_text("No message is lost")
        assert told.get_by_role("link").get_attribute("href") == "#/connections"
    dashboard.service.settled(local)
    dashboard.button("Summarize now").click()
    expect(told).to_have_count(0)
    expect(strip(dashboard)).to_contain_text("Everything is folded")


def test_a_server_that_is_away(dashboard: Dashboard, local: str) -> None:
    """The seconds to the next try are counted down; who wonders is told what it waits for."""
    fields = {"provider": "openai", "base_url": "http://127.0.0.1:1", "model": "fake-small"}
    dashboard.service.put("/connections/local", fields)
    page = dashboard.open("chats", local, "care")
    dashboard.button("Summarize now").click()
    told = strip(dashboard).get_by_role("group", name="The last error")
    expect(told).to_contain_text("“local” cannot be reached")
    again = told.get_by_text("Tries again in")
    expect(again).to_be_visible()
    first = again.inner_text()
    expect(again).not_to_have_text(first)
    page.get_by_text("Why does it not fold?").click()
    expect(strip(dashboard)).to_contain_text("The last try failed")


def test_a_server_that_answers_with_a_fault(dashboard: Dashboard, model: FakeModel, local: str) -> None:
    """It answered, so it can be reached; once nothing is due any more, no next try is announced."""
    dashboard.open("chats", local)
    with model.only(status(500)):
        dashboard.button("Summarize now").click()
        told = strip(dashboard).get_by_role("group", name="The last error")
        expect(told).to_contain_text("“local” answered 500")
        expect(told).not_to_contain_text("cannot be reached")
        expect(told).to_contain_text("Tries again")
        wide = {"settings": {"layered": {"verbatim_turns": 40}}}
        assert dashboard.service.patch(f"/chats/{local}", wide).is_success
        expect(told).to_contain_text("when there is something to fold.")
        expect(strip(dashboard)).not_to_contain_text("Tries again")


def test_a_connection_that_is_not_there(dashboard: Dashboard, chat: str) -> None:
    """A chat whose connection was forgotten says so."""
    fields = {"provider": "openai", "base_url": "http://127.0.0.1:1", "model": "fake-small"}
    dashboard.service.put("/connections/gone", fields)
    dashboard.service.put(f"/chats/{chat}", {"settings": {"connection": "gone"}})
    dashboard.service.say(chat, 1)
    dashboard.service.http.delete("/v1/connections/gone")
    dashboard.open("chats", chat, "care")
    expect(strip(dashboard)).to_contain_text("The connection “gone” of this chat does not exist.")


def test_a_frontend_that_is_waited_for(dashboard: Dashboard, chat: str) -> None:
    """A prompt that waits for a frontend's own model is told of, and that it is being answered."""
    service = dashboard.service
    service.put("/connections/SillyTavern", {"provider": "client"})
    service.put(f"/chats/{chat}", {"settings": {"connection": "SillyTavern"}})
    service.say(chat, *range(13), fold="background")
    dashboard.open("chats", chat, "care")
    expect(strip(dashboard)).to_contain_text("Waiting for “SillyTavern”: 1 prompt to answer with its own model.")
    service.get("/client-calls", params={"chat_id": chat, "client": "tab-1"})
    service.say(chat, 13, fold="none")
    expect(strip(dashboard)).to_contain_text("“SillyTavern” is answering 1 prompt.")
    dashboard.button("Stop").click()
    expect(strip(dashboard)).not_to_contain_text("SillyTavern")


@pytest.mark.parametrize(
    ("fields", "line", "reason"),
    [
        ({"strategy": "none"}, "This chat is stored as it is", "This chat keeps no memory."),
        ({"settings": {"enabled": False}}, "Memory is switched off", "every message is sent as it is"),
        ({"strategy": "rolling"}, "The summary is up to date", "There are no more turns than always stay"),
    ],
)
def test_chats_that_do_not_fold(dashboard: Dashboard, chat: str, fields: Any, line: str, reason: str) -> None:
    """Whatever the strategy and the settings, the strip says how things stand and why nothing folds."""
    dashboard.service.put(f"/chats/{chat}", fields)
    dashboard.service.say(chat, 1, fold="none")
    page = dashboard.open("chats", chat, "care")
    expect(strip(dashboard)).to_contain_text(line)
    page.get_by_text("Why does it not fold?").click()
    expect(strip(dashboard)).to_contain_text(reason)
