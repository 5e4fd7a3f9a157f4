"""Pictures of the extension in SillyTavern, for the documents: `scripts/screenshots` takes them.

The views are those of one old chat on its way into memory, in their order: each goes on where the one before it ended.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Locator, ViewportSize

from tests.support.chromium import chromium
from tests.support.fake_model import FakeModel
from tests.support.service import Service, running
from tests.support.tavern import VERSIONS, SillyTavern, serving
from tests.support.tavern_page import TavernPage
from tests.support.tavern_panel import Panel
from tests.support.told_story import NARRATOR, gist, story

TURNS = 120
FOLDED = 12  # calls of the writer, until the picture of the progress
SCREEN: ViewportSize = {"width": 1280, "height": 800}
TALL: ViewportSize = {"width": 1280, "height": 1700}


@dataclass(frozen=True)
class Stage:
    """A page in which the story is about to be opened, and what stands behind it."""

    tavern: TavernPage
    turnfold: Service
    writer: FakeModel
    turns: int


View = Callable[[Stage], Locator]


@contextmanager
def staged(folder: Path, sillytavern: SillyTavern, turns: int = TURNS) -> Iterator[Stage]:
    """A page of this SillyTavern, and a Turnfold of its own, for so many turns of the story."""
    with (
        FakeModel(gist) as writer,
        running(folder, cors_origins=sillytavern.url) as turnfold,
        chromium(pictures=True) as browser,
    ):
        turnfold.put("/connections/default", {"provider": "openai", "base_url": writer.base_url, "model": "local-8b"})
        sillytavern.configure(model=writer.base_url, turnfold=turnfold.url)
        page = TavernPage(browser.new_context(viewport=SCREEN, device_scale_factor=1.5), sillytavern, writer)
        yield Stage(page, turnfold, writer, turns)
        page.context.close()


def backlog(stage: Stage) -> Locator:
    """The question about an old chat."""
    page = stage.tavern
    page.js("name => tavernTest.character(name)", NARRATOR)
    page.open(NARRATOR)
    told = story()[: 2 * stage.turns + 1]
    name = page.tavern.seed_chat(NARRATOR, "Crossing the Veyl", told, {"integrity": "crossing"})
    page.open_chat(name)
    found = page.page.locator("dialog[open]:has(.turnfold-backlog)")
    found.wait_for()
    return found


def progress(stage: Stage) -> Locator:
    """The fold of all of it, some way on."""
    page = stage.tavern.page
    page.locator('.turnfold-choice[data-choice="all"]').click()
    stage.writer.wait_for_calls(FOLDED, 30)
    stage.writer.hold()
    page.locator(".turnfold-progress progress").wait_for()
    return page.locator("#sheld")


def ghosts(stage: Stage) -> Locator:
    """The chat, folded, with what a ghost tells."""
    stage.writer.release()
    stage.turnfold.settled(stage.tavern.chat_id)
    page = stage.tavern.page
    page.locator("dialog[open]").wait_for(state="detached")
    last = page.locator("#chat .mes:has(.turnfold-ghost)").last
    last.scroll_into_view_if_needed()
    stage.tavern.js("toastr.remove()")
    last.locator(".turnfold-ghost").hover()
    page.locator("#turnfold-tip").wait_for()
    return page.locator("#sheld")


def panel(stage: Stage) -> Locator:
    """The panel, with the picture of the layers and the settings of the memory."""
    stage.tavern.page.mouse.move(5, 5)
    stage.tavern.page.set_viewport_size(TALL)
    found = Panel(stage.tavern)
    found.section("memory")
    return found.root.locator(".inline-drawer")


def preview(stage: Stage) -> Locator:
    """The memory's place in the prompt, and its text."""
    found = Panel(stage.tavern)
    found.section("memory").locator("summary").first.click()
    found.section("injection")
    return found.root.locator(".inline-drawer")


def snippets(stage: Stage) -> Locator:
    """The list of what is remembered."""
    stage.tavern.page.set_viewport_size(SCREEN)
    found = Panel(stage.tavern)
    found.press("Snippets")
    found.dialog().wait_for()
    stage.tavern.page.locator(".tf-list > *").first.wait_for()
    return found.dialog()


VIEWS: dict[str, View] = {
    "backlog": backlog,
    "progress": progress,
    "ghosts": ghosts,
    "panel": panel,
    "preview": preview,
    "snippets": snippets,
}


def take(folder: Path, out: Path) -> None:
    """Write every view to `out`/sillytavern-VIEW.png; `folder` is for what is needed meanwhile."""
    for name in ("tavern", "turnfold"):
        (folder / name).mkdir()
    with serving(VERSIONS[0], folder / "tavern") as sillytavern, staged(folder / "turnfold", sillytavern) as stage:
        for name, view in VIEWS.items():
            view(stage).screenshot(path=out / f"sillytavern-{name}.png", animations="disabled")


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        take(Path(scratch), Path(sys.argv[1]))
