"""Looking after a chat: its names, files and branches, slash commands, its end."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.dashboard.conftest import OpenDashboard
from tests.support.dashboard import PHONE, Dashboard

MEMORY = {
    "layers": [[{"text": "Mira and Tom open gates.", "turnRange": [0, 5], "timestamp": 1772366400000}], []],
    "summarizedUpTo": 5,
    "ghostedIndices": [0, 1, 2, 3, 4, 5],
}
DROP = """([name, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name));
    return data;
}"""


def cared(dashboard: Dashboard, chat: str, turns: int = 14) -> Page:
    """The page of a chat of some turns, of which nothing folds by itself."""
    dashboard.service.put(f"/chats/{chat}", {"settings": {"paused": True}})
    dashboard.service.say(chat, *range(turns), fold="none")
    return dashboard.open("chats", chat, "care")


def test_a_chat_is_renamed(dashboard: Dashboard, chat: str) -> None:
    """Names are kept as they are typed, whatever news come meanwhile, and an empty one is none."""
    page = cared(dashboard, chat)
    page.get_by_label("Title").fill("<b>The gate</b>")
    page.get_by_label("Your name in it").fill("Mira")
    dashboard.service.say(chat, 14, fold="none")
    expect(page.get_by_text("15 turns")).to_have_count(0)
    dashboard.button("Save the names").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("<b>The gate</b>")
    stored = dashboard.service.get(f"/chats/{chat}").json()
    assert (stored["title"], stored["user_name"], stored["character_name"]) == ("<b>The gate</b>", "Mira", None)
    page.get_by_label("Title").fill(" ")
    dashboard.button("Save the names").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(chat)


@pytest.mark.parametrize(
    ("name", "ending", "holds"),
    [
        ("Turnfold", ".turnfold.jsonl", '"id":"u0"'),
        ("SillyTavern", ".jsonl", "Mira asks about gate 0."),
        ("Summaryception", ".json", '"layers"'),
        ("Messages", ".json", '"messages"'),
    ],
)
def test_a_chat_is_exported(
    dashboard: Dashboard, chat: str, name: str, ending: str, holds: str, tmp_path: Path
) -> None:
    """Each format is a file with the name that the server gives it."""
    page = cared(dashboard, chat)
    with page.expect_download() as caught:
        dashboard.button(f"Download as {name}").click()
    caught.value.save_as(tmp_path / "file")
    assert caught.value.suggested_filename.endswith(ending)
    assert chat in caught.value.suggested_filename
    assert holds in (tmp_path / "file").read_text(encoding="utf-8")


def test_a_memory_is_imported(dashboard: Dashboard, chat: str) -> None:
    """What fitted is told, and what there is to know about it."""
    page = cared(dashboard, chat)
    said = json.dumps(MEMORY | {"summarizedUpTo": 99})
    file: FilePayload = {"name": "memory.json", "mimeType": "application/json", "buffer": said.encode()}
    page.get_by_label("Memory file").set_input_files(file)
    section = dashboard.section("Import a memory")
    expect(section).to_contain_text("1 snippet found a place, from memory.json.")
    expect(section).to_contain_text("pointer_recomputed")
    assert dashboard.service.status(chat)["counts"]["ghosted"] == 6


def test_a_memory_is_dropped(dashboard: Dashboard, chat: str) -> None:
    """A dropped file is taken as a chosen one; one without a memory is refused in words."""
    page = cared(dashboard, chat)
    target = page.locator(".care-drop")
    target.dispatch_event("drop", {"dataTransfer": page.evaluate_handle(DROP, ["m.json", json.dumps(MEMORY)])})
    section = dashboard.section("Import a memory")
    expect(section).to_contain_text("1 snippet found a place, from m.json.")
    dashboard.expect_errors("status of 422")
    target.dispatch_event("drop", {"dataTransfer": page.evaluate_handle(DROP, ["x.json", "no memory"])})
    expect(section.get_by_role("alert")).to_be_visible()
    expect(section).not_to_contain_text("found a place")


def test_a_chat_is_forked(dashboard: Dashboard, chat: str) -> None:
    """A fork leads to the branch, which says where it branched off; a number that no message has is refused."""
    page = cared(dashboard, chat)
    page.get_by_label("Fork after message").fill("999")
    dashboard.button("Fork").click()
    expect(dashboard.section("Branches")).to_contain_text("There is no message 999.")
    page.get_by_label("Fork after message").fill("#5")
    dashboard.button("Fork").click()
    expect(page).not_to_have_url(f"{dashboard.service.url}/#/chats/{chat}/care")
    branch = page.url.rpartition("/")[2]
    page = dashboard.open("chats", branch, "care")
    expect(dashboard.section("Branches").get_by_role("link", name=chat)).to_be_visible()
    assert dashboard.service.status(branch)["counts"]["messages"] == 6
    dashboard.section("Branches").get_by_role("link", name=chat).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(chat)


def test_slash_commands(dashboard: Dashboard, chat: str) -> None:
    """A command answers in text, its hint says what it does, and an unknown one is refused in words."""
    page = cared(dashboard, chat)
    section = dashboard.section("Slash commands")
    page.get_by_role("combobox", name="Command").fill("/sc-search gate 3")
    expect(section).to_contain_text("find words in messages and summaries")
    page.get_by_role("combobox", name="Command").press("Enter")
    expect(section.get_by_label("Answer", exact=True)).to_contain_text("Mira asks about gate 3.")
    dashboard.expect_errors("status of 422")
    page.get_by_role("combobox", name="Command").fill("/sc-dance")
    dashboard.button("Run").click()
    expect(section.get_by_role("alert")).to_contain_text("Unknown command.")


def test_a_memory_is_cleared(dashboard: Dashboard, chat: str) -> None:
    """Clearing asks first, says that no message is lost, and can be left off."""
    dashboard.service.say(chat, *range(13))
    page = dashboard.open("chats", chat, "care")
    dashboard.button("Clear the memory").click()
    asked = page.get_by_role("dialog", name="Clear the memory?")
    expect(asked).to_contain_text("No message is lost: 6 messages that snippets stand for now")
    asked.get_by_role("button", name="Cancel").click()
    expect(asked).to_have_count(0)
    expect(dashboard.button("Clear the memory")).to_be_focused()
    assert dashboard.service.status(chat)["counts"]["ghosted"] == 6
    dashboard.button("Clear the memory").click()
    dashboard.button("Clear it").click()
    expect(page.get_by_role("log")).to_contain_text("Forgot 1 snippet; 6 messages visible again.")
    assert dashboard.service.status(chat)["counts"]["ghosted"] == 0


def test_a_chat_is_deleted(dashboard: Dashboard, chat: str) -> None:
    """Deleting wants the chat's name typed, and leads home."""
    dashboard.service.put(f"/chats/{chat}", {"title": "The dry mail"})
    page = cared(dashboard, chat)
    dashboard.button("Delete the chat").click()
    asked = page.get_by_role("dialog", name="Delete this chat for good?")
    expect(asked).to_contain_text("28 messages and all memory of them will be gone.")
    expect(dashboard.button("Delete for good")).to_be_disabled()
    asked.get_by_label("To be sure, type its name").fill("The dry mail")
    dashboard.expect_errors("status of 404")  # the page may hear of it before the answer is there
    dashboard.button("Delete for good").click()
    expect(page).to_have_url(f"{dashboard.service.url}/#/")
    assert dashboard.service.get(f"/chats/{chat}").status_code == 404


def test_a_session_is_forgotten(dashboard: Dashboard, chat: str) -> None:
    """Where sessions have memories of their own, one can be forgotten; one that is not there is told of as such."""
    buffer = {"strategy": "summary_buffer", "settings": {"summary_buffer": {"scope": "session"}}}
    dashboard.service.put(f"/chats/{chat}", buffer)
    line = {"role": "user", "content": "Is the gate shut?"}
    dashboard.service.post(f"/chats/{chat}/messages", {"messages": [line], "session_id": "monday"})
    page = dashboard.open("chats", chat, "care")
    dashboard.expect_errors("status of 404")
    for told in (page.get_by_text("The session is forgotten."), dashboard.section("Sessions").get_by_role("alert")):
        page.get_by_label("Session", exact=True).fill("monday")
        dashboard.button("Forget the session").click()
        dashboard.button("Forget it").click()
        expect(told).to_be_visible()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_the_page_is_usable_by_all(open_dashboard: OpenDashboard, chat: str, colours: str) -> None:
    """On a phone, axe finds nothing wrong with the page or its dialogs, and nothing has to be scrolled sideways."""
    dashboard = open_dashboard(viewport=PHONE, color_scheme=colours)
    cared(dashboard, chat)
    dashboard.button("Run").click()
    expect(dashboard.page.get_by_label("Answer", exact=True)).to_be_visible()
    assert dashboard.axe() == []
    assert dashboard.too_wide() == []
    dashboard.button("Delete the chat").click()
    assert dashboard.axe("dialog") == []
    assert dashboard.too_wide() == []
