"""The turn inspector: the prompt as it would be sent, and what is left out of it."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.conftest import OpenDashboard
from tests.support.dashboard import PHONE, Dashboard
from tests.support.service import Service

# What is in the clipboard once it is another text than before.
CLIPBOARD = """async () => {
    for (let tries = 0; tries < 500; tries += 1) {
        const text = await navigator.clipboard.readText();
        if (text !== 'nothing') return text;
        await new Promise((done) => setTimeout(done, 20));
    }
    return '';
}"""
FOLDS = {"on_backlog": "all", "layered": {"verbatim_turns": 2}}


def seeded(service: Service, chat: str, turns: int = 8, **fields: Any) -> dict[str, Any]:
    """A chat whose older turns are folded."""
    service.put(f"/chats/{chat}", {"user_name": "Mira", "character_name": "Tom", "settings": FOLDS, **fields})
    service.say(chat, *range(turns))
    return service.settled(chat)


def pieces(page: Page) -> list[str]:
    """The prompt's rows in order: each part, and `gap`."""
    expect(page.locator(".prompt > li").first).to_be_visible()
    found: list[str] = page.locator(".prompt > li").evaluate_all(
        "rows => rows.map((row) => row.classList[0] === 'piece' ? row.classList[1] : row.classList[0])"
    )
    return found


def more(page: Page, chat: str) -> None:
    """Opens the rarer options of this chat's prompt."""
    expect(page.locator(f"nav.tabs a[href*='{chat}/prompt']")).to_be_visible()
    page.get_by_text("More", exact=True).click()


def copied(dashboard: Dashboard, button: str) -> str:
    """What a button copies."""
    dashboard.page.evaluate("navigator.clipboard.writeText('nothing')")
    dashboard.button(button).click()
    text: str = dashboard.page.evaluate(CLIPBOARD)
    return text


def test_the_prompt_stands_in_its_order(dashboard: Dashboard, chat: str) -> None:
    """Memory, the gap that it stands for, pinned messages between gaps, then the turns; hostile text is text."""
    seeded(dashboard.service, chat)
    dashboard.service.patch(f"/chats/{chat}/messages/u1", {"pinned": True})
    dashboard.service.patch(f"/chats/{chat}/messages/a7", {"content": "<img src=x onerror=alert(1)> \u202efin"})
    page = dashboard.open("chats", chat, "prompt")
    assert pieces(page) == ["system", "memory", "gap", "pinned", "gap", "history", "history", "history", "history"]
    gap = page.locator(".gap").last
    expect(gap).to_contain_text("9 messages: told by a snippet")
    expect(page.locator(".piece").last).to_contain_text("<img src=x onerror=alert(1)>")
    expect(page.locator(".piece.pinned").get_by_role("link", name="#2", exact=True)).to_have_attribute(
        "href", f"#/chats/{chat}/messages?at=2"
    )
    expect(page.locator(".piece.memory").get_by_role("link", name="See its layers")).to_be_visible()


def test_the_budget_is_drawn_with_its_figures(dashboard: Dashboard, chat: str) -> None:
    """Each part's tokens, what is free, what a cache keeps; turns that are left out are a gap and a warning."""
    dashboard.service.put(f"/chats/{chat}", {"strategy": "none"})
    dashboard.service.say(chat, *range(20), fold="none")
    page = dashboard.open("chats", chat, "prompt", context_size=500, max_tokens=100)
    expect(dashboard.section("Budget")).to_contain_text("of 400 tokens")
    expect(page.get_by_role("img", name=re.compile(r"The prompt takes \d+ of 400 tokens"))).to_be_visible()
    expect(page.locator(".gap")).to_contain_text("trimmed")
    expect(page.get_by_text("uncovered_turns_dropped")).to_be_visible()
    expect(dashboard.section("Budget")).to_contain_text("A prompt cache can keep the first")
    page.get_by_label("Context size").fill("8192")
    expect(dashboard.section("Budget")).to_contain_text("of 8,092 tokens")
    expect(page.locator(".gap")).to_have_count(0)
    page.get_by_label("Context size").fill("50")
    expect(page.get_by_role("alert")).to_contain_text("max_tokens")
    dashboard.expect_errors("422")
    dashboard.button("As it is by default").click()
    expect(page).to_have_url(re.compile(r"/prompt$"))
    expect(page.get_by_label("Context size")).to_have_value("")


def test_options_live_in_the_address(dashboard: Dashboard, chat: str) -> None:
    """A view's options hold, a field says otherwise; what is typed follows without a button."""
    seeded(dashboard.service, chat)
    dashboard.service.put(
        f"/chats/{chat}/views/reply", {"system_prompt": "Speak as Tom.", "context_size": 4096, "max_tokens": 96}
    )
    page = dashboard.open("chats", chat, "prompt")
    page.get_by_label("View").select_option("reply")
    expect(page.locator(".piece.system")).to_contain_text("Speak as Tom.")
    expect(dashboard.section("Budget")).to_contain_text("of 4,000 tokens")
    more(page, chat)
    expect(page.get_by_text("asking with more would move the view’s window on")).to_be_visible()
    page.get_by_label("System prompt").fill("Speak as Mira.")
    expect(page.locator(".piece.system")).to_contain_text("Speak as Mira.")
    expect(page).to_have_url(re.compile("view=reply&system_prompt=Speak"))
    page.get_by_label("Memory placement").select_option("in_chat:4")
    expect(page.locator(".piece.memory ~ .piece")).to_have_count(4)
    page.get_by_label("Names").select_option("prefix")
    expect(page.locator(".piece.history").first).to_contain_text("Mira: ")


def test_a_line_that_is_typed_stands_at_the_end(dashboard: Dashboard, chat: str) -> None:
    """It is not stored; where asking with it could change something there is no field for it."""
    seeded(dashboard.service, chat)
    page = dashboard.open("chats", chat, "prompt")
    more(page, chat)
    page.get_by_label("Being typed").fill("And the bridge?")
    expect(page.locator(".prompt > li").last).to_contain_text("And the bridge?")
    assert pieces(page)[-1] == "current"
    assert dashboard.service.status(chat)["counts"]["messages"] == 16
    dashboard.service.put(f"/chats/{chat}", {"strategy": "summary_buffer"})
    expect(page.get_by_text("Of a summary buffer this page shows what is stored")).to_be_visible()
    expect(page.get_by_label("Being typed")).to_have_count(0)


def test_as_another_strategy_would_send_it(dashboard: Dashboard, chat: str) -> None:
    """The whole history, without a memory; the chat stays as it is."""
    seeded(dashboard.service, chat)
    page = dashboard.open("chats", chat, "prompt")
    page.get_by_label("Strategy").select_option("none")
    expect(page.locator(".piece.memory")).to_have_count(0)
    expect(page.locator(".piece")).to_have_count(16)
    assert dashboard.service.status(chat)["strategy"] == "layered"


@pytest.mark.parametrize("shape", ["anthropic", "text"])
def test_the_shape_as_it_is_sent(dashboard: Dashboard, chat: str, shape: str) -> None:
    """Beside the pieces stand the fields of the call; both can be copied whole."""
    seeded(dashboard.service, chat)
    page = dashboard.open("chats", chat, "prompt", system_prompt="You are Tom.")
    expect(page.get_by_label("Format")).to_be_visible()  # something of it is set
    page.get_by_label("Format").select_option(shape)
    sent = page.get_by_label("The prompt as it is sent")
    expect(sent).to_contain_text('"system": "You are Tom.' if shape == "anthropic" else "Tom: Tom opens gate 7")
    assert list(json.loads(copied(dashboard, "Copy as JSON"))) == (
        ["system", "messages"] if shape == "anthropic" else ["text"]
    )


def test_thousands_of_messages_are_shown_by_their_ends(dashboard: Dashboard, chat: str) -> None:
    """Fifty at each end, more on asking; the whole is copied as text. A long message shows its beginning."""
    dashboard.service.put(f"/chats/{chat}", {"strategy": "none"})
    said = [{"role": "user", "content": f"Line {n}\n" * (30 if n == 0 else 1)} for n in range(700)]
    dashboard.service.post(f"/chats/{chat}/messages", {"messages": said, "fold": "none"})
    page = dashboard.open("chats", chat, "prompt")
    expect(page.locator(".piece")).to_have_count(100)
    expect(page.locator(".rest")).to_contain_text("600 more rows")
    dashboard.button("Show the next 50").click()
    expect(page.locator(".piece")).to_have_count(150)
    dashboard.button("Show the last 50 of them").click()
    expect(page.locator(".piece")).to_have_count(200)
    assert copied(dashboard, "Copy as text").count("Line ") == 729
    page.get_by_role("button", name="Show all 210 characters").click()
    expect(page.locator(".piece").first).to_contain_text("Line 0\n" * 30)


def test_news_bring_what_is_new_and_take_no_typing(dashboard: Dashboard, chat: str) -> None:
    """A message that comes in stands in the prompt; what is being typed and has the focus stays."""
    seeded(dashboard.service, chat)
    page = dashboard.open("chats", chat, "prompt")
    more(page, chat)
    field = page.get_by_label("System prompt")
    field.press_sequentially("You are")
    dashboard.service.say(chat, 8, fold="none")
    expect(page.get_by_text("Tom opens gate 8")).to_be_visible()
    expect(field).to_be_focused()
    field.press_sequentially(" Tom.")
    expect(field).to_have_value("You are Tom.")
    expect(page.locator(".piece.system")).to_contain_text("You are Tom.")


def test_on_a_phone_the_prompt_is_not_far_down(open_dashboard: OpenDashboard, service: Service, chat: str) -> None:
    """Three choices stand before the budget and the prompt; the others wait behind one line."""
    seeded(service, chat)
    page = open_dashboard(viewport=PHONE).open("chats", chat, "prompt")
    budget = page.get_by_role("heading", name="Budget")
    expect(budget).to_be_visible()
    for label in ("View", "Strategy", "Context size"):
        expect(page.get_by_label(label, exact=True)).to_be_visible()
    expect(page.get_by_label("Names")).to_be_hidden()
    start = page.get_by_role("heading", name="Prompt", exact=True).bounding_box()
    assert start is not None
    assert start["y"] < 1800


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_the_prompt_is_usable_by_all(open_dashboard: OpenDashboard, service: Service, chat: str, colours: str) -> None:
    """On a phone, axe finds nothing wrong and nothing has to be scrolled sideways."""
    seeded(service, chat)
    dashboard = open_dashboard(viewport=PHONE, color_scheme=colours)
    page = dashboard.open("chats", chat, "prompt", format="anthropic", system_prompt="x" * 300, context_size=4096)
    expect(page.get_by_label("The prompt as it is sent")).to_contain_text("messages")
    assert dashboard.axe() == []
    assert dashboard.too_wide() == []
