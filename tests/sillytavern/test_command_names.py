"""Names of commands that another extension has taken."""

import json
import shutil
from collections.abc import Callable, Iterator

import pytest

from tests.support.service import Service
from tests.support.tavern import SillyTavern
from tests.support.tavern_page import TavernPage
from tests.support.tavern_story import open_folded

# As Summaryception does: its three commands are registered when it is loaded.
REGISTERS = """
for (const name of ['sc-status', 'sc-clear', 'sc-preview']) {
    const { SlashCommand, SlashCommandParser } = SillyTavern.getContext();
    SlashCommandParser.addCommandObject(SlashCommand.fromProps({ name, callback: async () => 'theirs' }));
}
"""


@pytest.fixture
def other(sillytavern: SillyTavern) -> Iterator[None]:
    """Another extension with commands of these names, beside Turnfold."""
    folder = sillytavern.home / "extensions" / "other"
    folder.mkdir()
    manifest = {"display_name": "Other", "loading_order": 5, "js": "index.js", "author": "nobody", "version": "1.0.0"}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "index.js").write_text(REGISTERS, encoding="utf-8")
    yield
    shutil.rmtree(folder)


@pytest.mark.usefixtures("other")
def test_taken_names_stay_the_others(open_tavern: Callable[..., TavernPage], turnfold: Service) -> None:
    """What another extension has stays its own; Turnfold answers under another name, and to the rest as ever."""
    tavern = open_tavern()
    tavern.open("Seraphina")
    open_folded(tavern, turnfold, "names", 1)
    assert [tavern.command(f"/sc-{name}") for name in ("status", "clear", "preview")] == ["theirs"] * 3
    assert tavern.command("/turnfold-status quiet=true").startswith("Memory: layered")
    assert tavern.command("/turnfold-clear yes=true quiet=true") == "There was nothing to forget."
    assert tavern.command("/sc-pause quiet=true").startswith("Folding is paused")
