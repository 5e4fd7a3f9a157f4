"""The figures of a chat: its layers, its tokens over time, what its summaries have cost."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.conftest import OpenDashboard
from tests.support.dashboard import PHONE, WIDE, Dashboard
from tests.support.fake_model import FakeModel

SMALL = {"layered": {"verbatim_turns": 2, "turns_per_batch": 2, "snippets_per_layer": 3, "snippets_per_promotion": 2}}
DRAWN = (
    "canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte > 0)"
)
PIXEL = "canvas => canvas.toDataURL()"


def folded(dashboard: Dashboard, chat: str, turns: int = 24, **settings: Any) -> Page:
    """The memory of a chat with small layers."""
    dashboard.service.put(f"/chats/{chat}", {"settings": {**SMALL, **settings}})
    dashboard.service.say(chat, *range(turns))
    return dashboard.open("chats", chat)


def rows(dashboard: Dashboard) -> list[list[str]]:
    """The table of layers as it stands."""
    lines = dashboard.section("Layers").get_by_role("group", name="Layers of memory").get_by_role("row")
    return [line.get_by_role("cell").or_(line.get_by_role("rowheader")).all_inner_texts() for line in lines.all()[1:]]


def test_layers_as_a_table(dashboard: Dashboard, chat: str) -> None:
    """Each layer with its snippets, the turns in each and in all, its tokens; what is word for word; the sum."""
    folded(dashboard, chat)
    section = dashboard.section("Layers")
    expect(section.get_by_role("rowheader", name="Word for word")).to_be_visible()
    expect(section.get_by_role("row", name="Word for word")).not_to_contain_text("0")
    found, status = rows(dashboard), dashboard.service.status(chat)
    for row, layer in zip(found, reversed(status["layers"]), strict=False):
        assert row[:2] == [str(layer["layer"]), f"{layer['snippets']} of 3"]
        assert [row[3], row[4]] == [str(layer["turns"]), str(layer["tokens"])]
    assert found[-2][0].strip() == "Word for word"
    assert [found[-1][1], found[-1][3]] == [str(sum(layer["snippets"] for layer in status["layers"])), "24"]


def test_what_full_layers_hold(dashboard: Dashboard, chat: str) -> None:
    """With this chat's settings: turns in a snippet of each layer, in a full layer, and in all of them."""
    page = folded(dashboard, chat, turns=1)
    page.get_by_text("What full layers hold with these settings").click()
    table = page.get_by_role("group", name="Full layers")
    expect(table.get_by_role("row")).to_have_text(
        ["LayerSnippetsTurns in eachTurns", "0326", "13412", "23824", "331648", "433296", "Together15186"]
    )


def test_one_summary_and_none(dashboard: Dashboard, chat: str) -> None:
    """A chat with rolling memory has one summary in the table; one without memory has no table."""
    dashboard.service.put(f"/chats/{chat}", {"strategy": "rolling"})
    dashboard.open("chats", chat)
    expect(dashboard.section("Layers")).to_contain_text("one summary, written anew")
    dashboard.service.patch(f"/chats/{chat}", {"strategy": "none"})
    expect(dashboard.section("Layers")).to_have_count(0)
    expect(dashboard.section("Costs")).to_be_visible()


def test_tokens_over_time(dashboard: Dashboard, chat: str) -> None:
    """The curve is drawn, its values are told where the pointer is, and a table has them too."""
    page = folded(dashboard, chat)
    section = dashboard.section("Tokens over time")
    canvas = section.locator("canvas")
    expect(canvas).to_be_visible()
    assert canvas.evaluate(DRAWN)
    expect(section.get_by_role("img")).to_have_accessible_name(f"24 turns: {said(dashboard, chat)}")
    expect(section.locator("figcaption")).to_contain_text("24 turns")
    section.locator(".u-over").hover(position={"x": 5, "y": 50})
    expect(section.locator("figcaption")).not_to_contain_text("24 turns")
    section.get_by_text("As a table").click()
    expect(section.get_by_role("row")).to_have_count(11)
    before = canvas.evaluate(PIXEL)
    section.get_by_role("button", name="Logarithmic").click()
    expect(section.get_by_role("button", name="Logarithmic")).to_have_attribute("aria-pressed", "true")
    assert section.locator("canvas").evaluate(PIXEL) != before
    dashboard.service.say(chat, 24, 25)
    expect(section.get_by_role("img")).to_have_accessible_name(f"26 turns: {said(dashboard, chat)}")
    assert page.locator("canvas").count() == 1


def said(dashboard: Dashboard, chat: str) -> str:
    """The sums that the curve ends with."""
    last = dashboard.service.get(f"/chats/{chat}/growth").json()["items"][-1]
    raw, sent = last["raw_tokens"], last["sent_tokens"]
    return f"{raw} tokens said by now, {sent} sent, {round(100 * sent / raw)} %"


def test_the_curve_follows_the_page(dashboard: Dashboard, chat: str) -> None:
    """It takes other colours with the page, and is as wide as its place."""
    page = folded(dashboard, chat)
    canvas = dashboard.section("Tokens over time").locator("canvas")
    light = canvas.evaluate(PIXEL)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("light => document.querySelector('canvas')?.toDataURL() !== light", arg=light)
    page.set_viewport_size(PHONE)
    page.wait_for_function("document.querySelector('.u-wrap').clientWidth < 390")
    assert dashboard.too_wide() == []
    page.set_viewport_size(WIDE)
    page.emulate_media(color_scheme="light")


def test_costs_in_money(dashboard: Dashboard, model: FakeModel, chat: str) -> None:
    """Calls and tokens are those of the chat; a price that is entered turns them, and a backlog, into money."""
    service = dashboard.service
    service.put("/connections/local", {"provider": "openai", "base_url": model.base_url, "model": "fake-small"})
    page = folded(dashboard, chat, turns=6, connection="local")
    usage = service.status(chat)["summarizer_usage"]
    costs = dashboard.section("Costs")
    expect(costs.locator("dd")).to_have_text([str(usage[name]) for name in usage])
    costs.get_by_text("See it in money").click()
    costs.get_by_label("Input").fill("cheap")
    dashboard.button("Keep the price").click()
    expect(costs).to_contain_text("A price is a number, such as 0.15.")
    costs.get_by_label("Input").fill("2")
    costs.get_by_label("Output").fill("10")
    costs.get_by_label("Currency").fill("€")
    dashboard.button("Keep the price").click()
    expect(costs).to_contain_text("Kept in this browser.")
    paid = (2 * usage["prompt_tokens"] + 10 * usage["completion_tokens"]) / 1_000_000
    expect(costs.locator("dd").last).to_have_text(f"€ {paid:.2g}")
    service.put(f"/chats/{chat}-old", {"settings": {"connection": "local"}})
    service.say(f"{chat}-old", *range(40), fold="none")
    dashboard.open("chats", f"{chat}-old")
    expect(dashboard.section("An old chat: how shall it fold?")).to_contain_text("about € 0.0")
    assert page.url.endswith("old")


def test_what_the_built_in_summarizer_costs(dashboard: Dashboard, chat: str) -> None:
    """Nothing; a prompt is told with what it spares, and nobody is asked for a price."""
    dashboard.service.put(f"/chats/{chat}", {"settings": {"on_backlog": "all"}})
    dashboard.service.say(chat, *range(60))
    dashboard.open("chats", chat)
    costs = dashboard.section("Costs")
    expect(costs).to_contain_text("makes no calls and costs nothing")
    expect(costs).to_contain_text("A prompt now carries")
    expect(costs.get_by_text("See it in money")).to_have_count(0)


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_figures_are_usable_by_all(open_dashboard: OpenDashboard, chat: str, colours: str) -> None:
    """On a phone, axe finds nothing wrong with the figures and nothing has to be scrolled sideways."""
    dashboard = open_dashboard(viewport=PHONE, color_scheme=colours)
    page = folded(dashboard, chat)
    expect(page.locator("canvas")).to_be_visible()
    page.get_by_text("As a table").click()
    page.get_by_text("What full layers hold with these settings").click()
    assert dashboard.axe(".columns") == []
    assert dashboard.too_wide() == []
