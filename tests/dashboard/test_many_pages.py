"""Pages that are open for hours, several at once: one stream each while they are seen, and nothing else."""

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.conftest import OpenDashboard
from tests.support.service import Service

QUIET_MS = 2500
HIDE = """hidden => {
    Object.defineProperty(document, 'visibilityState', { value: hidden ? 'hidden' : 'visible', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
}"""
PLACES = ["memory", "prompt", "messages", "settings", "care"]


@pytest.fixture(scope="module", autouse=True)
def seeded(service: Service) -> None:
    """A chat with a memory."""
    service.put("/chats/harbour", {"settings": {"on_backlog": "all", "layered": {"verbatim_turns": 2}}})
    service.say("harbour", *range(8))
    service.settled("harbour")


def listen(page: Page) -> list[str]:
    """The addresses that the page asks for from now on."""
    found: list[str] = []
    page.on("request", lambda request: found.append(request.url))
    return found


def live(page: Page) -> None:
    """Waits until news arrive and nothing is on its way."""
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    expect(page.locator(".loading")).to_have_count(0)


def test_an_idle_page_asks_for_nothing(open_dashboard: OpenDashboard) -> None:
    """On every page, once it is read, only the stream is left."""
    pages = []
    for place in ["", "connections", "settings", *PLACES]:
        page = open_dashboard().open(*(["chats", "harbour", place] if place in PLACES else [place]))
        live(page)
        pages.append(page)
    pages[0].wait_for_timeout(500)
    asked = [listen(page) for page in pages]
    for page in pages:
        page.wait_for_timeout(QUIET_MS / len(pages))
    assert asked == [[]] * len(pages)


def test_a_hidden_page_costs_nothing(open_dashboard: OpenDashboard, service: Service) -> None:
    """Its stream is cut and it reads nothing; seen again it has one stream, and what happened meanwhile."""
    page = open_dashboard().open("chats", "harbour", "messages")
    live(page)
    asked, ended = listen(page), []
    page.on("requestfailed", lambda request: ended.append(request.url))
    page.evaluate(HIDE, True)
    expect(page.get_by_text("Not connected", exact=True)).to_be_visible()
    assert [url for url in ended if url.endswith("/v1/events")]
    service.patch("/chats/harbour/messages/a7", {"content": "Tom has been elsewhere."})
    page.wait_for_timeout(500)
    assert asked == []
    page.evaluate(HIDE, False)
    live(page)
    expect(page.locator(".line").last).to_contain_text("Tom has been elsewhere.")
    assert len([url for url in asked if url.endswith("/v1/events")]) == 1


@pytest.mark.slow
def test_seven_pages_in_one_browser(open_dashboard: OpenDashboard, service: Service) -> None:
    """Browsers keep six connections to a server: tabs in the background leave theirs to the one that is seen."""
    dashboard = open_dashboard()
    pages = [dashboard.context.new_page() for _ in range(7)]
    for page in pages:
        page.goto("/#/chats/harbour/care")
        live(page)
        page.evaluate(HIDE, page is not pages[-1])
    service.patch("/chats/harbour", {"title": "The pier"})
    expect(pages[-1].get_by_role("heading", level=1)).to_have_text("The pier")
    pages[-1].evaluate(HIDE, True)
    pages[0].evaluate(HIDE, False)
    expect(pages[0].get_by_role("heading", level=1)).to_have_text("The pier")
