"""The dashboard's frame: its pages, their titles and what is told on them, its colours."""

import json

import pytest
from playwright.sync_api import expect

from tests.dashboard.conftest import OpenDashboard
from tests.support.dashboard import PHONE, Dashboard

PAGES = ["", "connections", "settings"]


@pytest.mark.parametrize("place", PAGES)
def test_a_page_has_one_heading_and_a_title(dashboard: Dashboard, place: str) -> None:
    """Every page says what it is, to people and to screen readers."""
    page = dashboard.open(place)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    expect(page).to_have_title("Chats · Turnfold" if not place else f"{place.title()} · Turnfold")


def test_the_way_through_the_pages(dashboard: Dashboard) -> None:
    """The links lead to the pages and the way back leads back; the page has the focus after each step."""
    page = dashboard.open()
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Connections").click()
    expect(page).to_have_title("Connections · Turnfold")
    expect(page.get_by_role("main")).to_be_focused()
    page.go_back()
    expect(page).to_have_title("Chats · Turnfold")


def test_an_address_of_no_page(dashboard: Dashboard) -> None:
    """It says so, and leads home."""
    page = dashboard.open("bogus", "page")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such page")
    expect(page).to_have_title("There is no such page · Turnfold")
    page.get_by_role("main").get_by_role("link", name="Go to the chats").click()
    expect(page).to_have_title("Chats · Turnfold")


def test_a_chat_has_its_name_in_the_title(dashboard: Dashboard, chat: str) -> None:
    """The title says which chat it is and which part of it, and follows both."""
    dashboard.service.put(f"/chats/{chat}", {"title": "The harbour"})
    page = dashboard.open("chats", chat, "messages")
    expect(page).to_have_title("The harbour – Messages · Turnfold")
    page.get_by_role("link", name="Care").click()
    expect(page).to_have_title("The harbour – Care · Turnfold")
    dashboard.service.patch(f"/chats/{chat}", {"title": "The dock"})
    expect(page).to_have_title("The dock – Care · Turnfold")


def test_a_chat_that_was_never_there(dashboard: Dashboard) -> None:
    """The page says so and has the focus; nothing is asked for but what opens it."""
    dashboard.expect_errors("status of 404")
    asked: list[str] = []
    dashboard.page.on("request", lambda request: asked.append(request.url))
    page = dashboard.open("chats", "nope")
    expect(page.get_by_role("heading", name="This chat is not there", exact=True)).to_be_focused()
    expect(page).to_have_title("This chat is not there · Turnfold")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    assert len([url for url in asked if "/v1/chats/nope" in url]) == 2


def test_a_chat_that_is_deleted_elsewhere(dashboard: Dashboard, chat: str) -> None:
    """Its page says so, has the focus, leads to the chats, and reads nothing more; made again, it opens."""
    dashboard.service.say(chat, *range(12))
    page = dashboard.open("chats", chat)
    expect(dashboard.section("Costs")).to_be_visible()
    dashboard.service.http.delete(f"/v1/chats/{chat}")
    expect(page.get_by_role("heading", name="This chat is not there any more")).to_be_focused()
    expect(page.get_by_role("main").get_by_role("link", name="Go to the chats")).to_have_attribute("href", "#/")
    assert dashboard.axe() == []
    dashboard.service.say(chat, 1)
    expect(page.get_by_role("heading", level=1)).to_have_text(chat)


def test_what_is_told_at_the_foot(dashboard: Dashboard, chat: str) -> None:
    """The same is told once, at most three things stand there, and success goes with the page; errors stay."""
    dashboard.service.say(chat, 1)
    page = dashboard.open("chats", chat)
    tell = "import('/static/dashboard/actions.js').then(({ notify }) => notify(...%s))"
    for given in (["Saved."], ["Saved."], ["Stopped.", "done", None, "job-1"], ["It was cut.", "done", None, "job-1"]):
        page.evaluate(tell % json.dumps(given))
    told = page.get_by_role("log").locator(".notice > span")
    expect(told).to_have_text(["Saved.", "It was cut."])
    for text in ("One went wrong.", "Two went wrong."):
        page.evaluate(tell % json.dumps([text, "error"]))
    expect(told).to_have_text(["It was cut.", "One went wrong.", "Two went wrong."])
    page.get_by_role("link", name="Settings").first.click()
    expect(told).to_have_text(["One went wrong.", "Two went wrong."])


def test_colours_are_chosen_and_kept(dashboard: Dashboard) -> None:
    """Light, dark or the device's own; what was chosen is there after a reload."""
    page = dashboard.open()
    button = page.get_by_role("button", name="Colours:")
    button.click()
    button.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.parametrize("place", PAGES)
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_pages_are_usable_by_all(open_dashboard: OpenDashboard, place: str, colours: str) -> None:
    """On a phone, axe finds nothing wrong and nothing has to be scrolled sideways."""
    dashboard = open_dashboard(viewport=PHONE, color_scheme=colours)
    page = dashboard.open(place)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator(".loading")).to_have_count(0)
    assert dashboard.axe() == []
    assert dashboard.too_wide() == []


def test_news_are_followed_while_somebody_looks(dashboard: Dashboard) -> None:
    """The page says that it is connected."""
    page = dashboard.open()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
