"""The panel in each version of SillyTavern that is claimed."""

from tests.support.service import Service
from tests.support.tavern import both_versions
from tests.support.tavern_page import TavernPage
from tests.support.tavern_panel import Panel


@both_versions
def test_the_panel_works(tavern: TavernPage, turnfold: Service) -> None:
    """It says how the memory stands, what is changed in it is the server's, and its dialog opens and closes."""
    tavern.send("Is the gate open?")
    panel = Panel(tavern)
    panel.until_title("Up to date")
    panel.section("memory")
    panel.number("layered.verbatim_turns").fill("12")
    panel.until(lambda: turnfold.get("/settings").json()["settings"] == {"layered": {"verbatim_turns": 12}})
    panel.press("Snippets")
    panel.dialog().get_by_text("Nothing is remembered yet.").wait_for()
    panel.close_dialog()
    panel.section("server")
    panel.press("Test")
    panel.part("finding").filter(has_text="answers").wait_for()
