"""The dashboard's frame: its pages, its key, its colours."""

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
