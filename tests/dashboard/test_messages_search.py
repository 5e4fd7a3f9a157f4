"""Searching a chat from its reader."""

import re

from playwright.sync_api import expect

from tests.support.dashboard import Dashboard


def test_hits_lead_to_their_places(dashboard: Dashboard, chat: str) -> None:
    """A message's hit opens its page with the words marked, and leads back; a snippet's hit leads to the snippet."""
    dashboard.service.put(f"/chats/{chat}", {"settings": {"on_backlog": "all", "layered": {"verbatim_turns": 2}}})
    dashboard.service.say(chat, *range(40))
    dashboard.service.settled(chat)
    page = dashboard.open("chats", chat, "messages")
    page.get_by_label("Search this chat").fill('"asks about" 5')
    dashboard.button("Search").click()
    expect(page).to_have_url(re.compile("q=%22asks"))
    hits = page.locator(".hits li")
    expect(hits.first.locator("mark").first).to_have_text("asks about")
    link = page.get_by_role("link", name="Message #10", exact=True)
    link.click()
    line = page.locator("#message-10")
    expect(line).to_be_focused()
    expect(line.locator("mark")).to_have_text(["asks about", "5"])
    page.get_by_role("link", name="Back to what was found").click()
    snippet = page.get_by_role("link", name=re.compile("^Snippet")).first
    expect(snippet).to_have_attribute("href", re.compile(rf"/chats/{chat}/memory\?snippet=."))


def test_what_is_found_is_text(dashboard: Dashboard, chat: str) -> None:
    """Markup in a message stays what was written, and scripts without spaces are found anywhere."""
    said = ["<img src=x onerror=alert(1)> the key", "大門の鍵はどこですか"]
    dashboard.service.post(
        f"/chats/{chat}/messages", {"messages": [{"role": "user", "content": text} for text in said], "fold": "none"}
    )
    page = dashboard.open("chats", chat, "messages", q="img key")
    expect(page.locator(".hits .said").first).to_have_text(said[0])
    expect(page.locator(".hits img")).to_have_count(0)
    page.get_by_label("Search this chat").fill("鍵")
    dashboard.button("Search").click()
    expect(page.locator(".hits mark")).to_have_text("鍵")
    assert dashboard.axe() == []


def test_nothing_found_is_said(dashboard: Dashboard, chat: str) -> None:
    """An empty result says so, and the way to all messages stays."""
    dashboard.service.say(chat, 0)
    page = dashboard.open("chats", chat, "messages", q="nowhere")
    expect(page.get_by_text("Nothing in this chat holds these words.")).to_be_visible()
    page.get_by_role("link", name="All messages").click()
    expect(page.locator("#message-1")).to_be_visible()
