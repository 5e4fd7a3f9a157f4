"""The panel's buttons for the open chat: each does what it says."""

from collections.abc import Iterator

import pytest

from tests.support import summaryception as old
from tests.support.fake_model import FakeModel
from tests.support.service import Service
from tests.support.tavern_page import TavernPage
from tests.support.tavern_panel import Panel
from tests.support.tavern_story import open_story, story

QUESTION = "dialog[open] .turnfold-backlog"
OPENED = "() => { globalThis.opened = []; globalThis.open = (...given) => { globalThis.opened.push(given); }; }"


@pytest.fixture
def panel(tavern: TavernPage, turnfold: Service) -> Iterator[Panel]:
    """The panel over an old chat whose question was put off; its turns are folded by a model that waits."""
    with FakeModel(lambda _: "Mira walks on.") as writer:
        writer.hold()
        turnfold.put("/connections/slow", {"provider": "openai", "base_url": writer.base_url, "model": "small-1"})
        turnfold.patch("/settings", {"connection": "slow"})
        open_story(tavern, "old", story(40))
        tavern.page.wait_for_selector(QUESTION)
        tavern.page.keyboard.press("Escape")
        tavern.until("() => !document.querySelector('dialog[open]')")
        yield Panel(tavern)
        writer.release()
        turnfold.settled(tavern.chat_id)
        turnfold.patch("/settings", {"connection": None})


def test_backlog_and_stop(panel: Panel, turnfold: Service) -> None:
    """Backlog asks again what to do; Stop is there while something runs, and ends it."""
    panel.press("Backlog", panel.part("main"))
    panel.tavern.page.click(f"{QUESTION} [data-choice=one]")
    panel.press("Stop", panel.part("main"))
    panel.until(lambda: turnfold.status(panel.tavern.chat_id)["job"] is None)
    panel.part("main").get_by_text("Stop").wait_for(state="hidden")
    assert turnfold.status(panel.tavern.chat_id)["layers"] == []


def test_repair_take_over_and_the_dashboard(panel: Panel, turnfold: Service) -> None:
    """Repair says that all is well, taking over that there is nothing to take, and the dashboard opens in a tab."""
    buttons = panel.section("chat").locator('[data-part="chat-buttons"]')
    panel.press("Repair", buttons)
    panel.tavern.page.locator(".toast-message", has_text="All is well").wait_for()
    panel.press("Take over", buttons)
    panel.tavern.page.locator(".toast-message", has_text="has left no memory in this chat").wait_for()
    panel.tavern.js(OPENED)
    panel.press("Dashboard", panel.section("server"))
    assert panel.tavern.js("globalThis.opened") == [[turnfold.url, "_blank", "noopener"]]


def test_take_over_asks_when_there_is_a_memory(panel: Panel) -> None:
    """Take over in the panel asks about a memory of Summaryception's, also where an answer was given before."""
    _, store = old.short()
    metadata = {"summaryception": store, "turnfold": {"summaryception": "left"}}
    panel.tavern.js("more => Object.assign(SillyTavern.getContext().chatMetadata, more)", metadata)
    panel.press("Take over", panel.section("chat").locator('[data-part="chat-buttons"]'))
    panel.dialog().locator(".turnfold-takeover").wait_for()
    panel.close_dialog()
