"""The list of chats on the home page: what it shows, searching, and keeping up with the server."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.dashboard.conftest import OpenDashboard
from tests.support.dashboard import PHONE, Dashboard
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import status
from tests.support.service import Service, turn_lines

SPANS = 8_000  # milliseconds until a list must have followed what happens many times a second


@pytest.fixture(scope="module")
def service_settings() -> dict[str, Any]:
    """A connection that fails is left alone."""
    return {"retry_attempts": 1, "breaker_cooldown_s": 3600}


def row(page: Page, name: str) -> Locator:
    """The row of a chat."""
    return page.get_by_role("listitem").filter(has=page.get_by_role("link", name=name, exact=True))


def names(page: Page) -> list[str]:
    """The chats in the order of the list."""
    return page.locator(".chat-name a").all_inner_texts()


def make(service: Service, chat: str, *titles: str) -> list[str]:
    """Chats with these titles, the last one newest; their ids."""
    ids = [f"{chat}-{number}" for number, _ in enumerate(titles)]
    for one, title in zip(ids, titles, strict=True):
        assert service.put(f"/chats/{one}", {"title": title}).status_code == 201
    return ids


def modelled(service: Service, chat: str, model: FakeModel) -> None:
    """A chat whose summaries come from the scripted model."""
    service.put("/connections/local", {"provider": "openai", "base_url": model.base_url, "model": "fake-small"})
    service.put(f"/chats/{chat}", {"settings": {"connection": "local", "on_backlog": "all"}})


def test_what_a_row_says(open_dashboard: OpenDashboard, service: Service, chat: str) -> None:
    """Name, size, share of ghosted messages, kind of memory and time of each chat, readable for all, asking for no
    message."""
    ids = make(service, chat, "The harbour", "<b>שלום</b> and a title that is much too long for the width of a phone")
    service.patch(f"/chats/{ids[0]}", {"settings": {"on_backlog": "all"}})
    service.say(ids[0], *range(14))
    dashboard = open_dashboard(viewport=PHONE)
    asked: list[str] = []
    dashboard.page.on("request", lambda request: asked.append(request.url))
    page = dashboard.open()
    harbour = row(page, "The harbour")
    expect(harbour).to_contain_text("28 messages · 14 turns")
    expect(harbour).to_contain_text("21 % ghosted")
    expect(harbour).to_contain_text("Layered")
    expect(harbour.locator("time")).to_have_text("just now")
    expect(page.get_by_role("link", name="<b>שלום</b>")).to_be_visible()
    assert dashboard.axe() == []
    assert dashboard.too_wide() == []
    calls = [url for url in asked if "/v1/" in url or "readyz" in url]
    assert not [url for url in calls if "/messages" in url or f"/chats/{chat}" in url]
    assert len(calls) <= 12
    row(page, "The harbour").get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The harbour")


def test_fifty_at_a_time(dashboard: Dashboard, chat: str) -> None:
    """More chats are shown on asking, where the focus goes on, and after a way there and back they are there still."""
    make(dashboard.service, chat, *(f"Paged {number}" for number in range(60)))
    page = dashboard.open()
    rows = page.locator(".chat-row")
    expect(rows).to_have_count(50)
    dashboard.button("Show more").click()
    expect(rows.nth(50).get_by_role("link")).to_be_focused()
    page.get_by_role("link", name="Paged 0", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Paged 0")
    page.go_back()
    expect(page.get_by_role("link", name="Paged 0", exact=True)).to_be_visible()


def test_the_focus_is_left_alone(open_dashboard: OpenDashboard, service: Service, chat: str) -> None:
    """Who has left the list is not led back when the row that had the focus goes."""
    make(service, chat, "To be left", "To be deleted")
    page = open_dashboard().open()
    rows = page.locator(".chat-row")
    gone = rows.filter(has_text="To be deleted").get_by_role("link")
    expect(gone).to_have_count(1)
    gone.focus()
    gone.evaluate("link => link.blur()")
    service.http.delete(f"/v1/chats/{(gone.get_attribute('href') or '').split('/')[-1]}")
    expect(gone).to_have_count(0)
    assert page.evaluate("document.activeElement === document.body")


def test_searching_as_one_types(dashboard: Dashboard, chat: str) -> None:
    """What is typed narrows the list and stands in the address, so that the way back leads to it."""
    make(dashboard.service, chat, "The lighthouse of Elspeth", "The lighthouse", "Elspeth")
    page = dashboard.open()
    search = page.get_by_label("Search for a chat")
    search.fill("elsp lighthouse")
    expect(page.locator(".chat-row")).to_have_count(1)
    assert "q=elsp" in page.url
    expect(search).to_be_focused()
    page.get_by_role("link", name="The lighthouse of Elspeth").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The lighthouse of Elspeth")
    page.go_back()
    expect(search).to_have_value("elsp lighthouse")
    expect(page.locator(".chat-row")).to_have_count(1)
    search.fill("nobody-has-this")
    expect(page.get_by_text("No chat has “nobody-has-this”")).to_be_visible()
    search.fill("")
    expect(page.get_by_role("link", name="Elspeth", exact=True)).to_be_visible()
    expect(search).to_be_focused()
    assert "q=" not in page.url


def test_rows_come_change_and_go(dashboard: Dashboard, chat: str) -> None:
    """New chats, new names and new messages show by themselves, the newest first."""
    service = dashboard.service
    first, second = make(service, chat, "First", "Second")
    page = dashboard.open()
    page.mouse.move(0, 0)
    expect(page.locator(".chat-name a").first).to_have_text("Second")
    service.patch(f"/chats/{first}", {"title": "Renamed"})
    expect(page.get_by_role("link", name="Renamed", exact=True)).to_be_visible()
    service.say(first, 1)
    expect(row(page, "Renamed")).to_contain_text("2 messages · 1 turn", timeout=SPANS)
    expect(page.locator(".chat-name a").first).to_have_text("Renamed")
    service.http.delete(f"/v1/chats/{second}")
    expect(page.get_by_role("link", name="Second", exact=True)).to_have_count(0)


def test_rows_stay_where_somebody_is(dashboard: Dashboard, chat: str) -> None:
    """While a row has the focus none moves: a deleted chat is marked, a new one waits until the list is left."""
    service = dashboard.service
    ids = make(service, chat, "Lower", "Doomed", "Upper")
    page = dashboard.open()
    page.mouse.move(0, 0)
    page.get_by_role("link", name="Doomed", exact=True).focus()
    service.http.delete(f"/v1/chats/{ids[1]}")
    expect(row(page, "Doomed")).to_contain_text("Deleted")
    service.put(f"/chats/{chat}-new", {"title": "Newer"})
    expect(page.get_by_text("newer chat will stand above")).to_be_visible()
    assert names(page)[:3] == ["Upper", "Doomed", "Lower"]
    expect(page.get_by_role("link", name="Doomed", exact=True)).to_be_focused()
    page.get_by_label("Search for a chat").focus()
    expect(page.get_by_role("link", name="Doomed", exact=True)).to_have_count(0)
    assert names(page)[:3] == ["Newer", "Upper", "Lower"]


def test_work_is_seen(dashboard: Dashboard, chat: str, model: FakeModel) -> None:
    """A chat that folds has a bar until it is done."""
    modelled(dashboard.service, chat, model)
    page = dashboard.open()
    model.hold()
    for turn in range(16):
        dashboard.service.say(chat, turn, fold="background")
    bar = page.get_by_role("progressbar", name=f"Folding {chat}")
    expect(bar).to_be_visible()
    expect(row(page, chat)).to_contain_text("Folding")
    model.release()
    expect(bar).to_have_count(0)
    expect(row(page, chat)).to_contain_text("% ghosted")


def test_a_failed_fold_and_its_connection_are_told(dashboard: Dashboard, chat: str, model: FakeModel) -> None:
    """The row says why the last fold failed, and the line above that the connection does not answer."""
    modelled(dashboard.service, chat, model)
    page = dashboard.open()
    expect(page.get_by_role("group", name="The server")).to_contain_text("All is well")
    lines = [line for turn in range(13) for line in turn_lines(turn)]
    with model.only(status(401)):
        dashboard.service.post(f"/chats/{chat}/messages", {"messages": lines, "fold": "wait"})
    expect(row(page, chat)).to_contain_text("Last fold failed")
    expect(row(page, chat)).to_contain_text("401")
    expect(page.get_by_role("group", name="The server")).to_contain_text("A model does not answer")
    expect(page.get_by_text("Connection local: ")).to_be_visible()
    assert dashboard.axe() == []


def test_what_summaries_have_cost(dashboard: Dashboard, model: FakeModel, chat: str) -> None:
    """The calls of all chats are counted above the list."""
    service = dashboard.service
    service.put("/connections/paid", {"provider": "openai", "base_url": model.base_url, "model": "fake-small"})
    service.put(f"/chats/{chat}", {"settings": {"connection": "paid", "on_backlog": "all"}})
    service.say(chat, *range(13))
    page = dashboard.open()
    expect(page.get_by_role("group", name="The server")).to_contain_text("tokens read")
