"""The picture of a memory: its cells, the way of the keys, and what it says of chats without a memory yet."""

import re

import pytest
from playwright.sync_api import expect

from tests.dashboard.conftest import OpenDashboard
from tests.support.dashboard import PHONE, Dashboard
from tests.support.fake_model import FakeModel
from tests.support.service import Service
from tests.support.strata import ask, cell, layered, rolling


def test_layers_are_bands_and_snippets_are_cells(dashboard: Dashboard, chat: str) -> None:
    """Each snippet has a button with a full name in its layer's band, and what is word for word lies on top."""
    found = layered(dashboard.service, chat)
    page = dashboard.open("chats", chat)
    bands = page.get_by_role("group", name="Strata of the memory").get_by_role("group")
    expect(bands).to_have_count(1 + len({one["layer"] for one in found}))
    expect(bands.first).to_have_accessible_name("Word for word: 2 turns")
    deepest = found[0]
    expect(cell(page, deepest)).to_have_accessible_name(
        re.compile(rf"^Layer {deepest['layer']}, snippet 1 of \d+, .*, messages #0.*, {deepest['tokens']} tokens$")
    )
    for one in found:
        expect(cell(page, one)).to_be_visible()
    expect(page.get_by_text(f"{len(found)} snippets in")).to_be_visible()


def test_arrow_keys_walk_and_enter_opens(dashboard: Dashboard, chat: str) -> None:
    """The picture is one stop of the Tab key; Enter opens the snippet, Escape closes it and leads back."""
    found = layered(dashboard.service, chat)
    page = dashboard.open("chats", chat)
    expect(page.locator(".strata [tabindex='0']")).to_have_count(1)
    page.locator(".strata [tabindex='0']").focus()
    page.keyboard.press("Control+Home")
    expect(page.get_by_role("link", name=re.compile("^Window"))).to_be_focused()
    page.keyboard.press("Control+End")
    expect(page.locator(".strata [data-key]").last).to_be_focused()
    page.keyboard.press("Home")
    expect(cell(page, found[0])).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=f"Layer {found[0]['layer']} snippet")).to_be_focused()
    expect(page).to_have_url(re.compile(f"snippet={found[0]['id']}"))
    page.keyboard.press("Escape")
    expect(page.get_by_role("region", name="Snippet")).to_have_count(0)
    expect(cell(page, found[0])).to_be_focused()
    expect(page).not_to_have_url(re.compile("snippet="))


def test_a_cell_tells_of_itself_when_pointed_at(dashboard: Dashboard, chat: str) -> None:
    """Hover and focus show a tip, which stays while it is pointed at itself and goes with Escape."""
    found = layered(dashboard.service, chat)
    page = dashboard.open("chats", chat)
    page.mouse.move(1, 1)  # the first place of a pointer is no movement
    cell(page, found[0]).hover()
    tip = page.locator(".strata-tip")
    expect(tip).to_contain_text(f"Layer {found[0]['layer']}, snippet 1")
    tip.hover()
    expect(tip).to_be_visible()
    page.mouse.move(0, 0)
    expect(tip).to_have_count(0)
    cell(page, found[-1]).focus()
    expect(tip).to_contain_text(f"Layer {found[-1]['layer']}, snippet")
    page.keyboard.press("Escape")
    expect(tip).to_have_count(0)


def test_stretches_lead_to_their_messages(dashboard: Dashboard, chat: str) -> None:
    """The window and whatever else is not folded are links to the place among the messages."""
    layered(dashboard.service, chat)
    page = dashboard.open("chats", chat)
    page.get_by_role("link", name=re.compile("^Window")).click()
    expect(page).to_have_url(re.compile(rf"#/chats/{chat}/messages\?at=20$"))


def test_marks_are_said_and_drawn(dashboard: Dashboard, chat: str) -> None:
    """Pinned, hidden, omitted, edited and stale are in the names, in signs, and in the legend."""
    service = dashboard.service
    found = layered(service, chat)
    service.post(f"/chats/{chat}/pause")
    service.patch(f"/chats/{chat}/messages/u1", {"pinned": True})
    service.patch(f"/chats/{chat}/messages/a22", {"hidden": True})
    service.patch(f"/chats/{chat}/snippets/{found[-1]['id']}", {"text": "Tom opened a gate."})
    under = service.get(f"/chats/{chat}/snippets/{found[-2]['id']}/messages").json()["items"]
    service.patch(f"/chats/{chat}/messages/{under[0]['id']}", {"content": "Something else."})
    page = dashboard.open("chats", chat)
    expect(cell(page, found[-1])).to_have_accessible_name(re.compile("edited$"))
    expect(cell(page, found[-2])).to_have_accessible_name(re.compile("stale$"))
    expect(page.get_by_role("link", name=re.compile("^Pinned, .*messages #2"))).to_be_visible()
    expect(cell(page, found[-2]).locator(".sign")).to_have_count(1)
    page.get_by_text("How to read this picture").click()
    legend = page.locator(".strata-legend dt")
    expect(legend).to_contain_text(["Window", "Pinned", "Stale", "Edited"])


def test_of_a_long_layer_the_newest_are_shown(dashboard: Dashboard, chat: str) -> None:
    """A layer that holds very many snippets shows the newest, and the older ones on asking."""
    found = layered(dashboard.service, chat, 104, snippets_per_layer=200)
    page = dashboard.open("chats", chat)
    expect(page.locator(".cell.is-snippet")).to_have_count(100)
    dashboard.button("Show 2 older ones").click()
    expect(page.locator(".cell.is-snippet")).to_have_count(102)
    expect(cell(page, found[0])).to_be_visible()


def test_a_new_snippet_comes_by_itself(dashboard: Dashboard, chat: str) -> None:
    """What folds while somebody looks is drawn, softly, and the focus stays where it is."""
    service = dashboard.service
    layered(service, chat, 3)
    page = dashboard.open("chats", chat)
    expect(page.locator(".cell.is-snippet")).to_have_count(1)
    page.get_by_role("link", name=re.compile("^Window")).focus()
    service.say(chat, 3)
    expect(page.locator(".cell.is-snippet")).to_have_count(2)
    expect(page.locator(".cell.is-arrives")).to_have_count(1)
    expect(page.locator(".strata [tabindex='0']")).to_be_focused()


def test_a_fold_is_seen_at_work(dashboard: Dashboard, chat: str, model: FakeModel) -> None:
    """While the model writes, the turns that it writes of are marked; then they are a snippet."""
    service = dashboard.service
    layered(service, chat, 2)
    ask(service, chat, model)
    model.hold()
    service.say(chat, 2, fold="background")
    page = dashboard.open("chats", chat)
    work = page.get_by_role("link", name=re.compile("^Waits to fold, .*at work$"))
    expect(work).to_be_visible()
    expect(page.get_by_text("A fold is at work.")).to_be_visible()
    model.release()
    expect(work).to_have_count(0)
    expect(page.locator(".cell.is-snippet")).to_have_count(1)


def _short(service: Service, chat: str) -> None:
    service.say(chat, *range(4))


def _unremembered(service: Service, chat: str) -> None:
    service.put(f"/chats/{chat}", {"strategy": "none"})
    service.say(chat, *range(4))


def _empty(service: Service, chat: str) -> None:
    service.put(f"/chats/{chat}", {})


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (_empty, "No messages yet"),
        (_short, "the first fold comes when 9 more turns are there"),
        (_unremembered, "This chat has no memory"),
    ],
)
def test_a_chat_without_snippets_says_what_will_be(dashboard: Dashboard, chat: str, make: object, says: str) -> None:
    """An empty chat, a short one and one without a memory say so, and when something folds."""
    assert callable(make)
    make(dashboard.service, chat)
    dashboard.open("chats", chat)
    expect(dashboard.section("Strata").get_by_text(says)).to_be_visible()


def test_one_summary_is_one_cell(dashboard: Dashboard, chat: str) -> None:
    """Rolling memory is drawn as its summary and the turns after it, with the number of those before it."""
    found = rolling(dashboard.service, chat)
    page = dashboard.open("chats", chat)
    expect(cell(page, found[-1])).to_have_accessible_name(re.compile("^Summary, 6 turns"))
    expect(page.get_by_text(f"It went on from {len(found) - 1} summaries.")).to_be_visible()
    expect(dashboard.button("Write a snippet")).to_have_count(0)


def test_the_focus_stays_in_the_picture_when_its_cell_goes(dashboard: Dashboard, chat: str) -> None:
    """A snippet that somebody else deletes takes no focus with it."""
    found = layered(dashboard.service, chat)
    page = dashboard.open("chats", chat)
    cell(page, found[-1]).focus()
    dashboard.service.http.delete(f"/v1/chats/{chat}/snippets/{found[-1]['id']}")
    expect(cell(page, found[-1])).to_have_count(0)
    expect(cell(page, found[-2])).to_be_visible()
    expect(page.locator(".strata [tabindex='0']")).to_be_focused()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_the_picture_is_usable_by_all(open_dashboard: OpenDashboard, chat: str, colours: str) -> None:
    """On a phone, with a snippet open, axe finds nothing wrong and nothing has to be scrolled sideways."""
    dashboard = open_dashboard(viewport=PHONE, color_scheme=colours)
    found = layered(dashboard.service, chat, 20)
    page = dashboard.open("chats", chat, snippet=found[0]["id"])
    expect(page.get_by_role("region", name="Snippet")).to_contain_text(found[0]["text"])
    page.get_by_text("How to read this picture").click()
    assert dashboard.axe("#strata") == []
    assert dashboard.too_wide() == []
