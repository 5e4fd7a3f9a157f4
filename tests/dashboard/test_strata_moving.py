"""The picture while something moves: the way back from a snippet, the pointer over cells, folds that come fast."""

import re

from playwright.sync_api import Page, expect

from tests.support.dashboard import Dashboard
from tests.support.strata import cell, layered


def asked_for(page: Page) -> list[str]:
    """What the page has read of the server since the last call, by the last part of its address."""
    names: list[str] = page.evaluate(
        "() => { const all = performance.getEntriesByType('resource').map(({ name }) => name);"
        " performance.clearResourceTimings(); return all; }"
    )
    return [name.split("?")[0].rsplit("/", 1)[-1] for name in names]


def test_back_closes_the_snippet(dashboard: Dashboard, chat: str) -> None:
    """The way back leads from any number of snippets to the picture alone, and closing is that way."""
    found = layered(dashboard.service, chat)
    page = dashboard.open("chats", chat)
    panel = dashboard.section("Snippet")
    cell(page, found[0]).click()
    expect(panel.locator(".snippet-text")).to_have_text(found[0]["text"])
    cell(page, found[-1]).click()
    expect(panel.locator(".snippet-text")).to_have_text(found[-1]["text"])
    page.go_back()
    expect(panel).to_have_count(0)
    expect(page).to_have_url(re.compile(rf"#/chats/{chat}$"))
    entries = page.evaluate("history.length")
    cell(page, found[0]).click()
    panel.get_by_role("button", name="Close the snippet").click()
    expect(panel).to_have_count(0)
    expect(cell(page, found[0])).to_be_focused()
    assert page.evaluate("history.length") == entries


def test_what_comes_under_a_still_pointer_is_not_told_of(dashboard: Dashboard, chat: str) -> None:
    """Only a pointer that moves asks for the tip, which covers no name and no row; a key takes it away."""
    found = layered(dashboard.service, chat)
    page = dashboard.open("chats", chat)
    tip = page.locator(".strata-tip")
    cell(page, found[0]).dispatch_event("pointermove", {"pointerType": "mouse", "bubbles": True})
    cell(page, found[-1]).dispatch_event("mouseover", {"bubbles": True})
    page.wait_for_timeout(400)  # longer than a pointer has to rest
    expect(tip).to_have_count(0)
    page.mouse.move(1, 1)  # the first place of a pointer is no movement
    cell(page, found[0]).hover()
    expect(tip).to_be_visible()
    covered = tip.evaluate(
        "tip => { const at = tip.getBoundingClientRect(); return [...document.querySelectorAll('.band:not("
        ".strata-ruler)')].filter((band) => { const one = band.getBoundingClientRect();"
        " return one.top < at.bottom && at.top < one.bottom; }).length; }"
    )
    assert covered == 0
    page.keyboard.press("Shift")
    expect(tip).to_have_count(0)


def test_a_new_name_needs_no_picture(dashboard: Dashboard, chat: str) -> None:
    """A chat that is renamed is read anew, its strata and its growth are not; what is said needs both."""
    layered(dashboard.service, chat)
    page = dashboard.open("chats", chat)
    expect(page.get_by_role("heading", name="Tokens over time")).to_be_visible()
    expect(page.locator(".chart-place")).to_be_visible()
    asked_for(page)
    for title in ("One name", "Another", "A third"):
        dashboard.service.patch(f"/chats/{chat}", {"title": title})
        expect(page.get_by_role("heading", name=title)).to_be_visible()
    read = asked_for(page)
    assert read.count("status") >= 3
    assert max(read.count("strata"), read.count("growth")) <= 1  # one when the news began
    dashboard.service.say(chat, 12)
    expect(page.get_by_text("26 messages in 13 turns")).to_be_visible()
    assert "strata" in asked_for(page)


def test_among_many_cells_none_moves_and_only_the_new_are_drawn(dashboard: Dashboard, chat: str) -> None:
    """A fold beside more than sixty cells adds its own without a movement; lines of a band stand by themselves."""
    layered(dashboard.service, chat, 70, snippets_per_layer=100)
    page = dashboard.open("chats", chat)
    cells = page.locator(".cell.is-snippet")
    expect(cells).to_have_count(68)
    expect(page.locator(".band.depth-0 .band-head span")).to_have_text(["68 snippets", "68 turns"])
    dashboard.service.say(chat, 70)
    expect(cells).to_have_count(69)
    expect(page.locator(".cell.is-arrives")).to_have_count(0)
