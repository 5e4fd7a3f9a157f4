"""The panel and the server: finding it, missing it, and who writes its summaries."""

from collections.abc import Iterator
from functools import partial

import pytest

from tests.support.fake_model import FakeModel
from tests.support.service import Service, running
from tests.support.tavern import SillyTavern
from tests.support.tavern_page import TavernPage
from tests.support.tavern_panel import Panel

AWAY = "http://127.0.0.1:8999"
REFUSED = ("net::ERR_", "CORS", "403", "401", "404")


@pytest.fixture
def panel(tavern: TavernPage, turnfold: Service) -> Iterator[Panel]:
    """The panel over a chat of a turn; afterwards it talks to its server as before."""
    tavern.send("Is the gate open?")
    panel = Panel(tavern)
    panel.until_title("Up to date")
    yield panel
    address(panel, turnfold.url)
    finding(panel, "answers")
    turnfold.patch("/settings", {"connection": None})


def address(panel: Panel, url: str, key: str = "") -> None:
    """Type another address, and key."""
    panel.section("server")
    for name, text in (("server", url), ("key", key)):
        field = panel.root.locator(f"#tf-{name}")
        if field.input_value() != text:
            field.fill(text)
            field.blur()


def finding(panel: Panel, text: str) -> None:
    """What the test of the server says."""
    panel.until(lambda: panel.root.locator("#tf-finding").get_by_text("Asking").count() == 0)
    panel.root.locator("#tf-finding", has_text=text).wait_for()


def in_use(turnfold: Service, connection: str) -> bool:
    """Whether chats use this connection."""
    return bool(turnfold.get("/settings").json()["connection"] == connection)


def test_what_is_wrong(
    panel: Panel, sillytavern: SillyTavern, tmp_path_factory: pytest.TempPathFactory, turnfold: Service
) -> None:
    """Away, not let in, no key, a wrong key, not Turnfold, no address: each is told, with what to do."""
    panel.tavern.expect_errors(*REFUSED)
    address(panel, AWAY)
    finding(panel, "Nothing answers")
    address(panel, "the gate")
    finding(panel, "This is no address")
    address(panel, sillytavern.url)
    finding(panel, "not Turnfold")
    with running(tmp_path_factory.mktemp("foreign")) as foreign:
        address(panel, foreign.url)
        finding(panel, f"Add {sillytavern.url} to TURNFOLD_CORS_ORIGINS")
    with running(tmp_path_factory.mktemp("keyed"), cors_origins=sillytavern.url, api_key="brass") as keyed:
        address(panel, keyed.url)
        finding(panel, "wants a key")
        address(panel, keyed.url, "silver")
        finding(panel, "does not know this key")
        address(panel, keyed.url, "brass")
        finding(panel, f"Turnfold {turnfold.http.get('/healthz').json()['version']} answers")
        address(panel, turnfold.url.removeprefix("http://"))
        finding(panel, "answers")


def test_a_server_that_is_away(panel: Panel, turnfold: Service) -> None:
    """It is said, what is kept here can be changed, what the server keeps cannot, and it all comes back."""
    panel.tavern.expect_errors("net::ERR_")
    address(panel, AWAY)
    panel.until_title("The server is away")
    assert "Nothing is lost" in panel.part("line").inner_text()
    panel.section("injection").locator("#tf-role").select_option("1")
    assert panel.local()["placement"]["role"] == 1
    panel.section("injection").locator("#tf-role").select_option("0")
    assert panel.root.get_by_role("button", name="Snippets").is_disabled()
    address(panel, turnfold.url)
    panel.until_title("Up to date")
    assert panel.root.get_by_role("button", name="Snippets").is_enabled()


def test_off(panel: Panel) -> None:
    """Switched off, it says so and asks the server nothing; switched on it goes on."""
    box = panel.root.locator("#tf-enabled")
    box.uncheck()
    panel.until_title("Off")
    assert panel.local()["enabled"] is False
    box.check()
    panel.until_title("Up to date")


def test_no_chat(panel: Panel, turnfold: Service) -> None:
    """Without a chat what holds for all chats can be set, and what needs one is not offered."""
    panel.tavern.command("/closechat")
    panel.open()
    panel.until_title("No chat is open")
    memory = panel.section("memory")
    assert memory.locator('input[value="chat"]').is_disabled()
    assert panel.root.get_by_role("button", name="Snippets").is_disabled()
    panel.number("layered.verbatim_turns").fill("9")
    panel.until(lambda: turnfold.get("/settings").json()["settings"].get("layered") == {"verbatim_turns": 9})
    turnfold.patch("/settings", {"layered": None})
    panel.tavern.open("Seraphina")


def test_who_writes(panel: Panel, turnfold: Service, model: FakeModel) -> None:
    """SillyTavern's own model, a server with its models and a test, or none: each choice is the server's then."""
    section = panel.section("source")
    kind = section.locator("#tf-source")
    kind.select_option("openai")
    section.locator("#tf-source-url").fill(f"{model.base_url}/v1")
    panel.press("Models", section)
    section.get_by_text("fake-small, fake-large").wait_for()
    assert turnfold.get("/settings").json()["settings"] == {}
    panel.press("Test", section)
    section.locator(".tf-good", has_text="ms)").wait_for()
    panel.press("Use it", section)
    panel.until(partial(in_use, turnfold, "sillytavern-openai"))
    for choice, connection in (("main", "SillyTavern"), ("extractive", "extractive")):
        section.get_by_text("In use.").wait_for()
        kind.select_option(choice)
        panel.press("Use it", section)
        panel.until(partial(in_use, turnfold, connection))
    stored = turnfold.get("/connections/sillytavern-openai").json()
    assert (stored["provider"], stored["model"]) == ("openai", "fake-small")
