"""The home page before there is a chat, and the ways in: frontends, files, an empty chat."""

import json
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Page, Route, expect

from tests.dashboard.conftest import OpenDashboard
from tests.docs.pages import BASE_URL, commands, send
from tests.support.dashboard import PHONE, Dashboard
from tests.support.service import Service

REFUSED = "status of 422"
# The lines of a module as the body of a function, which can be run where they are.
RUN = """lines => new Function('return (async () => {' + lines
    .replace(/^import (.+) from (.+);$/m, 'const $1 = await import($2);')
    .replace('console.log(messages);', 'return messages;') + '})()')()"""


@pytest.fixture(autouse=True)
def empty(service: Service, shared: Dashboard) -> None:
    """No chat is there, and the page begins anew."""
    shared.page.goto("about:blank")
    for chat in service.get("/chats", params={"limit": 1000}).json()["items"]:
        service.http.delete(f"/v1/chats/{chat['id']}")


def story(name: str, lines: int = 4, tail: str = "") -> FilePayload:
    """A chat file of SillyTavern."""
    speakers = [("Mira", True), ("Tom", False)]
    said = [
        {"name": name, "is_user": is_user, "mes": f"Line {line}."}
        for line, (name, is_user) in zip(range(lines), cycle(speakers), strict=False)
    ]
    text = "\n".join(map(json.dumps, said)) + "\n" + tail
    return {"name": name, "mimeType": "", "buffer": text.encode()}


def choose(page: Page, *files: FilePayload) -> None:
    """Choose files with the file input."""
    page.get_by_label("Choose chat files").or_(page.get_by_label("Import chats")).set_input_files(files)


def copied(dashboard: Dashboard, button: str) -> str:
    """What a button copies."""
    dashboard.button(f"Copy: {button}").click()
    expect(dashboard.page.get_by_role("button", name=f"Copy: {button}")).to_have_text("Copied")
    found: str = dashboard.page.evaluate("() => navigator.clipboard.readText()")
    return found


def test_the_first_page_shows_three_ways_in(dashboard: Dashboard) -> None:
    """Without a chat the page says what this is and offers the demo, a file and a frontend, and no proxy."""
    page = dashboard.open()
    expect(page.get_by_role("heading", level=1)).to_have_text("A long chat, remembered")
    headings = [heading.inner_text() for heading in page.get_by_role("heading", level=2).all()]
    assert headings == ["Watch it work", "Bring a chat", "Connect a frontend"]
    expect(page.get_by_text("proxy")).to_have_count(0)


def test_copied_commands_run_and_the_page_becomes_a_list(dashboard: Dashboard) -> None:
    """The lines for a shell store a chat and ask for its prompt; the page then shows it by itself."""
    page = dashboard.open()
    dashboard.button("REST").click()
    text = copied(dashboard, "Lines for a shell").replace(dashboard.service.url, BASE_URL)
    answers = [send(dashboard.service.http, words, {}) for words in commands(text)]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert len(answers[1].json()["messages"]) == 2
    expect(page.get_by_role("heading", level=1)).to_have_text("Chats")
    expect(page.get_by_role("link", name="harbour")).to_be_visible()


def test_copied_javascript_runs(dashboard: Dashboard) -> None:
    """The lines of JavaScript do the same in a page."""
    page = dashboard.open()
    dashboard.button("JavaScript").click()
    lines = copied(dashboard, "Lines of JavaScript")
    assert [message["role"] for message in page.evaluate(RUN, lines)] == ["user", "assistant"]


def test_sillytavern_is_given_this_servers_address(dashboard: Dashboard) -> None:
    """The extension's settings are the server's own address, and its key where it wants one."""
    page = dashboard.open()
    assert copied(dashboard, "Address of this server") == dashboard.service.url
    expect(page.get_by_text("This server wants no key.")).to_be_visible()
    page.evaluate("sessionStorage.setItem('turnfold.key', 'sesame')")
    page.reload()
    expect(page.get_by_text("This server wants its key")).to_be_visible()
    dashboard.button("REST").click()
    assert '-H "Authorization: Bearer $TURNFOLD_API_KEY"' in copied(dashboard, "Lines for a shell")
    page.evaluate("sessionStorage.clear()")
    page.reload()


def test_a_chosen_file_is_opened(dashboard: Dashboard) -> None:
    """A file without remarks opens as a chat."""
    page = dashboard.open()
    choose(page, story("Tom.jsonl"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Tom")
    expect(page.get_by_text("Imported 4 messages from Tom.jsonl.")).to_be_visible()


def test_several_files_are_told_apart(dashboard: Dashboard) -> None:
    """Each file has its outcome: a link, remarks that can be read, or why it was refused, under its name."""
    dashboard.expect_errors(REFUSED)
    page = dashboard.open()
    nothing: FilePayload = {"name": "empty.jsonl", "mimeType": "", "buffer": b""}
    notes: FilePayload = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"Milk, bread."}
    choose(page, story("Anna.jsonl"), notes, nothing, story("Ben.jsonl", tail="half a li"))
    outcome = dashboard.section("Imported")
    expect(outcome.locator(".arrivals > li")).to_have_count(4)
    expect(outcome).to_contain_text("notes.txt: The file is of no known kind.")
    expect(outcome).to_contain_text("empty.jsonl: The file is empty.")
    expect(outcome.get_by_text("Line 5 was skipped")).to_be_visible()
    assert dashboard.axe() == []
    outcome.get_by_role("link", name="Open Ben.jsonl").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ben")
    page.go_back()
    dashboard.button("Close").click()
    expect(outcome).to_have_count(0)
    expect(page.get_by_role("main")).to_be_focused()


def test_files_are_dropped_anywhere(dashboard: Dashboard, tmp_path: Path) -> None:
    """A file dropped on the page comes in; a folder beside it is refused by its name."""
    page = dashboard.open()
    (tmp_path / "chats").mkdir()
    file = tmp_path / "Anna.jsonl"
    file.write_bytes(story("Anna.jsonl")["buffer"])
    expect(page.get_by_role("button", name="Connect a frontend").or_(page.get_by_text("Bring a chat"))).to_be_visible()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")  # it listens by then
    drag = _dragging(dashboard, [file, tmp_path / "chats"])
    drag("dragEnter")
    drag("dragOver")
    expect(page.get_by_text("Drop the chat files here")).to_be_visible()
    drag("drop")
    outcome = dashboard.section("Imported")
    expect(outcome).to_contain_text("chats: A folder cannot be taken in.")
    expect(outcome.get_by_role("link", name="Open Anna.jsonl")).to_be_visible()
    expect(page.get_by_text("Drop the chat files here")).to_have_count(0)


def _dragging(dashboard: Dashboard, files: list[Path]) -> Callable[[str], Any]:
    """Does with these files what a hand with a mouse does."""
    session = dashboard.context.new_cdp_session(dashboard.page)
    data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}

    def drag(what: str) -> None:
        session.send("Input.dispatchDragEvent", {"type": what, "x": 300, "y": 300, "data": data})

    return drag


def test_an_import_can_be_cut(dashboard: Dashboard) -> None:
    """While a file is on its way its size is shown; what waits is left out and what is sent is cut."""
    page = dashboard.open()
    held: list[Route] = []
    page.route("**/v1/import", lambda route: held.append(route))
    choose(page, story("Anna.jsonl", 400), story("Ben.jsonl"))
    coming = dashboard.section("Importing")
    expect(coming.get_by_role("progressbar", name="Taking in Anna.jsonl")).to_be_visible()
    expect(coming).to_contain_text("21 kB, being taken in")
    dashboard.button("Leave out Ben.jsonl").click()
    dashboard.button("Leave out Anna.jsonl").click()
    outcome = dashboard.section("Not imported")
    expect(outcome).to_contain_text("Anna.jsonl: Cut.")
    expect(outcome).to_contain_text("Ben.jsonl: Left out.")
    page.unroute("**/v1/import")
    assert dashboard.service.get("/chats").json()["items"] == []
    dashboard.button("Close").click()


def test_a_new_chat_is_made(dashboard: Dashboard, chat: str) -> None:
    """Title and names are given in a dialog, and the chat opens."""
    dashboard.service.put(f"/chats/{chat}", {})
    page = dashboard.open()
    dashboard.button("New chat").click()
    assert dashboard.axe("dialog") == []
    page.get_by_label("Title").fill("The harbour")
    page.get_by_label("The character is").fill("Tom")
    dashboard.button("Make it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The harbour")
    made = dashboard.service.get("/chats", params={"title": "The harbour"}).json()["items"][0]
    assert (made["character_name"], made["user_name"]) == ("Tom", None)


def test_frontends_stay_reachable(open_dashboard: OpenDashboard, service: Service, chat: str) -> None:
    """With chats there, a button shows the same lines, on a phone too."""
    service.put(f"/chats/{chat}", {})
    dashboard = open_dashboard(viewport=PHONE)
    page = dashboard.open()
    dashboard.button("Connect a frontend").click()
    dashboard.button("JavaScript").click()
    expect(page.get_by_role("dialog").get_by_text("import { Turnfold }")).to_be_visible()
    assert dashboard.axe() == []
    assert dashboard.too_wide() == []
    page.keyboard.press("Escape")
    expect(dashboard.button("Connect a frontend")).to_be_focused()


def test_copying_where_browsers_know_only_the_old_way(open_dashboard: OpenDashboard) -> None:
    """Over plain http from another machine, pages have no clipboard; what is copied is the same."""
    dashboard = open_dashboard()
    dashboard.page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page = dashboard.open()
    page.evaluate("addEventListener('copy', ({ target }) => { window.taken = target.value; })")
    if dashboard.button("Connect a frontend").count():
        dashboard.button("Connect a frontend").click()
    button = page.get_by_role("button", name="Copy: ").first
    button.click()
    expect(button).to_have_text("Copied")
    expect(button).to_be_focused()
    assert page.evaluate("window.taken") == page.locator(".copy pre").first.text_content()
