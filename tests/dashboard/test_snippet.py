"""A snippet that is open beside the picture: what it says, and what is under it."""

import re

from playwright.sync_api import expect

from tests.support.dashboard import Dashboard
from tests.support.strata import cell, layered, rolling, snippets

HOSTILE = "<img src=x onerror=alert(1)> [a](javascript:alert(1)) \u202efin"


def test_a_snippet_tells_what_it_is(dashboard: Dashboard, chat: str) -> None:
    """Its text as text, what it stands for, how large it is, who wrote it; its mark in a sentence."""
    found = layered(dashboard.service, chat)[-1]
    dashboard.service.patch(f"/chats/{chat}/snippets/{found['id']}", {"text": HOSTILE})
    page = dashboard.open("chats", chat)
    cell(page, found).click()
    panel = dashboard.section("Snippet")
    expect(panel.locator(".snippet-text")).to_have_text(HOSTILE)
    expect(panel).to_contain_text("1 turn, 2 messages: #18–19")
    expect(panel).to_contain_text("Folded from turns of the chat.")
    expect(panel).to_contain_text("A person has changed its text")
    expect(panel.locator("img")).to_have_count(0)
    expect(cell(page, found)).to_have_attribute("aria-current", "true")


def test_the_way_down_to_the_parts_and_up_again(dashboard: Dashboard, chat: str) -> None:
    """A merged snippet opens its parts, each in its place, and a part leads to what it is part of."""
    merge = next(one for one in layered(dashboard.service, chat) if one["kind"] == "merge")
    page = dashboard.open("chats", chat, snippet=merge["id"])
    panel = dashboard.section("Snippet")
    panel.get_by_text("2 parts").click()
    panel.locator(".snippet-parts button").first.click()
    expect(page).to_have_url(re.compile(f"snippet={merge['children'][0]}"))
    expect(panel).to_contain_text("part of a merged snippet")
    expect(panel.get_by_role("button", name="Delete")).to_have_count(0)
    panel.get_by_role("button", name="The snippet it is part of").click()
    expect(page).to_have_url(re.compile(f"snippet={merge['id']}"))
    expect(panel.get_by_text("2 parts")).to_be_visible()


def test_the_messages_under_it_come_in_pages(dashboard: Dashboard, chat: str) -> None:
    """Fifty original messages, more on asking, each with the way to its place."""
    found = layered(dashboard.service, chat, 34, turns_per_batch=32, flush_turns=32)[-1]
    page = dashboard.open("chats", chat, snippet=found["id"])
    panel = dashboard.section("Snippet")
    panel.get_by_text("64 original messages").click()
    messages = panel.locator(".snippet-under-list > li")
    expect(messages).to_have_count(50)
    panel.get_by_role("button", name="More").click()
    expect(messages).to_have_count(64)
    expect(messages.last).to_contain_text("Tom opens gate 31")
    messages.nth(2).get_by_role("link", name="#2", exact=True).click()
    expect(page).to_have_url(re.compile(r"/messages\?at=2$"))


def test_earlier_texts_are_there_to_read(dashboard: Dashboard, chat: str) -> None:
    """The texts a snippet had before, newest first, with what replaced them."""
    found = layered(dashboard.service, chat)[-1]
    for text in ("Once.", "Twice."):
        dashboard.service.patch(f"/chats/{chat}/snippets/{found['id']}", {"text": text})
    dashboard.open("chats", chat, snippet=found["id"])
    panel = dashboard.section("Snippet")
    panel.get_by_text("Earlier texts").click()
    texts = panel.locator(".snippet-under-list > li")
    expect(texts).to_have_count(2)
    expect(texts.first).to_contain_text("Once.")
    expect(texts.first).to_contain_text("by a person")
    expect(texts.last).to_contain_text(found["text"])


def test_summaries_before_the_one_can_only_be_read(dashboard: Dashboard, chat: str) -> None:
    """The way down a chain of summaries; what was superseded offers no change."""
    *_, before, live = rolling(dashboard.service, chat)
    page = dashboard.open("chats", chat, snippet=live["id"])
    panel = dashboard.section("Snippet")
    panel.get_by_text("The summary before it").click()
    panel.locator(".snippet-parts button").click()
    expect(page).to_have_url(re.compile(f"snippet={before['id']}"))
    expect(panel).to_contain_text("It can be read, but not changed")
    for name in ("Edit", "Write anew", "Delete"):
        expect(panel.get_by_role("button", name=name)).to_have_count(0)


def test_what_sleeps_can_be_edited_only(dashboard: Dashboard, chat: str) -> None:
    """A snippet of a strategy that the chat has left says so, and is not written anew or deleted."""
    found = layered(dashboard.service, chat)[-1]
    dashboard.service.patch(f"/chats/{chat}", {"strategy": "rolling"})
    assert snippets(dashboard.service, chat, "dormant")
    dashboard.open("chats", chat, snippet=found["id"])
    panel = dashboard.section("Snippet")
    expect(panel).to_contain_text("sleeps")
    expect(panel.get_by_role("button", name="Edit")).to_be_visible()
    expect(panel.get_by_role("button", name="Delete")).to_have_count(0)


def test_an_address_of_a_snippet_that_is_gone_says_so(dashboard: Dashboard, chat: str) -> None:
    """What a link leads to may be gone: the server's words, and the picture beside them."""
    dashboard.expect_errors("404")
    layered(dashboard.service, chat)
    page = dashboard.open("chats", chat, snippet="nothing")
    panel = dashboard.section("Snippet")
    expect(panel.get_by_role("alert")).to_contain_text("nothing")
    panel.get_by_role("button", name="Close the snippet").click()
    expect(panel).to_have_count(0)
    expect(page.locator(".strata [data-key]").first).to_be_visible()
