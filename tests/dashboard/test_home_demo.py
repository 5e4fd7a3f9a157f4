"""The demo: its story is played into a chat while one watches, or walks about."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.dashboard import Dashboard
from tests.support.fake_model import FakeModel
from tests.support.service import Service

DEMO = "dry-mail-demo"
MESSAGES, TURNS = 325, 163
# Of a part in 60 frames.
HEIGHTS = """async (part) => {
    const seen = new Set();
    for (let frame = 0; frame < 60; frame += 1) {
        await new Promise(requestAnimationFrame);
        seen.add(part.offsetHeight);
    }
    return [...seen];
}"""


@pytest.fixture(autouse=True)
def paid_model(service: Service, model: FakeModel, shared: Dashboard) -> Iterator[None]:
    """The server's own connection is a model, no chat is there, and the page begins anew."""
    shared.page.goto("about:blank")
    for chat in service.get("/chats", params={"limit": 1000}).json()["items"]:
        service.http.delete(f"/v1/chats/{chat['id']}")
    service.put("/connections/default", {"provider": "openai", "base_url": model.base_url, "model": "fake-small"})
    yield
    assert model.calls == []


def begin(dashboard: Dashboard) -> Page:
    """Play the demo; the page is then its Memory page."""
    page = dashboard.open()
    page.get_by_role("button", name="Play the demo").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The Dry Mail")
    return page


def counts(service: Service, chat: str = DEMO) -> Any:
    """The chat's messages by state."""
    return service.get(f"/chats/{chat}").json()["counts"]


def test_the_story_plays_before_ones_eyes(dashboard: Dashboard) -> None:
    """It pauses, goes on and skips to its end; no model is called, no line is lost and the layers fill."""
    page = begin(dashboard)
    strip = dashboard.section("The demo")
    bar = strip.get_by_role("progressbar", name="How far the story is")
    expect(bar).not_to_have_attribute("value", "0")
    pause = strip.get_by_role("button", name="Pause")
    pause.click()
    expect(strip).to_contain_text("Paused")
    expect(strip.get_by_role("button", name="Go on")).to_be_focused()
    assert dashboard.axe("section.demo-strip") == []
    strip.get_by_role("button", name="Go on").click()
    expect(strip).to_contain_text("A story is being played")
    strip.get_by_role("button", name="Skip to the end").click()
    expect(strip).to_contain_text("The story has been played", timeout=20_000)
    expect(bar).to_have_attribute("value", str(TURNS))
    expect(strip.get_by_role("button", name="Play it again")).to_be_focused()
    told = dashboard.service.status(DEMO)
    assert (told["counts"]["messages"], told["counts"]["turns"]) == (MESSAGES, TURNS)
    assert (told["job"], len(told["layers"])) == (None, 3)
    strip.get_by_role("button", name="Play it again").click()
    expect(strip).to_contain_text("A story is being played")
    strip.get_by_role("button", name="Stop").click()
    strip.get_by_role("button", name="Close").click()
    expect(strip.get_by_role("button", name="Close")).to_have_count(0)
    expect(page.get_by_role("main")).to_be_focused()
    ids = sorted(chat["id"] for chat in dashboard.service.get("/chats").json()["items"])
    assert (ids[0], len(ids)) == (DEMO, 2)
    assert counts(dashboard.service)["messages"] == MESSAGES


def test_nothing_jumps_while_it_plays(dashboard: Dashboard) -> None:
    """The strip of the memory is as high with a job as without, and leaves the buttons to the story's."""
    page = begin(dashboard)
    state, story = dashboard.section("State of the memory"), dashboard.section("The demo")
    expect(state).to_contain_text("Folding")
    heights = state.evaluate(HEIGHTS)
    assert len(heights) == 1
    for name in ("Stop", "Pause"):
        expect(state.get_by_role("button", name=name)).to_have_count(0)
        expect(story.get_by_role("button", name=f"{name} the story", exact=True)).to_be_visible()
    story.get_by_role("button", name="Stop the story").click()
    expect(state.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_role("button", name="Close")).to_be_visible()


def test_it_goes_on_as_one_walks_about(dashboard: Dashboard) -> None:
    """It plays on other pages too, is seen on the home page, and stops after whole turns; then it can go on."""
    page = begin(dashboard)
    page.get_by_role("link", name="Connections").click()
    expect(page).to_have_title("Connections · Turnfold")
    before = counts(dashboard.service)["turns"]
    page.get_by_role("link", name="Chats").click()
    strip = dashboard.section("The demo")
    expect(strip).to_contain_text("A story is being played")
    strip.get_by_role("button", name="Stop").click()
    expect(strip).to_have_count(0)
    page.get_by_role("link", name="The Dry Mail").click()
    expect(strip).to_contain_text("Stopped")
    stopped = counts(dashboard.service)
    assert before <= stopped["turns"] < TURNS
    assert stopped["messages"] == 2 * stopped["turns"] - 1
    page.reload()
    expect(strip).to_contain_text(f"played to turn {stopped['turns']} of {TURNS}")
    strip.get_by_role("button", name="Go on").click()
    expect(strip.get_by_role("button", name="Pause")).to_be_visible()
    strip.get_by_role("button", name="Stop").click()
    expect(strip).to_contain_text("Stopped")


def test_a_second_click_opens_the_one_there_is(dashboard: Dashboard) -> None:
    """The demo is made once."""
    page = begin(dashboard)
    strip = dashboard.section("The demo")
    strip.get_by_role("button", name="Stop").click()
    page.get_by_role("link", name="Chats").click()
    dashboard.button("Play the demo").click()
    expect(page.get_by_text("The demo is there already.")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("The Dry Mail")
    assert len(dashboard.service.get("/chats").json()["items"]) == 1


def test_deleted_while_it_plays_it_stays_deleted(dashboard: Dashboard) -> None:
    """Deleting the demo's chat ends the play."""
    dashboard.expect_errors("status of 404")
    page = begin(dashboard)
    strip = dashboard.section("The demo")
    expect(strip.get_by_role("progressbar")).not_to_have_attribute("value", "0")
    page.get_by_role("link", name="Chats").click()
    dashboard.service.http.delete(f"/v1/chats/{DEMO}")
    expect(page.get_by_role("heading", level=1)).to_have_text("A long chat, remembered")
    expect(strip).to_have_count(0)
    assert dashboard.service.get("/chats").json()["items"] == []


def test_a_server_that_fails_is_tried_again(dashboard: Dashboard) -> None:
    """What an append failed with is told; trying again goes on where it was."""
    dashboard.expect_errors("status of 503")
    problem = {"code": "internal", "detail": "The database is busy.", "title": "", "status": 503}
    page = begin(dashboard)
    page.route(f"**/v1/chats/{DEMO}/messages", lambda route: route.fulfill(status=503, json=problem))
    strip = dashboard.section("The demo")
    expect(strip).to_contain_text("The story stopped here")
    expect(strip).to_contain_text("The database is busy.")
    page.unroute(f"**/v1/chats/{DEMO}/messages")
    strip.get_by_role("button", name="Try again").click()
    expect(strip).to_contain_text("A story is being played")
    strip.get_by_role("button", name="Stop").click()
    expect(strip).to_contain_text("Stopped")
