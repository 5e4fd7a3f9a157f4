"""The page of connections: making, testing, changing and forgetting them, and how they are."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.dashboard.conftest import OpenDashboard
from tests.support.dashboard import PHONE, Dashboard
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import status
from tests.support.service import Service


@pytest.fixture(scope="module")
def service_settings() -> dict[str, Any]:
    return {"retry_attempts": 1, "breaker_cooldown_s": 3600}


@pytest.fixture
def local(service: Service, model: FakeModel) -> Iterator[str]:
    """A connection to the scripted model."""
    fields = {"provider": "openai", "base_url": model.base_url, "model": "fake-small", "api_key": "sesame"}
    assert service.put("/connections/local", fields).status_code == 200
    yield "local"
    service.http.delete("/v1/connections/local")
    service.patch("/settings", {"connection": None})


def card(dashboard: Dashboard, name: str) -> Locator:
    """The card of a connection."""
    return dashboard.page.get_by_role("listitem", name=name, exact=True)


def test_what_is_always_there(dashboard: Dashboard) -> None:
    """The built-in summarizer can be tested, and not changed or forgotten."""
    dashboard.open("connections")
    built_in = card(dashboard, "extractive")
    built_in.get_by_role("button", name="Test extractive").click()
    expect(built_in).to_contain_text("It answered in")
    expect(built_in.get_by_role("button", name="Change extractive")).to_have_count(0)
    expect(built_in.get_by_role("button", name="Forget extractive")).to_have_count(0)


def test_a_connection_is_made(dashboard: Dashboard, model: FakeModel) -> None:
    """What the form is given is what the server has; the key goes in and is not shown."""
    page = dashboard.open("connections")
    dashboard.button("Add a connection").click()
    form = page.get_by_role("dialog", name="Add a connection")
    form.get_by_label("Name").fill("my model")
    form.get_by_label("Address").fill(model.base_url)
    form.get_by_label("Model", exact=True).fill("fake-large")
    form.get_by_label("Key").fill("sk-secret")
    form.get_by_text("More", exact=True).click()
    form.get_by_label("Window").fill("16384")
    form.get_by_label("Extra fields").fill('{"id_slot": 1}')
    form.get_by_role("button", name="Save").click()
    expect(card(dashboard, "my model")).to_contain_text("stored, never shown")
    stored = dashboard.service.get("/connections/my%20model").json()
    assert (stored["model"], stored["has_api_key"], stored["context_size"]) == ("fake-large", True, 16384)
    assert stored["extra_body"] == {"id_slot": 1}
    dashboard.service.http.delete("/v1/connections/my%20model")


def test_a_form_says_what_is_wrong_and_keeps_what_was_written(dashboard: Dashboard) -> None:
    """A refusal stands beside its field; nothing of the form is lost."""
    dashboard.expect_errors("422")
    page = dashboard.open("connections")
    dashboard.button("Add a connection").click()
    form = page.get_by_role("dialog", name="Add a connection")
    form.get_by_label("Name").fill("far")
    form.get_by_label("Address").fill("http://127.0.0.1:1/v1")
    form.get_by_text("More", exact=True).click()
    form.get_by_label("Window").fill("7")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_label("Window")).to_have_attribute("aria-invalid", "true")
    expect(form.get_by_label("Address")).to_have_value("http://127.0.0.1:1/v1")
    form.get_by_label("Window").fill("")
    form.get_by_label("Extra fields").fill("{no json")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_contain_text("JSON")
    form.get_by_role("button", name="Cancel").click()
    expect(form).to_have_count(0)
    expect(dashboard.button("Add a connection")).to_be_focused()


def test_a_change_keeps_the_key(dashboard: Dashboard, local: str) -> None:
    """Other fields change without the key being written again, and it can be forgotten."""
    page = dashboard.open("connections")
    card(dashboard, local).get_by_role("button", name="Change local").click()
    form = page.get_by_role("dialog", name="Change local")
    form.get_by_label("Model", exact=True).fill("fake-large")
    form.get_by_role("button", name="Save").click()
    expect(card(dashboard, local)).to_contain_text("fake-large")
    assert dashboard.service.get("/connections/local").json()["has_api_key"]
    card(dashboard, local).get_by_role("button", name="Change local").click()
    form.get_by_label("Forget the stored key").check()
    form.get_by_role("button", name="Save").click()
    expect(card(dashboard, local)).not_to_contain_text("stored, never shown")


def test_a_model_is_chosen_from_the_servers_list(dashboard: Dashboard, local: str) -> None:
    """The server's models are listed; one click asks another one from now on."""
    dashboard.open("connections")
    mine = card(dashboard, local)
    mine.get_by_role("button", name="Models of local").click()
    mine.get_by_role("button", name="Ask fake-large").click()
    expect(mine.get_by_role("listitem").filter(has_text="fake-large")).to_contain_text("asked")
    found = dashboard.service.get("/connections/local").json()
    assert (found["model"], found["has_api_key"]) == ("fake-large", True)


def test_a_test_that_fails_says_why(dashboard: Dashboard, local: str, model: FakeModel) -> None:
    """The server's own words are shown, as text."""
    model.do(status(401, body='{"error": {"message": "<b>Wrong</b> key."}}'))
    dashboard.open("connections")
    mine = card(dashboard, local)
    mine.get_by_role("button", name="Test local").click()
    expect(mine).to_contain_text("It did not answer as it should.")
    expect(mine).to_contain_text("its last call failed")
    expect(mine).to_contain_text("401")
    expect(mine.locator("b")).to_have_count(0)


def test_all_chats_use_it(dashboard: Dashboard, local: str) -> None:
    """One click makes it the one that writes for all chats."""
    dashboard.open("connections")
    card(dashboard, local).get_by_role("button", name="Use for all chats: local").click()
    expect(card(dashboard, local)).to_contain_text("writes for all chats")
    assert dashboard.service.get("/settings").json()["connection"] == "local"


def test_it_is_forgotten_when_that_is_meant(dashboard: Dashboard, local: str) -> None:
    """A question comes first; Escape is a no."""
    page = dashboard.open("connections")
    card(dashboard, local).get_by_role("button", name="Forget local").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(card(dashboard, local)).to_be_visible()
    card(dashboard, local).get_by_role("button", name="Forget local").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(card(dashboard, local)).to_have_count(0)


def test_a_connection_that_is_left_alone(dashboard: Dashboard, local: str, model: FakeModel, chat: str) -> None:
    """Its state, its last error and the next try are told; a test that goes well ends it."""
    service = dashboard.service
    service.put(f"/chats/{chat}", {"settings": {"connection": local, "layered": {"verbatim_turns": 2}}})
    service.say(chat, *range(8), fold="none")
    with model.only(status(503)):
        for _ in range(3):
            service.post(f"/chats/{chat}/summarize")
            service.settled(chat)
    dashboard.open("connections")
    mine = card(dashboard, local)
    expect(mine).to_contain_text("left alone for now")
    expect(mine).to_contain_text("The next try is in")
    mine.get_by_role("button", name="Test local").click()
    expect(mine).to_contain_text("is well")


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_it_is_usable_by_all(open_dashboard: OpenDashboard, local: str, colours: str) -> None:
    """On a phone, with the form open too, axe finds nothing wrong and nothing is too wide."""
    dashboard = open_dashboard(viewport=PHONE, color_scheme=colours)
    dashboard.open("connections")
    expect(card(dashboard, local)).to_be_visible()
    assert (dashboard.axe(), dashboard.too_wide()) == ([], [])
    card(dashboard, local).get_by_role("button", name="Change local").click()
    dashboard.page.get_by_text("More", exact=True).click()
    assert (dashboard.axe("dialog"), dashboard.too_wide()) == ([], [])
