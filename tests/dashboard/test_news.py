"""What of the server's news reaches which page."""

from playwright.sync_api import expect

from tests.support.dashboard import Dashboard
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import status


def test_a_trial_adds_to_the_costs(dashboard: Dashboard, model: FakeModel, chat: str) -> None:
    """The start page counts the call of a prompt that was tried elsewhere."""
    service, fields = dashboard.service, {"provider": "openai", "base_url": model.base_url, "model": "fake-small"}
    service.put("/connections/local", fields)
    service.say(chat, 1, fold="none")
    strip = dashboard.open().get_by_role("group", name="The server")
    expect(strip).to_contain_text("they have cost nothing")
    assert service.post(f"/chats/{chat}/trial", {"run": True, "connection": "local"}).json()["problem"] is None
    expect(strip).to_contain_text("Summaries have cost 1 call so far")


def test_a_connection_that_others_find_failing(dashboard: Dashboard, model: FakeModel, chat: str) -> None:
    """A chat's page tells that its connection is left alone, though it was another chat that met the failures."""
    service, fields = dashboard.service, {"provider": "openai", "base_url": model.base_url, "model": "fake-small"}
    service.put("/connections/local", fields)
    for name in (chat, f"{chat}-b"):
        service.put(f"/chats/{name}", {"settings": {"connection": "local"}})
        service.say(name, *range(13), fold="none")
    page = dashboard.open("chats", chat)
    strip = dashboard.section("State of the memory")
    expect(strip).to_be_visible()
    with model.only(status(429, retry_after=3600)):
        service.post(f"/chats/{chat}-b/summarize")
        service.settled(f"{chat}-b")
        expect(page.get_by_text("is left alone")).to_be_visible()
    service.put("/connections/local", fields)
    expect(page.get_by_text("is left alone")).to_have_count(0)
