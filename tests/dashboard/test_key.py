"""A server that wants a key: it is asked for once, kept as one likes, and sent with everything."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Request, expect

from tests.dashboard.conftest import OpenDashboard
from tests.support.dashboard import Dashboard
from tests.support.service import Service

KEY = "sesame-and-more"


@pytest.fixture(scope="module")
def service_settings() -> dict[str, Any]:
    return {"api_key": KEY}


@pytest.fixture(autouse=True)
def seeded(service: Service) -> None:
    """A chat with a few turns."""
    service.http.headers["authorization"] = f"Bearer {KEY}"
    service.put("/chats/harbour", {"title": "The harbour"})


@pytest.fixture
def locked(open_dashboard: OpenDashboard) -> Dashboard:
    """A page of a device that knows no key yet."""
    dashboard = open_dashboard()
    dashboard.expect_errors("status of 401")
    return dashboard


def asked(dashboard: Dashboard) -> Locator:
    """The dialog that asks for the key."""
    return dashboard.page.get_by_role("dialog", name="This server asks for a key")


def give(dashboard: Dashboard, key: str, *, keep: bool = False) -> None:
    """Types a key, and opens the server with it."""
    asked(dashboard).get_by_label("Key", exact=True).fill(key)
    asked(dashboard).get_by_label("Keep it on this device").set_checked(keep)
    asked(dashboard).get_by_role("button", name="Open").click()


def test_the_key_is_asked_for(locked: Dashboard) -> None:
    """Nothing is shown without it; a wrong one is refused in the dialog, the right one opens the page where it was."""
    page = locked.open("chats", "harbour", "care")
    expect(asked(locked).get_by_label("Key", exact=True)).to_be_focused()
    expect(page.get_by_text("The harbour")).to_have_count(0)
    assert locked.axe("dialog") == []
    give(locked, "open")
    expect(asked(locked).get_by_role("alert")).to_be_visible()
    give(locked, f" {KEY} ")
    expect(asked(locked)).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_have_text("The harbour")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_the_dialog_cannot_be_waved_away(locked: Dashboard) -> None:
    """Neither Escape, pressed as often as one likes, nor its corner leaves a page that can do nothing."""
    page = locked.open()
    expect(asked(locked)).to_be_visible()
    for _ in range(3):
        page.keyboard.press("Escape")
    expect(asked(locked)).to_be_visible()


@pytest.mark.parametrize("keep", [False, True])
def test_the_key_is_kept_as_one_likes(locked: Dashboard, keep: bool) -> None:
    """A tab keeps it over a reload; a new tab asks again, unless it was to be kept on this device."""
    page = locked.open()
    give(locked, KEY, keep=keep)
    expect(page.get_by_role("link", name="The harbour")).to_be_visible()
    page.reload()
    expect(page.get_by_role("link", name="The harbour")).to_be_visible()
    assert (KEY in page.evaluate("JSON.stringify(localStorage)")) is keep
    other = locked.context.new_page()
    other.goto("/")
    expect(other.get_by_role("link", name="The harbour") if keep else other.get_by_role("dialog")).to_be_visible()


def test_news_and_files_come_with_the_key(locked: Dashboard, service: Service) -> None:
    """Every call has it in its header and none in its address; the stream tells of changes, and a file is whole."""
    calls: list[Request] = []
    page = locked.open("chats", "harbour", "care")
    give(locked, KEY)
    expect(page.get_by_role("heading", level=1)).to_have_text("The harbour")
    page.on("request", lambda call: calls.append(call))
    service.patch("/chats/harbour", {"title": "The pier"})
    expect(page.get_by_role("heading", level=1)).to_have_text("The pier")
    with page.expect_download() as download:
        locked.button("Download as Turnfold").click()
    assert download.value.path().stat().st_size > 0
    sent = [call for call in calls if "/v1/" in call.url]
    assert sent
    assert all(call.headers.get("authorization") == f"Bearer {KEY}" for call in sent)
    assert not [call.url for call in calls if KEY in call.url]
    service.patch("/chats/harbour", {"title": "The harbour"})


def test_a_key_that_is_changed_is_asked_for_anew(locked: Dashboard) -> None:
    """A page that is open and whose key no longer holds asks again, and goes on where it was."""
    page = locked.open("chats", "harbour")
    give(locked, KEY)
    expect(page.get_by_role("heading", level=1)).to_have_text("The harbour")
    page.evaluate("sessionStorage.setItem('turnfold.key', 'old')")
    page.reload()
    expect(asked(locked)).to_be_visible()
    give(locked, KEY)
    expect(page.get_by_role("heading", level=1)).to_have_text("The harbour")
