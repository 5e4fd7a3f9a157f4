"""The settings of the server and of a chat: changed, followed again, refused, tried."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.conftest import OpenDashboard
from tests.support.dashboard import PHONE, Dashboard
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import answer, status

LAYERED = {"verbatim_turns": 2, "turns_per_batch": 2}


@pytest.fixture
def told(dashboard: Dashboard, chat: str) -> str:
    """A chat with a few folded turns."""
    dashboard.service.put(f"/chats/{chat}", {"title": "The gates", "settings": {"layered": LAYERED}})
    dashboard.service.say(chat, *range(8))
    return chat


def saved(page: Page) -> None:
    """Saves, and waits until it is."""
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("not saved")).to_have_count(0)


def own(dashboard: Dashboard, chat: str) -> Any:
    """The chat's own settings."""
    return dashboard.service.get(f"/chats/{chat}").json()["settings"]


def test_a_chat_gets_values_of_its_own(dashboard: Dashboard, told: str) -> None:
    """What is changed is marked, saved together, and shown as the chat's own."""
    page = dashboard.open("chats", told, "settings")
    page.get_by_role("textbox", name="Turns word for word").fill("4")
    page.get_by_label("An old chat", exact=True).select_option("all")
    page.get_by_label("Leave out what is summarized").uncheck()
    expect(page.get_by_text("3 changes are not saved.")).to_be_visible()
    saved(page)
    found = own(dashboard, told)
    assert (found["on_backlog"], found["ghosting"], found["layered"]["verbatim_turns"]) == ("all", False, 4)


def test_a_value_follows_the_server_again(dashboard: Dashboard, told: str) -> None:
    """One click forgets the chat's own value."""
    page = dashboard.open("chats", told, "settings")
    page.get_by_role("button", name="Follow again: Turns word for word").click()
    expect(page.get_by_role("textbox", name="Turns word for word")).to_have_attribute("placeholder", "10")
    saved(page)
    assert "verbatim_turns" not in own(dashboard, told)["layered"]


def test_what_is_typed_outlives_news_and_a_walk(dashboard: Dashboard, told: str) -> None:
    """Neither a fold nor another page takes what was not saved; discarding does."""
    page = dashboard.open("chats", told, "settings")
    page.get_by_label("Tokens in a snippet").fill("99")
    dashboard.service.say(told, *range(8, 12))
    dashboard.open("chats", told, "memory")
    dashboard.open("chats", told, "settings")
    expect(page.get_by_label("Tokens in a snippet")).to_have_value("99")
    dashboard.button("Discard").click()
    expect(page.get_by_label("Tokens in a snippet")).to_have_value("120")


def test_a_refusal_stands_at_its_setting(dashboard: Dashboard, told: str) -> None:
    """The server says what is wrong; the rest that was typed stays."""
    dashboard.expect_errors("422")
    page = dashboard.open("chats", told, "settings")
    page.get_by_label("Snippets in a layer").fill("1")
    page.get_by_role("textbox", name="Layers", exact=True).fill("4")
    dashboard.button("Save").click()
    expect(page.get_by_label("Snippets in a layer")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("textbox", name="Layers", exact=True)).to_have_value("4")
    dashboard.button("Discard").click()


def test_the_server_gets_new_values(dashboard: Dashboard) -> None:
    """All chats follow what is set on the page of settings, until it is taken back."""
    page = dashboard.open("settings")
    page.get_by_label("Language of the summaries").fill("French")
    saved(page)
    assert dashboard.service.get("/settings").json()["settings"] == {"output_language": "French"}
    page.get_by_role("button", name="Follow again: Language of the summaries").click()
    saved(page)
    assert dashboard.service.get("/settings").json()["settings"] == {}


def test_prompts_are_seen_and_made_ones_own(dashboard: Dashboard, told: str) -> None:
    """A preset's texts are shown; a change to one makes them the chat's own."""
    page = dashboard.open("chats", told, "settings")
    narrative = page.get_by_label("System prompt", exact=True).input_value()
    page.get_by_label("Preset", exact=True).select_option("game_state")
    expect(page.get_by_label("System prompt", exact=True)).not_to_have_value(narrative)
    page.get_by_label("System prompt", exact=True).fill("Tell of {{char}} in one line.")
    saved(page)
    found = own(dashboard, told)["layered"]
    game_state = next(one for one in dashboard.service.get("/presets").json() if one["name"] == "game_state")
    assert (found["preset"], found["merge_prompt"]) == ("custom", game_state["merge_prompt"])
    expect(page.get_by_label("Preset", exact=True)).to_have_value("custom")


def test_a_prompt_is_shown_on_a_real_passage(dashboard: Dashboard, told: str) -> None:
    """What is not saved yet is tried: the rendered prompt holds it and the chat's own words, as text."""
    dashboard.service.post(
        f"/chats/{told}/messages", {"messages": [{"role": "user", "content": "<img src=x onerror=1>"}]}
    )
    page = dashboard.open("chats", told, "settings")
    page.get_by_label("Prompt for turns").fill("SECRET WORD {{story_txt}}")
    dashboard.button("Show the prompt").click()
    expect(page.get_by_label("The rendered prompt", exact=True)).to_contain_text("SECRET WORD")
    expect(page.get_by_label("The rendered prompt", exact=True)).to_contain_text("brass key")
    assert "user_prompt" not in own(dashboard, told)["layered"]
    dashboard.button("Discard").click()


def test_a_trial_run(dashboard: Dashboard, told: str, model: FakeModel) -> None:
    """The model's answer is shown with its cost; a refusal is told; a run can be stopped. Nothing becomes memory."""
    service = dashboard.service
    fields = {"provider": "openai", "base_url": model.base_url, "model": "fake-small"}
    assert service.put("/connections/trial", fields).status_code == 200
    service.patch(f"/chats/{told}", {"settings": {"connection": "trial"}})
    version = service.status(told)["memory_version"]
    page = dashboard.open("chats", told, "settings")
    model.say("Mira asks about <b>gates</b>.")
    dashboard.button("Try it out").click()
    expect(page.get_by_text("Mira asks about <b>gates</b>.")).to_be_visible()
    model.do(answer("I'm sorry, but I can't assist with that, <i>Mira</i>."))
    dashboard.button("Try it out").click()
    expect(page.get_by_label("The refused answer")).to_have_text(
        "I'm sorry, but I can't assist with that, <i>Mira</i>."
    )
    model.do(status(401))
    dashboard.button("Try it out").click()
    expect(page.get_by_text("answered 401")).to_be_visible()
    expect(page.get_by_label("The refused answer")).to_have_count(0)
    model.hold()
    dashboard.button("Try it out").click()
    dashboard.button("Stop").click()
    expect(dashboard.button("Try it out")).to_be_enabled()
    model.release()
    assert service.status(told)["memory_version"] == version


def test_another_kind_of_memory(dashboard: Dashboard, told: str) -> None:
    """The kind is changed after a question, says what changed in the prompt, and has its own settings."""
    page = dashboard.open("chats", told, "settings")
    dashboard.button("Use: Rolling memory").click()
    page.get_by_role("dialog").get_by_role("button", name="Use it").click()
    expect(page.get_by_text("are sent word for word again")).to_be_visible()
    expect(dashboard.section("Rolling memory")).to_be_visible()
    expect(dashboard.section("Layers")).to_have_count(0)
    assert dashboard.service.get(f"/chats/{told}").json()["strategy"] == "rolling"


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_they_are_usable_by_all(open_dashboard: OpenDashboard, told: str, colours: str) -> None:
    """On a phone, with something unsaved and a prompt shown, axe finds nothing wrong and nothing is too wide."""
    dashboard = open_dashboard(viewport=PHONE, color_scheme=colours)
    page = dashboard.open("chats", told, "settings")
    page.get_by_role("textbox", name="Turns word for word").fill("5")
    dashboard.button("Show the prompt").click()
    expect(page.get_by_label("The rendered prompt", exact=True)).to_be_visible()
    assert (dashboard.axe(), dashboard.too_wide()) == ([], [])
