"""Changing a memory by hand: edit, write anew, delete, write one's own, and the way back."""

import re

from playwright.sync_api import Locator, expect

from tests.support.dashboard import Dashboard
from tests.support.fake_model import FakeModel
from tests.support.strata import ask, cell, layered, snippets


def opened(dashboard: Dashboard, chat: str, snippet: str) -> Locator:
    """The panel of a snippet."""
    dashboard.open("chats", chat, snippet=snippet)
    panel = dashboard.section("Snippet")
    expect(panel.locator(".snippet-text")).to_be_visible()
    return panel


def texts(dashboard: Dashboard, chat: str) -> list[str]:
    """The texts of the live snippets."""
    return [one["text"] for one in snippets(dashboard.service, chat)]


def test_an_edit_and_its_undo(dashboard: Dashboard, chat: str) -> None:
    """A new text is stored and told of; the undo beside the notice brings the old one back."""
    found = layered(dashboard.service, chat)[-1]
    panel = opened(dashboard, chat, found["id"])
    panel.get_by_role("button", name="Edit").click()
    box = panel.get_by_label("Text")
    expect(box).to_be_focused()
    expect(box).to_have_value(found["text"])
    box.fill("  ")
    expect(panel.get_by_role("button", name="Save")).to_be_disabled()
    box.fill("Tom lost the key.")
    panel.get_by_role("button", name="Save").click()
    expect(panel.locator(".snippet-text")).to_have_text("Tom lost the key.")
    expect(panel.get_by_role("button", name="Edit")).to_be_focused()
    assert texts(dashboard, chat)[-1] == "Tom lost the key."
    dashboard.page.get_by_role("log").get_by_role("button", name="Undo").last.click()
    expect(panel.locator(".snippet-text")).to_have_text(found["text"])
    expect(dashboard.page.get_by_text("The edit is taken back.")).to_be_visible()


def test_what_is_typed_stays(dashboard: Dashboard, chat: str) -> None:
    """News, another snippet and a closed panel take no word that is not saved; Cancel does."""
    found = layered(dashboard.service, chat)
    panel = opened(dashboard, chat, found[-1]["id"])
    panel.get_by_role("button", name="Edit").click()
    panel.get_by_label("Text").fill("Half a thou")
    dashboard.service.patch(f"/chats/{chat}/snippets/{found[-2]['id']}", {"text": "Elsewhere."})
    expect(cell(dashboard.page, found[-2])).to_have_accessible_name(re.compile("edited"))
    expect(panel.get_by_label("Text")).to_have_value("Half a thou")
    cell(dashboard.page, found[0]).click()
    expect(panel.locator(".snippet-text")).to_have_text(found[0]["text"])
    cell(dashboard.page, found[-1]).click()
    expect(panel.get_by_label("Text")).to_have_value("Half a thou")
    panel.get_by_role("button", name="Cancel").click()
    expect(panel.locator(".snippet-text")).to_have_text(found[-1]["text"])


def clashing(dashboard: Dashboard, chat: str) -> Locator:
    """The panel of a snippet that somebody has changed while another text was written."""
    dashboard.expect_errors("412")
    found = layered(dashboard.service, chat)[-1]
    panel = opened(dashboard, chat, found["id"])
    panel.get_by_role("button", name="Edit").click()
    panel.get_by_label("Text").fill("Mine.")
    dashboard.service.patch(f"/chats/{chat}/snippets/{found['id']}", {"text": "Theirs."})
    panel.get_by_role("button", name="Save").click()
    expect(panel.locator(".note .snippet-text")).to_have_text("Theirs.")
    expect(panel.get_by_label("Text")).to_have_value("Mine.")
    return panel


def test_two_texts_and_one_s_own_is_chosen(dashboard: Dashboard, chat: str) -> None:
    """Whoever was slower sees both texts, and may save theirs over the other."""
    panel = clashing(dashboard, chat)
    assert dashboard.axe(".snippet-panel") == []
    panel.get_by_role("button", name="Save mine over it").click()
    expect(panel.locator(".snippet-text")).to_have_text("Mine.")
    assert texts(dashboard, chat)[-1] == "Mine."


def test_two_texts_and_the_other_one_is_kept(dashboard: Dashboard, chat: str) -> None:
    """Or leave the other's as it is."""
    panel = clashing(dashboard, chat)
    panel.get_by_role("button", name="Keep that one").click()
    expect(panel.locator(".snippet-text")).to_have_text("Theirs.")
    assert texts(dashboard, chat)[-1] == "Theirs."


def test_a_deletion_is_asked_for_and_can_be_undone(dashboard: Dashboard, chat: str) -> None:
    """What becomes visible is said first; then its turns are a stretch, and the last change can be undone."""
    found = layered(dashboard.service, chat)[-2]
    panel = opened(dashboard, chat, found["id"])
    page = dashboard.page
    panel.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog", name="Delete this snippet?")
    expect(dialog).to_contain_text("2 messages (1 turn, #16–17) will be visible again")
    dialog.get_by_role("button", name="Cancel").click()
    expect(panel.get_by_role("button", name="Delete")).to_be_focused()
    panel.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(panel).to_have_count(0)
    expect(page.get_by_role("link", name=re.compile("^Waits to fold, turn 9, messages #16–17"))).to_be_visible()
    expect(page.locator(".strata [data-key]:focus")).to_have_count(1)
    dashboard.button("Undo last change").click()
    expect(cell(page, found)).to_be_visible()
    expect(page.get_by_text("The deletion is taken back")).to_be_visible()


def test_with_nothing_to_undo_the_server_says_so(dashboard: Dashboard, chat: str) -> None:
    """The undo of a memory that nobody changed changes nothing."""
    dashboard.expect_errors("409")
    layered(dashboard.service, chat)
    page = dashboard.open("chats", chat)
    dashboard.button("Undo last change").click()
    expect(page.get_by_role("log")).to_contain_text("There is nothing left to undo")


def test_an_older_undo_does_not_take_back_a_newer_change(dashboard: Dashboard, chat: str) -> None:
    """An undo that is offered beside a notice is that change's alone."""
    found = layered(dashboard.service, chat)
    page = dashboard.open("chats", chat)
    panel = dashboard.section("Snippet")
    for one, text in ((found[-1], "First."), (found[-2], "Second.")):
        cell(page, one).click()
        panel.get_by_role("button", name="Edit").click()
        panel.get_by_label("Text").fill(text)
        panel.get_by_role("button", name="Save").click()
        expect(panel.locator(".snippet-text")).to_have_text(text)
    page.get_by_role("log").get_by_role("button", name="Undo").nth(-2).click()
    expect(page.get_by_role("log")).to_contain_text("Something else was changed since then")
    assert texts(dashboard, chat)[-2:] == ["Second.", "First."]


def test_a_snippet_is_written_anew(dashboard: Dashboard, chat: str, model: FakeModel) -> None:
    """The text stays until there is a new one; the work can be stopped, and taken back once it is done."""
    found = layered(dashboard.service, chat)[-1]
    ask(dashboard.service, chat, model)
    panel = opened(dashboard, chat, found["id"])
    model.hold()
    panel.get_by_role("button", name="Write anew").click()
    expect(panel.get_by_role("progressbar", name="Writing it anew")).to_be_visible()
    expect(panel.locator(".snippet-text")).to_have_text(found["text"])
    expect(panel.get_by_role("button", name="Stop")).to_be_focused()
    panel.get_by_role("button", name="Stop").click()
    expect(dashboard.page.get_by_role("log")).to_contain_text("Stopped: the text is as it was.")
    expect(panel.get_by_role("button", name="Edit")).to_be_focused()
    model.release()
    model.say("Tom opens the ninth gate, and Mira counts.")
    panel.get_by_role("button", name="Write anew").click()
    expect(panel.locator(".snippet-text")).to_have_text("Tom opens the ninth gate, and Mira counts.")
    dashboard.page.get_by_role("log").get_by_role("button", name="Undo").last.click()
    expect(panel.locator(".snippet-text")).to_have_text(found["text"])
    expect(panel).to_contain_text("1 call: ")
    expect(dashboard.page.locator(".strata [data-key]:focus")).to_have_count(1)


def test_a_snippet_by_hand(dashboard: Dashboard, chat: str) -> None:
    """Over free turns that are offered or typed; what does not fit is answered with advice, and the text stays."""
    dashboard.expect_errors("409", "404")
    service = dashboard.service
    layered(service, chat, 4)
    service.post(f"/chats/{chat}/pause")
    service.say(chat, *range(4, 8))
    page = dashboard.open("chats", chat)
    dashboard.button("Write a snippet").click()
    dialog = page.get_by_role("dialog", name="Write a snippet")
    expect(dialog.get_by_label("First message")).to_have_value("4")
    expect(dialog.get_by_label("Last message")).to_have_value("11")
    dialog.get_by_label("First message").fill("3")
    expect(dialog).to_contain_text("Tom opens gate 1 with")
    dialog.get_by_label("Text").fill("Many gates were opened.")
    dialog.get_by_role("button", name="Write it").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(dialog.get_by_label("Text")).to_have_value("Many gates were opened.")
    dialog.get_by_label("First message").fill("99")
    expect(dialog).to_contain_text("There is no such message.")
    dialog.get_by_role("button", name="#4–11").click()
    expect(dialog).to_contain_text("Mira asks about gate 2.")
    dialog.get_by_role("button", name="Write it").click()
    expect(dashboard.section("Snippet").locator(".snippet-text")).to_have_text("Many gates were opened.")
    expect(page.get_by_role("button", name=re.compile("by hand$"))).to_be_visible()
    page.get_by_role("log").get_by_role("button", name="Undo").last.click()
    expect(page.get_by_role("button", name=re.compile("by hand$"))).to_have_count(0)


def test_a_snippet_by_hand_from_another_page(dashboard: Dashboard, chat: str) -> None:
    """An address may say which messages it is to stand for; the dialog closes with Escape."""
    layered(dashboard.service, chat, 3)
    dashboard.service.post(f"/chats/{chat}/pause")
    dashboard.service.say(chat, 3)
    page = dashboard.open("chats", chat, first=2, last=3)
    dialog = page.get_by_role("dialog", name="Write a snippet")
    expect(dialog.get_by_label("First message")).to_have_value("2")
    expect(dialog.get_by_label("Last message")).to_have_value("3")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page).not_to_have_url(re.compile("first="))


def test_the_way_back_leads_out_of_a_dialog(dashboard: Dashboard, chat: str) -> None:
    """As out of the snippet that is open beside it; a dialog never stands over another place, whose words stay."""
    found = layered(dashboard.service, chat, 4)
    page = dashboard.open("chats", chat)
    cell(page, found[0]).click()
    expect(dashboard.section("Snippet")).to_be_visible()
    dashboard.button("Write a snippet").click()
    dialog = page.get_by_role("dialog", name="Write a snippet")
    expect(dialog).to_be_visible()
    page.go_back()
    expect(dialog).to_have_count(0)
    page.goto(f"{page.url.split('#')[0]}#/chats/{chat}/messages?first=8&last=9")
    page.get_by_role("link", name="Write it").click()
    expect(dialog).to_be_visible()
    page.go_back()
    expect(dialog).to_have_count(0)
    expect(page).to_have_url(re.compile("messages.first=8&last=9"))


def test_without_a_place_there_is_no_form(dashboard: Dashboard, chat: str) -> None:
    """Where no snippet can be written, the dialog says so and offers to close."""
    layered(dashboard.service, chat, 4)
    page = dashboard.open("chats", chat)
    dashboard.button("Write a snippet").click()
    dialog = page.get_by_role("dialog", name="Write a snippet")
    expect(dialog).to_contain_text("At the moment there are no turns for it")
    expect(dialog.locator("input, textarea")).to_have_count(0)
    dialog.get_by_text("Close", exact=True).click()
    expect(dialog).to_have_count(0)
