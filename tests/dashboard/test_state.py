"""The strip on top of a chat's pages: what its memory does, its switches, and the question about a backlog."""

from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.dashboard.conftest import OpenDashboard
from tests.support.dashboard import PHONE, Dashboard
from tests.support.fake_model import FakeModel


@pytest.fixture(scope="module")
def service_settings() -> dict[str, Any]:
    return {"retry_attempts": 1, "breaker_cooldown_s": 30}


def strip(dashboard: Dashboard) -> Locator:
    """The part that is on top of every page of a chat."""
    return dashboard.section("State of the memory")


def test_a_chat_on_which_nothing_is_amiss(dashboard: Dashboard, chat: str) -> None:
    """One line says when the next fold comes, and who wonders is told what it waits for; new turns change both."""
    dashboard.service.say(chat, *range(13))
    page = dashboard.open("chats", chat, "care")
    expect(strip(dashboard)).to_contain_text("Everything is folded; 3 more turns until the next fold.")
    page.get_by_text("Why does it not fold?").click()
    expect(strip(dashboard)).to_contain_text("The newest 10 turns always stay word for word.")
    dashboard.service.say(chat, 13)
    expect(strip(dashboard)).to_contain_text("2 more turns until the next fold.")
    expect(strip(dashboard)).to_contain_text("when 3 turns lie outside: 2 to go")


def test_a_pause(dashboard: Dashboard, chat: str) -> None:
    """Pause holds up folding and says so, Resume ends that; the button keeps the focus."""
    dashboard.service.say(chat, *range(11))
    dashboard.open("chats", chat, "care")
    dashboard.button("Pause").click()
    expect(strip(dashboard)).to_contain_text("Paused: nothing folds by itself. 1 turn waits.")
    expect(dashboard.button("Resume")).to_be_focused()
    assert dashboard.service.status(chat)["paused"]
    dashboard.button("Resume").click()
    expect(dashboard.button("Pause")).to_be_visible()
    assert not dashboard.service.status(chat)["paused"]


def test_summarize_now(dashboard: Dashboard, chat: str) -> None:
    """What lies outside the window folds at once; where nothing does, that is said."""
    dashboard.service.say(chat, *range(12))
    page = dashboard.open("chats", chat, "care")
    dashboard.button("Summarize now").click()
    expect(strip(dashboard)).to_contain_text("Everything is folded; 3 more turns")
    assert dashboard.service.settled(chat)["counts"]["ghosted"] == 4
    dashboard.button("Summarize now").click()
    expect(page.get_by_role("log")).to_contain_text("No turn outside the window waits to be folded.")


def test_a_backlog_is_folded_and_stopped(dashboard: Dashboard, model: FakeModel, local: str) -> None:
    """The question tells what each choice takes; while it folds the strip says how far it is, and Stop ends it."""
    dashboard.service.say(local, *range(40), fold="none")
    dashboard.open("chats", local)
    question = dashboard.section("An old chat: how shall it fold?")
    expect(question).to_contain_text("30 turns before the newest ones have no summary yet")
    expect(question).to_contain_text("By fake-small, connection local.")
    expect(question.get_by_text("Calls").locator("..").first).to_contain_text("about 10")
    model.hold()
    question.get_by_role("button", name="Fold everything").click()
    bar = strip(dashboard).get_by_role("progressbar", name="Folding the backlog")
    expect(bar).to_be_visible()
    expect(strip(dashboard)).to_contain_text("0 of 10 batches · 0 %")
    dashboard.button("Stop").click()
    expect(dashboard.page.get_by_role("log")).to_contain_text("Stopped. What is folded stays.")
    expect(bar).to_have_count(0)
    expect(dashboard.button("Summarize now")).to_be_focused()
    model.release()
    assert dashboard.service.status(local)["job"] is None


def test_a_job_is_followed(dashboard: Dashboard, local: str) -> None:
    """Batch by batch the strip goes on by itself, and says when all is done."""
    dashboard.service.say(local, *range(19), fold="none")
    dashboard.open("chats", local)
    dashboard.button("Fold everything").click()
    expect(strip(dashboard)).to_contain_text("Everything is folded; 3 more turns")
    assert dashboard.service.status(local)["summarizer_usage"]["calls"] == 3


def test_a_backlog_little_by_little(dashboard: Dashboard, chat: str) -> None:
    """One batch folds now, and one with the next reply; the built-in summarizer costs nothing."""
    dashboard.service.say(chat, *range(40), fold="none")
    dashboard.open("chats", chat)
    question = dashboard.section("An old chat: how shall it fold?")
    expect(question).to_contain_text("no model is called")
    dashboard.button("One batch with each reply").click()
    expect(strip(dashboard)).to_contain_text("27 turns wait to be folded. It goes on with the next message.")
    expect(question).to_have_count(0)
    dashboard.service.say(chat, 40)
    expect(strip(dashboard)).to_contain_text("25 turns wait to be folded.")


def test_a_backlog_is_skipped_and_taken_up(dashboard: Dashboard, chat: str) -> None:
    """Skipped turns stay word for word; the strip says how many, and folds them after all when asked."""
    dashboard.service.say(chat, *range(40), fold="none")
    dashboard.open("chats", chat)
    dashboard.button("Leave it as it is").click()
    expect(strip(dashboard)).to_contain_text("30 turns skipped: word for word, and never folded unasked.")
    expect(dashboard.button("Summarize now")).to_be_focused()
    assert dashboard.service.status(chat)["counts"]["ghosted"] == 0
    dashboard.button("Fold them after all").click()
    expect(strip(dashboard)).not_to_contain_text("skipped")
    assert dashboard.service.settled(chat)["counts"]["ghosted"] == 60


def test_the_question_stands_on_the_memory_page(dashboard: Dashboard, chat: str) -> None:
    """Other pages have one line that leads to it, and no button answers it unasked."""
    dashboard.service.say(chat, *range(40), fold="none")
    dashboard.open("chats", chat, "messages")
    question = dashboard.section("An old chat: how shall it fold?")
    there = strip(dashboard).get_by_role("link", name="30 turns wait for your choice")
    expect(there).to_be_visible()
    expect(question).to_have_count(0)
    expect(dashboard.button("Summarize now")).to_have_count(0)
    there.click()
    expect(question).to_be_visible()
    expect(dashboard.button("Summarize now")).to_have_count(0)


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_the_question_is_usable_by_all(open_dashboard: OpenDashboard, chat: str, colours: str) -> None:
    """On a phone, axe finds nothing wrong with the strip and nothing has to be scrolled sideways."""
    dashboard = open_dashboard(viewport=PHONE, color_scheme=colours)
    dashboard.service.say(chat, *range(40), fold="none")
    page = dashboard.open("chats", chat)
    expect(dashboard.button("Fold everything")).to_be_visible()
    expect(page.get_by_text("no calls · for nothing · moments").first).to_be_visible()
    assert strip(dashboard).evaluate("strip => strip.offsetHeight") < PHONE["height"]
    assert dashboard.axe(".state") == []
    assert dashboard.too_wide() == []
