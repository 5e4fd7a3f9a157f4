"""The reader: the original messages of a chat, page by page."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.conftest import OpenDashboard
from tests.support.dashboard import PHONE, Dashboard
from tests.support.service import Service

FOLDS = {"on_backlog": "all", "layered": {"verbatim_turns": 2}}


def seeded(service: Service, chat: str, turns: int = 8, **fields: Any) -> None:
    """A chat whose older turns are folded."""
    service.put(f"/chats/{chat}", {"user_name": "Mira", "character_name": "Tom", "settings": FOLDS, **fields})
    service.say(chat, *range(turns))
    service.settled(chat)


def shown(page: Page) -> tuple[str, str]:
    """The places of the first and the last message on the page."""
    places = page.locator(".lines .place")
    return places.first.inner_text(), places.last.inner_text()


def test_messages_say_who_what_and_how_they_stand(dashboard: Dashboard, chat: str) -> None:
    """Names, roles and tokens; a ghosted one leads to its snippet, marks are told, and hostile text is text."""
    seeded(dashboard.service, chat)
    dashboard.service.patch(f"/chats/{chat}/messages/u6", {"pinned": True, "content": "<script>alert(1)</script>"})
    dashboard.service.patch(f"/chats/{chat}/messages/a6", {"hidden": True})
    dashboard.service.patch(f"/chats/{chat}/messages/u7", {"history": "omit", "name": "\u202eariM"})
    page = dashboard.open("chats", chat, "messages")
    line = page.locator("#message-0")
    expect(line).to_contain_text("Mira")
    expect(line).to_contain_text(re.compile(r"\d+ tokens"))
    snippet = dashboard.service.get(f"/chats/{chat}/messages/u0").json()["snippet_id"]
    expect(line.get_by_role("link", name="ghosted")).to_have_attribute(
        "href", f"#/chats/{chat}/memory?snippet={snippet}"
    )
    expect(page.locator("#message-12")).to_contain_text("pinned")
    expect(page.locator("#message-12")).to_contain_text("<script>alert(1)</script>")
    expect(page.locator("#message-13")).to_contain_text("hidden")
    expect(page.locator("#message-14")).to_contain_text("omitted")


def test_pages_lead_both_ways(dashboard: Dashboard, chat: str) -> None:
    """The newest fifty first, then fifty earlier, then back; an index leads to its page and has the focus."""
    dashboard.service.put(f"/chats/{chat}", {"strategy": "none"})
    dashboard.service.say(chat, *range(80), fold="none")
    page = dashboard.open("chats", chat, "messages")
    expect(page.locator("#message-159")).to_be_visible()
    assert shown(page) == ("#110", "#159")
    above = page.get_by_role("navigation", name="Pages, above")
    above.get_by_role("link", name="50 earlier").click()
    expect(page.locator("#message-60")).to_be_visible()
    assert shown(page) == ("#60", "#109")
    above.get_by_role("link", name="Later").click()
    expect(page.locator("#message-110")).to_be_visible()
    page.get_by_label("Go to #").fill("72")
    dashboard.button("Go").click()
    line = page.locator("#message-72")
    expect(line).to_have_attribute("aria-current", "true")
    expect(line).to_be_focused()
    expect(line).to_be_in_viewport()
    assert shown(page) == ("#50", "#99")
    page.go_back()
    expect(page.locator("#message-159")).to_be_visible()
    page.get_by_label("Go to #").fill("")
    dashboard.open("chats", chat, "messages", at=700)
    expect(page.get_by_text("There is no message #700: the newest is #159.")).to_be_visible()


def test_a_state_alone(dashboard: Dashboard, chat: str) -> None:
    """Visible, ghosted or hidden messages by themselves, however far they lie apart, page by page too."""
    dashboard.service.put(f"/chats/{chat}", {"strategy": "none"})
    said = [{"role": "user", "content": f"Line {n}", "hidden": n % 3 == 0} for n in range(240)]
    dashboard.service.post(f"/chats/{chat}/messages", {"messages": said, "fold": "none"})
    page = dashboard.open("chats", chat, "messages")
    states = page.get_by_role("navigation", name="Which messages")
    states.get_by_role("link", name="Hidden 80").click()
    expect(page.locator(".line")).to_have_count(50)
    assert shown(page) == ("#90", "#237")
    page.get_by_role("link", name="50 earlier").first.click()
    expect(page.locator("#message-0")).to_be_visible()
    assert shown(page) == ("#0", "#87")
    states.get_by_role("link", name="Ghosted 0").click()
    expect(page.get_by_text("No message here is ghosted.")).to_be_visible()


def test_what_is_said_meanwhile_joins_the_page(dashboard: Dashboard, chat: str) -> None:
    """A new message appears by itself, in a chat that had none too."""
    dashboard.service.put(f"/chats/{chat}", {})
    page = dashboard.open("chats", chat, "messages")
    expect(page.get_by_text("There are no messages here.")).to_be_visible()
    dashboard.service.say(chat, 0, fold="none")
    expect(page.locator("#message-1")).to_contain_text("Tom opens gate 0")


def test_skipped_turns_are_told(dashboard: Dashboard, chat: str) -> None:
    """What a backlog's skip left unfolded is marked so."""
    dashboard.service.put(f"/chats/{chat}", {"settings": {"layered": {"verbatim_turns": 2}}})
    dashboard.service.say(chat, *range(14), fold="none")
    dashboard.service.post(f"/chats/{chat}/backlog", {"choice": "skip"})
    page = dashboard.open("chats", chat, "messages")
    expect(page.locator("#message-0")).to_contain_text("skipped")
    expect(page.locator("#message-27")).not_to_contain_text("skipped")


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_the_reader_is_usable_by_all(open_dashboard: OpenDashboard, service: Service, chat: str, colours: str) -> None:
    """On a phone, with the actions opened and a dialog over them, axe finds nothing wrong and nothing is too wide."""
    seeded(service, chat)
    service.patch(f"/chats/{chat}/messages/a7", {"content": "W" * 500, "name": "N" * 90})
    dashboard = open_dashboard(viewport=PHONE, color_scheme=colours)
    page = dashboard.open("chats", chat, "messages", first=12, last=15, at=2)
    dashboard.button("Change message 15").click()
    expect(page.get_by_role("group", name="Message 15")).to_be_visible()
    assert dashboard.axe() == []
    assert dashboard.too_wide() == []
    dashboard.button("Edit").click()
    expect(page.get_by_role("dialog", name="Edit message #15")).to_be_visible()
    assert dashboard.axe() == []
    assert dashboard.too_wide() == []
