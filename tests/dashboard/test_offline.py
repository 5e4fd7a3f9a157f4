"""A server that stops and comes back under the eyes of a reader."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.dashboard import Dashboard
from tests.support.service import Service, running
from tests.support.strata import layered

CHAT = "harbour"


class Switch:
    """A server that can be stopped and started again at the same port, with the same database."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._on = ExitStack()
        self.service = self._on.enter_context(running(folder))

    def off(self) -> None:
        """Stop it."""
        self._on.close()

    def on(self) -> Service:
        """Start it again."""
        port = urlsplit(self.service.url).port
        assert port is not None
        self.service = self._on.enter_context(running(self._folder, at=port))
        return self.service


@pytest.fixture(scope="module")
def switch(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Switch]:
    """A server with a chat that has a memory."""
    del browser  # skips where there is none
    switch = Switch(tmp_path_factory.mktemp("switched"))
    layered(switch.service, CHAT)
    yield switch
    switch.off()


@pytest.fixture(autouse=True)
def left_on(switch: Switch) -> Iterator[None]:
    """The server runs after each test too."""
    yield
    if switch.service.http.is_closed:
        switch.on()


@pytest.fixture(scope="module")
def page(browser: Browser, switch: Switch) -> Iterator[Page]:
    """A page of it; calls to a server that is away are errors in the console, and meant to be."""
    dashboard = Dashboard(browser, switch.service)
    yield dashboard.page
    dashboard.expect_errors("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED", "ERR_EMPTY_RESPONSE", "status of 503")
    assert dashboard.unexpected() == []
    dashboard.context.close()


def go(page: Page, *place: str, query: str = "") -> None:
    """Opens a page of the chat, anew."""
    page.goto("about:blank")
    page.goto("/#/" + "/".join(["chats", CHAT, *place]) + query)
    expect(page.get_by_text("Live", exact=True)).to_be_visible()


def test_a_page_waits_for_its_server(page: Page, switch: Switch) -> None:
    """It says that it is not connected and keeps what it shows; once the server is back it reads what is new."""
    go(page, "messages")
    expect(page.locator(".line").last).to_contain_text("Tom opens gate 11")
    switch.off()
    expect(page.get_by_text("Not connected", exact=True)).to_be_visible()
    expect(page.locator(".line").last).to_contain_text("Tom opens gate 11")
    switch.on().patch(f"/chats/{CHAT}/messages/a11", {"content": "Tom is back."})
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    expect(page.locator(".line").last).to_contain_text("Tom is back.")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_what_is_typed_stays(page: Page, switch: Switch) -> None:
    """An edit that could not be saved says why and is there to save again, as is a name that was typed."""
    snippet = switch.service.get(f"/chats/{CHAT}/snippets").json()["items"][-1]
    go(page, "memory", query=f"?snippet={snippet['id']}")
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_label("Text", exact=True).fill("My own words.")
    switch.off()
    expect(page.get_by_text("Not connected", exact=True)).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="cannot be reached").first).to_be_visible()
    service = switch.on()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    expect(page.get_by_label("Text", exact=True)).to_have_value("My own words.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".snippet-text")).to_have_text("My own words.")
    assert service.get(f"/chats/{CHAT}/snippets/{snippet['id']}").json()["text"] == "My own words."


def test_a_page_that_is_opened_meanwhile(page: Page, switch: Switch) -> None:
    """A part that could not be read says so in words, and is read by itself once the server is back."""
    go(page, "memory")
    expect(page.locator(".strata")).to_be_visible()
    switch.off()
    expect(page.get_by_text("Not connected", exact=True)).to_be_visible()
    page.get_by_role("link", name="Connections").click()
    expect(page.get_by_role("alert").first).to_contain_text("cannot be reached")
    page.go_back()
    expect(page.get_by_role("alert").first).to_contain_text("cannot be reached")
    switch.on()
    expect(page.locator(".strata")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
