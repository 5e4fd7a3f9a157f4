"""Slash commands: the server's text comes back, to the person and into the pipe, whatever the server knows of."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Route

from tests.support.service import Service
from tests.support.tavern import both_versions
from tests.support.tavern_page import TavernPage
from tests.support.tavern_story import asks_nobody, in_sync, open_folded

HOSTILE = '<img src=x onerror="globalThis.hacked = true">**bold**'
POPUP = "dialog[open] .popup-content"


@pytest.fixture(scope="module", autouse=True)
def folding(turnfold: Service) -> Iterator[None]:
    """Old chats fold without a question here."""
    with asks_nobody(turnfold):
        yield


def close(tavern: TavernPage, button: str = ".popup-button-ok") -> None:
    """Press a button of the dialog that is open, and wait until it has gone."""
    tavern.page.click(f"dialog[open] {button}")
    tavern.until("() => !document.querySelector('dialog[open]')")


def said(turnfold: Service, chat: str, line: str) -> str:
    """What the server answers to a command."""
    answer = turnfold.post(f"/chats/{chat}/commands", {"command": line})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["text"])


def test_commands_that_read_hand_on_what_the_server_says(tavern: TavernPage, turnfold: Service) -> None:
    """Status, preview, search, help, the cost of a backlog and a look for faults give the server's own text."""
    chat = open_folded(tavern, turnfold, "reading", 40)
    for line in ("/sc-status", "/sc-preview", "/sc-search gate 7", "/sc-help", "/sc-backlog", "/sc-repair"):
        name, _, words = line.partition(" ")
        assert tavern.command(f"{name} quiet=true {words}".strip()) == said(turnfold, chat, line), line
    assert tavern.page.locator("dialog[open]").count() == 0
    assert tavern.command("/turnfold-status quiet=true") == said(turnfold, chat, "/sc-status")


@both_versions
def test_commands_that_change_something_change_it(tavern: TavernPage, turnfold: Service) -> None:
    """Pause, resume, stop, summarize, pin and clear do what they say; the last one sets all messages free at once."""
    chat = open_folded(tavern, turnfold, "changing", 40)
    assert tavern.command("/sc-pause quiet=true").startswith("Folding is paused")
    assert turnfold.status(chat)["paused"]
    assert tavern.command("/sc-resume quiet=true").startswith("Folding goes on")
    assert not turnfold.status(chat)["paused"]
    assert tavern.command("/sc-stop quiet=true").startswith("Nothing was running")
    assert tavern.command("/sc-summarize quiet=true").startswith("Folding 1 batch")
    turnfold.settled(chat)
    assert "Message 3 is pinned" in tavern.command("/sc-pin quiet=true 3")
    assert "Message 80 is pinned" in tavern.command("/sc-pin quiet=true")
    assert [
        one["index"] for one in turnfold.get(f"/chats/{chat}/messages?limit=100").json()["items"] if one["pinned"]
    ] == [3, 80]
    assert "no longer pinned" in tavern.command("/sc-pin quiet=true 3 off")
    assert tavern.command("/sc-clear yes=true").startswith("Forgot ")
    assert turnfold.status(chat)["counts"]["ghosted"] == 0
    tavern.until("() => !document.querySelector('.turnfold-ghost')")


def test_text_goes_into_pipes_and_variables(tavern: TavernPage, turnfold: Service) -> None:
    """Another command gets the text; with quiet=true nothing is shown of it."""
    chat = open_folded(tavern, turnfold, "piping", 1)
    text = said(turnfold, chat, "/sc-status")
    assert tavern.command("/sc-status quiet=true | /len") == str(len(text))
    assert tavern.command("/sc-status quiet=true | /setvar key=seen | /getvar seen") == text
    assert tavern.toasts() == []


def test_a_person_is_shown_the_answer(tavern: TavernPage, turnfold: Service) -> None:
    """A few words come in a toast, more in a dialog that keeps the lines."""
    chat = open_folded(tavern, turnfold, "shown", 1)
    tavern.post("/sc-pause")
    tavern.until("() => document.querySelector('#toast-container')?.textContent.includes('Folding is paused')")
    tavern.post("/sc-status")
    tavern.page.wait_for_selector(POPUP)
    assert tavern.page.locator(f"{POPUP} .turnfold-text").inner_text() == said(turnfold, chat, "/sc-status")
    close(tavern)


def test_clear_asks_first(tavern: TavernPage, turnfold: Service) -> None:
    """One who does not agree keeps the memory; one who does sees the ghosts go."""
    chat = open_folded(tavern, turnfold, "clearing", 40)
    ghosts = tavern.page.locator(".turnfold-ghost").count()
    tavern.post("/sc-clear")
    tavern.page.wait_for_selector(POPUP)
    close(tavern, ".popup-button-cancel")
    assert (tavern.page.locator(".turnfold-ghost").count(), ghosts) == (59, 59)
    assert turnfold.status(chat)["counts"]["ghosted"] > 0
    tavern.idle()
    tavern.post("/sc-clear")
    tavern.page.wait_for_selector(POPUP)
    close(tavern)
    tavern.until("() => !document.querySelector('.turnfold-ghost, [data-turnfold]')")
    assert turnfold.status(chat)["counts"]["ghosted"] == 0


def test_mistakes_are_told_and_hand_on_nothing(tavern: TavernPage, turnfold: Service) -> None:
    """A word that the server does not take, and a message that is not there, end in a toast and an empty pipe."""
    open_folded(tavern, turnfold, "mistaken", 1)
    tavern.expect_errors("422")
    assert tavern.command("/sc-backlog everything") == ""
    assert tavern.command("/sc-pin 99") == ""
    told = " ".join(tavern.toasts())
    assert "/sc-backlog: Say /sc-backlog all" in told
    assert "/sc-pin: There is no message 99; the newest is 2." in told


def test_a_server_that_is_away_is_an_error_that_says_so(tavern: TavernPage, turnfold: Service) -> None:
    """The commands are there without the server, and name what is wrong."""
    open_folded(tavern, turnfold, "away", 1)
    tavern.expect_errors("net::ERR_FAILED", "net::ERR_CONNECTION")
    tavern.page.route(f"{turnfold.url}/**", lambda route: route.abort())
    try:
        assert tavern.command("/sc-status quiet=true") == ""
        assert any("/sc-status: Turnfold" in told and "cannot be reached" in told for told in tavern.toasts())
    finally:
        tavern.page.unroute(f"{turnfold.url}/**")
    in_sync(tavern)


def test_a_command_of_a_newer_server(tavern: TavernPage, turnfold: Service) -> None:
    """What only the server knows is registered at the start, its help is text, and it runs, if a chat is open."""
    listed = turnfold.get("/commands").json()
    listed["items"].append({"name": "/sc-future", "help": HOSTILE, "arguments": ""})

    def answer(route: Route) -> None:
        line = json.loads(route.request.post_data or "{}").get("command")
        assert line == "/sc-future of tales"
        route.fulfill(json={"text": HOSTILE, "data": {}})

    tavern.page.route("**/v1/commands", lambda route: route.fulfill(json=listed))
    tavern.page.route("**/v1/chats/*/commands", answer)
    try:
        tavern.load()
        tavern.until("() => SillyTavern.getContext().SlashCommandParser.commands['sc-future']")
        assert tavern.command("/sc-future of tales") == ""
        assert "/sc-future: No chat is open. It is about the chat that is." in tavern.toasts()
        assert re.search(r"^/sc-future: <img", tavern.command("/sc-help quiet=true"), re.MULTILINE)
        tavern.open("Seraphina")
        assert tavern.command("/sc-future of tales") == HOSTILE
        assert HOSTILE in tavern.toasts()
        tavern.page.fill("#send_textarea", "/sc-future")
        tavern.page.press("#send_textarea", "Control+Space")
        assert tavern.js("globalThis.hacked") is None
    finally:
        tavern.page.unroute_all()
        tavern.page.fill("#send_textarea", "")
        tavern.load()
        tavern.open("Seraphina")
