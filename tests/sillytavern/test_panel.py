"""The panel in SillyTavern: what it shows, and what its settings do on the server."""

from collections.abc import Iterator
from typing import Any

import pytest

from app.core.settings import BUFFER_RANGES, RANGES, ROLLING_RANGES
from app.resources import resource_dir
from tests.support.service import Service
from tests.support.tavern_page import TavernPage
from tests.support.tavern_panel import Panel

FIVE = {
    "verbatim_turns": 12,
    "turns_per_batch": 4,
    "snippets_per_layer": 20,
    "snippets_per_promotion": 4,
    "max_layers": 6,
}
NAMELESS = """() => [...document.querySelectorAll('#turnfold_panel :is(input, select, textarea, button)')]
    .filter((one) => !one.labels?.length && !one.getAttribute('aria-label') && !one.textContent.trim())
    .map((one) => one.outerHTML)"""
WIDTH = "() => [document.documentElement.scrollWidth, document.querySelector('#rm_extensions_block').scrollWidth]"
PLACE = "() => SillyTavern.getContext().extensionSettings.turnfold.placement"


@pytest.fixture
def panel(tavern: TavernPage, turnfold: Service) -> Iterator[Panel]:
    """The panel over a new chat of two turns; afterwards the server's settings are as they were."""
    tavern.send("Is the gate open?")
    panel = Panel(tavern)
    panel.until_title("Up to date")
    yield panel
    panel.scope("all")
    own = turnfold.get("/settings").json()["settings"]
    turnfold.patch("/settings", dict.fromkeys(own))


def chat_of(panel: Panel, turnfold: Service) -> dict[str, Any]:
    """The open chat as the server has it."""
    found: dict[str, Any] = turnfold.get(f"/chats/{panel.tavern.chat_id}").json()
    return found


def own(turnfold: Service) -> dict[str, Any]:
    """The server's layered settings that were set."""
    found: dict[str, Any] = turnfold.get("/settings").json()["settings"].get("layered", {})
    return found


def test_the_five_settings_of_layers(panel: Panel, turnfold: Service) -> None:
    """Each of the five numbers is kept by the server, for all chats, when it is typed."""
    panel.section("memory")
    for name, value in FIVE.items():
        panel.number(f"layered.{name}").fill(str(value))
    panel.until(lambda: own(turnfold) == FIVE)


def test_a_slider_sets_what_it_stands_at(panel: Panel, turnfold: Service) -> None:
    """By the keyboard, a slider goes from value to value, and the server and the number follow."""
    panel.section("memory")
    panel.field("layered.verbatim_turns").locator("input[type=range]").press("ArrowRight")
    panel.until(lambda: own(turnfold) == {"verbatim_turns": 11})
    assert panel.number("layered.verbatim_turns").input_value() == "11"


def test_ranges_are_the_servers_own(panel: Panel) -> None:
    """Each number goes from the least to the most that the server takes."""
    ranges = {"layered": RANGES, "rolling": ROLLING_RANGES, "summary_buffer": BUFFER_RANGES}
    shown = panel.root.locator(".tf-field:has(input[type=number])").evaluate_all(
        "rows => rows.map((row) => [row.dataset.path, +row.querySelector('[type=number]').min,"
        " +row.querySelector('[type=number]').max])"
    )
    assert {path for path, *_ in shown} >= {f"layered.{name}" for name in FIVE}
    for path, low, high in shown:
        strategy, name = path.split(".")
        assert (low, high) == ranges[strategy][name]


def test_what_the_server_refuses_goes_back(panel: Panel, turnfold: Service) -> None:
    """A value that the server does not take is explained at its field, which shows again what holds."""
    panel.tavern.expect_errors("422")
    panel.section("memory")
    number = panel.number("layered.max_layers")
    number.fill("99")
    error = panel.field("layered.max_layers").locator(".tf-error")
    error.filter(has_text="10").wait_for()
    panel.until(lambda: number.input_value() == "5")
    assert own(turnfold) == {}


def test_quick_changes_never_race(panel: Panel, turnfold: Service) -> None:
    """However slow the server answers, one change is under way at a time and the last one holds."""
    sent: list[str] = []

    def slow(route: Any) -> None:
        sent.append(route.request.post_data)
        if len(sent) == 1:
            panel.tavern.page.wait_for_timeout(300)
        route.continue_()

    panel.tavern.page.route("**/v1/settings", slow)
    panel.section("memory")
    number = panel.number("layered.verbatim_turns")
    number.fill("20")
    panel.until(lambda: bool(sent))
    number.fill("30")
    number.fill("40")
    panel.until(lambda: own(turnfold) == {"verbatim_turns": 40})
    assert number.input_value() == "40"
    panel.tavern.page.unroute("**/v1/settings")


def test_a_chat_of_its_own(panel: Panel, turnfold: Service) -> None:
    """A setting of this chat alone is the chat's, is shown as such, and follows all chats again when it is reset."""
    panel.scope("chat")
    row = panel.field("layered.verbatim_turns")
    row.locator(".tf-own", has_text="as all chats").wait_for()
    panel.number("layered.verbatim_turns").fill("25")
    panel.until(lambda: chat_of(panel, turnfold)["settings"] == {"layered": {"verbatim_turns": 25}})
    row.locator(".tf-own", has_text="only this chat").wait_for()
    panel.scope("all")
    row.locator(".tf-own", has_text="this chat has its own").wait_for()
    assert panel.number("layered.verbatim_turns").input_value() == "10"
    panel.scope("chat")
    row.locator(".tf-reset").click()
    panel.until(lambda: not chat_of(panel, turnfold)["settings"].get("layered"))
    row.locator(".tf-own", has_text="as all chats").wait_for()
    assert own(turnfold) == {}


def test_pause(panel: Panel, turnfold: Service) -> None:
    """Pause and Resume are the chat's; the switch under Memory is everybody's."""
    chat = panel.tavern.chat_id
    panel.press("Pause")
    panel.until_title("Paused")
    assert turnfold.status(chat)["paused"] is True
    panel.press("Resume")
    panel.until_title("Up to date")
    assert turnfold.status(chat)["paused"] is False
    panel.section("memory").locator("#tf-paused").check()
    panel.until(lambda: turnfold.get("/settings").json()["settings"] == {"paused": True})


def test_another_kind_of_memory(panel: Panel, turnfold: Service) -> None:
    """The kind of memory is the chat's; its own settings are shown, with a sentence that says what it is."""
    kind = panel.section("memory").locator("#tf-strategy")
    kind.select_option("rolling")
    panel.until(lambda: chat_of(panel, turnfold)["strategy"] == "rolling")
    panel.field("rolling.keep_recent_turns").wait_for(state="visible")
    assert not panel.field("layered.verbatim_turns").is_visible()
    assert "One summary" in panel.root.locator("#tf-strategy-hint").inner_text()
    panel.number("rolling.keep_recent_turns").fill("7")
    panel.until(lambda: turnfold.get("/settings").json()["settings"] == {"rolling": {"keep_recent_turns": 7}})


def test_prompts(panel: Panel, turnfold: Service) -> None:
    """A changed prompt makes the preset one's own, leaves the two others as they were shown, and can be taken back."""
    presets = {one["name"]: one for one in turnfold.get("/presets").json()}
    panel.section("prompts").locator("#tf-layered-preset").select_option("game_state")
    panel.until(lambda: own(turnfold) == {"preset": "game_state"})
    prompt = panel.field("layered.system_prompt")
    area = prompt.locator("textarea")
    panel.until(lambda: area.input_value() == presets["game_state"]["system_prompt"])
    area.fill("You keep the ledger. <b>&")
    kept = {name: presets["game_state"][name] for name in ("user_prompt", "merge_prompt")}
    wanted = {"preset": "custom", "system_prompt": "You keep the ledger. <b>&", **kept}
    panel.until(lambda: own(turnfold) == wanted)
    prompt.locator(".tf-own", has_text="edited").wait_for()
    assert not panel.field("layered.user_prompt").locator(".tf-reset").is_visible()
    prompt.locator(".tf-reset").click()
    panel.until(lambda: own(turnfold)["system_prompt"] == presets["narrative"]["system_prompt"])


def test_the_wrapper(panel: Panel, turnfold: Service) -> None:
    """The wrapper is Turnfold's own at first; one without its {{summary}} is refused at its field, and goes back."""
    panel.tavern.expect_errors("422")
    panel.section("prompts")
    row = panel.field("layered.injection_template")
    area = row.locator("textarea")
    shipped = (resource_dir("prompts") / "injection.md.j2").read_text(encoding="utf-8").strip()
    shipped = shipped.replace("{{ summary }}", "{{summary}}")
    panel.until(lambda: area.input_value() == shipped)
    area.fill("Nothing goes in here.")
    row.locator(".tf-error", has_text="{{summary}}").wait_for()
    panel.until(lambda: area.input_value() == shipped)
    area.fill("Long ago: {{summary}}")
    panel.until(lambda: own(turnfold) == {"injection_template": "Long ago: {{summary}}"})


def test_placement(panel: Panel) -> None:
    """Where the memory stands is kept in SillyTavern, and a depth is asked for only where there is one."""
    section = panel.section("injection")
    section.locator("#tf-position").select_option("2")
    assert not section.locator("#tf-depth").is_visible()
    section.locator("#tf-position").select_option("1")
    section.locator("#tf-depth").fill("6")
    section.locator("#tf-depth").blur()
    section.locator("#tf-role").select_option("1")
    assert panel.tavern.js(PLACE) == {"position": 1, "depth": 6, "role": 1}
    assert "cache" in panel.part("placement-hint").inner_text()
    section.locator("#tf-position").select_option("0")
    assert panel.tavern.js(PLACE)["position"] == 0


def test_everything_has_a_name(panel: Panel) -> None:
    """Each control has a label that a screen reader says."""
    assert panel.tavern.js(NAMELESS) == []


def test_a_phone(panel: Panel) -> None:
    """On a phone's width nothing is wider than the page, with every section open."""
    page = panel.tavern.page
    page.set_viewport_size({"width": 360, "height": 780})
    for name in ("memory", "prompts", "source", "injection", "chat", "server"):
        panel.section(name)
    assert max(panel.tavern.js(WIDTH)) <= 360
    page.set_viewport_size({"width": 1280, "height": 900})
