"""The reader: what a person does with one message."""

import re
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.support.dashboard import Dashboard
from tests.support.service import Service

FOLDS = {"on_backlog": "all", "layered": {"verbatim_turns": 2}}


def seeded(service: Service, chat: str, turns: int = 8) -> None:
    """A chat whose older turns are folded."""
    service.put(f"/chats/{chat}", {"settings": FOLDS})
    service.say(chat, *range(turns))
    service.settled(chat)


def opened(page: Page, index: int) -> Locator:
    """What can be done with a message."""
    page.get_by_role("button", name=f"Change message {index}", exact=True).click()
    return page.get_by_role("group", name=f"Message {index}", exact=True)


def stored(dashboard: Dashboard, chat: str, message: str) -> dict[str, Any]:
    """The message as the server has it."""
    found: dict[str, Any] = dashboard.service.get(f"/chats/{chat}/messages/{message}").json()
    return found


def test_a_text_is_changed_and_had_back(dashboard: Dashboard, chat: str) -> None:
    """The editor warns of the snippet over it and keeps what is typed when news arrive; the former text comes back."""
    seeded(dashboard.service, chat)
    page = dashboard.open("chats", chat, "messages")
    opened(page, 1).get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit message #1")
    expect(dialog).to_contain_text("It becomes stale")
    dialog.get_by_label("Text").fill("Tom shakes his head.")
    dashboard.service.patch(f"/chats/{chat}/messages/a0", {"content": "Tom nods."})
    expect(dialog).to_contain_text("The message was changed meanwhile")
    expect(dialog.get_by_label("Text")).to_have_value("Tom shakes his head.")
    dialog.get_by_label("Who speaks").fill("Thomas")
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator("#message-1")).to_contain_text("Tom shakes his head.")
    assert stored(dashboard, chat, "a0")["name"] == "Thomas"
    page.get_by_role("button", name="Earlier texts").click()
    dialog = page.get_by_role("dialog", name="Earlier texts of #1")
    expect(dialog.get_by_role("listitem")).to_have_count(2)
    dialog.get_by_role("listitem").last.get_by_role("button", name="Bring back").click()
    expect(page.locator("#message-1")).to_contain_text("Tom opens gate 0 with the brass key.")
    expect(dashboard.button("Earlier texts")).to_be_focused()


def test_a_refused_change_keeps_what_was_typed(dashboard: Dashboard, chat: str) -> None:
    """The dialog says what the server says, and can be tried again."""
    seeded(dashboard.service, chat, 2)
    page = dashboard.open("chats", chat, "messages")
    opened(page, 1).get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Text")).to_be_focused()
    dialog.get_by_label("Text").fill("Kept.")
    dashboard.service.http.delete(f"/v1/chats/{chat}/messages/a0")
    expect(page.locator("#message-1")).not_to_contain_text("gate 0")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(dialog.get_by_label("Text")).to_have_value("Kept.")
    dashboard.expect_errors("404")


def test_marks_are_set_and_taken_away(dashboard: Dashboard, chat: str) -> None:
    """Pin, hide and omit, each with its way back, and each told at the message."""
    seeded(dashboard.service, chat)
    page = dashboard.open("chats", chat, "messages")
    line, group = page.locator("#message-14"), opened(page, 14)
    for there, back, mark in [("Pin", "Unpin", "pinned"), ("Hide", "Show", "hidden")]:
        group.get_by_role("button", name=there, exact=True).click()
        expect(line).to_contain_text(mark)
        group.get_by_role("button", name=back, exact=True).click()
        expect(line).not_to_contain_text(mark)
    group.get_by_role("button", name="Omit from the story").click()
    expect(line).to_contain_text("omitted")
    group.get_by_role("button", name="Keep in the story").click()
    expect(line).to_contain_text("visible")
    assert stored(dashboard, chat, "u7") | {"pinned": False, "hidden": False, "history": "keep"} == stored(
        dashboard, chat, "u7"
    )


def test_a_deletion_is_undone(dashboard: Dashboard, chat: str) -> None:
    """At once, beside the note that tells of it; the focus goes on to the message that took its place."""
    seeded(dashboard.service, chat, 3)
    page = dashboard.open("chats", chat, "messages")
    opened(page, 2).get_by_role("button", name="Delete").click()
    expect(page.locator("#message-2")).to_contain_text("Tom opens gate 1")
    expect(page.locator("#message-2")).to_be_focused()
    dashboard.button("Undo").click()
    expect(page.locator("#message-2")).to_contain_text("Mira asks about gate 1.")


def test_deleted_messages_are_listed_and_restored(dashboard: Dashboard, chat: str) -> None:
    """Also later, from the list of what was deleted; the focus goes on to the next one, and at last to the page."""
    seeded(dashboard.service, chat, 3)
    dashboard.service.http.delete(f"/v1/chats/{chat}/messages/u1")
    dashboard.service.http.delete(f"/v1/chats/{chat}/messages/a2")
    page = dashboard.open("chats", chat, "messages")
    page.get_by_role("navigation", name="Which messages").get_by_role("link", name="Deleted").click()
    expect(page.locator(".line")).to_have_count(2)
    page.locator(".line", has_text="gate 1").get_by_role("button", name="Restore").click()
    expect(page.locator(".line")).to_have_count(1)
    assert stored(dashboard, chat, "u1")["index"] == 2
    expect(page.get_by_role("button", name=re.compile("Restore"))).to_be_focused()
    page.get_by_role("button", name=re.compile("Restore")).click()
    expect(page.get_by_text("Nothing was deleted in the last 30 days.")).to_be_visible()
    expect(page.locator("#main")).to_be_focused()


def test_a_stretch_is_chosen_for_a_snippet_by_hand(dashboard: Dashboard, chat: str) -> None:
    """From one message to another, kept in the address; a link leads to where it is written."""
    dashboard.service.put(f"/chats/{chat}", {"settings": {"layered": {"verbatim_turns": 2}}})
    dashboard.service.say(chat, *range(10), fold="none")
    page = dashboard.open("chats", chat, "messages")
    opened(page, 2).get_by_role("button", name="Begin a snippet here").click()
    expect(page.get_by_text("A snippet by hand begins at #2.")).to_be_visible()
    group = opened(page, 5)
    group.get_by_role("button", name="End the snippet here").click()
    expect(page.get_by_text("A snippet over #2–5, 4 messages.")).to_be_visible()
    link = page.get_by_role("link", name="Write it")
    expect(link).to_have_attribute("href", f"#/chats/{chat}/memory?first=2&last=5")
    dashboard.button("Forget it").click()
    expect(link).to_have_count(0)


def test_a_chat_is_forked_at_a_message(dashboard: Dashboard, chat: str) -> None:
    """The new chat opens; a taken id is told in the dialog."""
    seeded(dashboard.service, chat, 3)
    page = dashboard.open("chats", chat, "messages")
    opened(page, 3).get_by_role("button", name="Fork from here").click()
    dialog = page.get_by_role("dialog", name="Fork from #3")
    dialog.get_by_label("Id of the new chat").fill(chat)
    dialog.get_by_role("button", name="Fork", exact=True).click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    dashboard.expect_errors("409")
    dialog.get_by_label("Id of the new chat").fill(f"{chat} at dawn")
    dialog.get_by_role("button", name="Fork", exact=True).click()
    expect(page).to_have_url(re.compile(f"/chats/{chat}%20at%20dawn/memory$"))
    assert dashboard.service.status(f"{chat} at dawn")["counts"]["messages"] == 4
