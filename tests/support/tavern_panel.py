"""The extension's panel in a page of SillyTavern, and what a user does in it."""

import re
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator

from tests.support.tavern_page import TavernPage

DRAWER = "#rm_extensions_block"
NO_TOASTS = "() => document.querySelectorAll('#toast-container').forEach((one) => one.remove())"


class Panel:
    """The panel, opened. Its own parts are found by their `data-part`, fields of settings by their path."""

    def __init__(self, tavern: TavernPage) -> None:
        self.tavern = tavern
        self.root = tavern.page.locator("#turnfold_panel")
        self.open()

    def open(self) -> None:
        """Open SillyTavern's drawer of extensions and the panel in it."""
        self.tavern.js(NO_TOASTS)
        if "openDrawer" not in (self.tavern.page.locator(DRAWER).get_attribute("class") or ""):
            self.tavern.page.locator("#extensions-settings-button .drawer-toggle").click()
        content = self.root.locator(".tf-panel")
        if not content.is_visible():
            self.root.locator(".inline-drawer-icon").click()
        content.wait_for(state="visible")

    def section(self, name: str) -> Locator:
        """A section, opened."""
        found = self.part(name)
        if found.get_attribute("open") is None:
            found.locator("summary").click()
        return found

    def part(self, name: str) -> Locator:
        """A part of the panel by its name."""
        return self.root.locator(f'[data-part="{name}"]')

    def field(self, path: str) -> Locator:
        """The row of a setting of the server's."""
        return self.root.locator(f'.tf-field[data-path="{path}"]')

    def number(self, path: str) -> Locator:
        """The number in such a row."""
        return self.field(path).locator("input[type=number]")

    def press(self, text: str, within: Locator | None = None) -> None:
        """Press the button with this text."""
        named = re.compile(f"^{re.escape(text)}$")
        (within or self.root).locator("button:visible").filter(has_text=named).first.click()

    def scope(self, name: str) -> None:
        """Have settings hold for `all` chats or for this `chat`."""
        self.section("memory").locator(f'input[name="tf-scope"][value="{name}"]').check()

    @property
    def title(self) -> str:
        """What the panel says of the memory's state."""
        return self.part("title").inner_text()

    def until_title(self, title: str) -> None:
        """Wait until it says that."""
        self.part("title").filter(has_text=title).wait_for(state="visible")

    def until(self, look: Callable[[], object], seconds: float = 10) -> None:
        """Wait until something is true that is asked here, of the server for instance; the page goes on meanwhile."""
        deadline = time.monotonic() + seconds
        while not look():
            assert time.monotonic() < deadline, "it never became true"
            self.tavern.page.wait_for_timeout(20)

    def dialog(self) -> Locator:
        """The dialog that is open."""
        return self.tavern.page.locator("dialog[open]").last

    def close_dialog(self) -> None:
        """Close it."""
        dialog = self.dialog()
        dialog.locator(".popup-button-ok").click()
        dialog.wait_for(state="detached")

    def local(self) -> dict[str, Any]:
        """What this SillyTavern keeps of the extension's settings."""
        found: dict[str, Any] = self.tavern.js("SillyTavern.getContext().extensionSettings.turnfold")
        return found
