"""A chat of 100,000 messages and 150 snippets, and many pages at once: what they ask for is bounded."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Request, expect

from tests.dashboard.conftest import OpenDashboard
from tests.support.dashboard import Dashboard
from tests.support.large import LAYERS, MESSAGES, PER_LAYER, add_large_chat
from tests.support.service import Service

CHAT = "large"
QUIET_MS = 1200  # longer than anything here rests between two readings
MOST_NODES = 2500
MOST_BYTES = 100_000


@pytest.fixture(scope="module", autouse=True)
def large(service: Service) -> None:
    """The chat; one turn is to fold as soon as it is over the window."""
    add_large_chat(service.database, CHAT)
    settings = {"on_backlog": "all", "layered": {"turns_per_batch": 1, "flush_turns": 1}}
    assert service.patch(f"/chats/{CHAT}", {"settings": settings}).is_success


class Calls:
    """The calls of a page to the API, and what they brought."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.paths: list[str] = []
        page.on("request", self._asked)

    def since(self) -> list[str]:
        """The paths since the last time, once nothing more comes."""
        self._page.wait_for_timeout(QUIET_MS)
        found, self.paths = sorted(self.paths), []
        return found

    def bytes(self) -> int:
        """Of the bodies of all that the page has read of the API, but for its stream."""
        found: int = self._page.evaluate("""() => performance.getEntriesByType('resource')
            .filter(({ name }) => name.includes('/v1/')).reduce((sum, one) => sum + one.decodedBodySize, 0)""")
        return found

    def _asked(self, request: Request) -> None:
        if "/v1/" in request.url:
            self.paths.append(urlsplit(request.url).path.removeprefix("/v1/").removeprefix(f"chats/{CHAT}"))


def nodes(page: Page) -> int:
    """How many elements the page has."""
    found: int = page.evaluate("document.querySelectorAll('*').length")
    return found


def test_opening_it_reads_little(open_dashboard: OpenDashboard) -> None:
    """The picture, its figures, the chat and its status, and one stream; once more only what was read before that."""
    dashboard = open_dashboard()
    calls = Calls(dashboard.page)
    page = dashboard.open("chats", CHAT, "memory")
    expect(page.locator(".strata [data-key]").nth(LAYERS * PER_LAYER - 1)).to_be_attached()
    found = calls.since()
    assert set(found) == {"", "/growth", "/status", "/strata", "events"}
    assert found.count("events") == 1
    assert max(found.count(path) for path in found) <= 2
    assert calls.bytes() < MOST_BYTES
    assert nodes(page) < MOST_NODES


@pytest.mark.parametrize(("place", "rows"), [("messages", ".lines > li"), ("prompt", ".prompt > li")])
def test_no_list_shows_more_than_a_page(dashboard: Dashboard, place: str, rows: str) -> None:
    """Fifty messages, and a hundred pieces of a prompt at most, with a way to the rest."""
    page = dashboard.open("chats", CHAT, place)
    expect(page.locator(rows).first).to_be_visible()
    expect(page.locator(".loading")).to_have_count(0)
    assert page.locator(rows).count() <= (50 if place == "messages" else 101)
    assert nodes(page) < MOST_NODES
    assert Calls(page).bytes() < 3 * MOST_BYTES


def test_any_place_of_it_is_near(dashboard: Dashboard) -> None:
    """A page in the middle is read by itself, without what stands before it."""
    page = dashboard.open("chats", CHAT)
    calls = Calls(page)
    page.goto(f"/#/chats/{CHAT}/messages?at={MESSAGES // 2}")
    expect(page.locator(f"#message-{MESSAGES // 2}")).to_be_focused()
    found = calls.since()
    assert (found.count("/messages"), found.count("/snippets")) == (1, 0)
    assert page.locator(".lines > li").count() == 50


def test_a_fold_reloads_what_it_changes(dashboard: Dashboard, service: Service) -> None:
    """Appending turns that fold reads the picture, the figures and the chat anew, each at most once for each change."""
    page = dashboard.open("chats", CHAT, "memory")
    expect(page.locator(".strata [data-key]").first).to_be_visible()
    calls = Calls(page)
    calls.since()
    with page.expect_response(re.compile("/strata")), page.expect_response(re.compile("/growth")):
        service.say(CHAT, *range(3))
    found = calls.since()
    assert set(found) == {"", "/growth", "/status", "/strata"}
    assert max(found.count(path) for path in found) <= 5
    assert nodes(page) < MOST_NODES
