"""The dashboard in a Chromium, as a person sees it, and all that a person must never see in the console."""

import json
from typing import Any
from urllib.parse import quote, urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, ViewportSize, expect

from tests.support.javascript import CLIENT
from tests.support.service import Service

WIDE: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
PATIENCE_MS = 15_000  # machines are busy; what is there sooner is not waited for
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
AXE_CORE = CLIENT / "node_modules" / "axe-core" / "axe.min.js"  # scripts/javascript gets it
AXE = """async ([rules, place]) => {
    const { violations } = await axe.run(place ?? document, { runOnly: rules, resultTypes: ['violations'] });
    return violations.map(({ id, help, nodes }) => `${id}: ${help}\\n` + nodes.map((node) =>
        `    ${node.html.slice(0, 200)}\\n        ${node.any.concat(node.all, node.none)
            .map(({ message }) => message).join('; ')}`).join('\\n'));
}"""
# A dialog or a page that scrolls sideways is too wide.
OVERFLOW = """() => [document.documentElement, ...document.querySelectorAll('dialog[open]')]
    .filter((box) => box.scrollWidth > box.clientWidth + 1)
    .map((box) => `${box.tagName} is ${box.scrollWidth} wide in ${box.clientWidth}`)"""


class Dashboard:
    """A page of the dashboard. `unexpected()` is what went wrong in it that no test said to expect."""

    def __init__(self, browser: Browser, service: Service, **options: Any) -> None:
        options = {"viewport": WIDE, "permissions": ["clipboard-read", "clipboard-write"], **options}
        self.service = service
        self.context = browser.new_context(base_url=service.url, **options)
        self.context.set_default_timeout(PATIENCE_MS)
        expect.set_options(timeout=PATIENCE_MS)
        self.page: Page = self.context.new_page()
        self._expected: list[str] = []
        self._troubles: list[str] = []
        self._axe = False
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self._troubles.append(f"error: {error}"))
        self.context.on("request", self._asked)

    def open(self, *parts: str, **query: Any) -> Page:
        """Go to a place: `open("chats", "harbour", "prompt", view="reply")`."""
        words = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items())
        self.page.goto("/#/" + "/".join(quote(part, safe="") for part in parts) + (f"?{words}" if words else ""))
        self.page.get_by_role("main").wait_for()
        self.page.get_by_text("Opening the page…").wait_for(state="detached")
        return self.page

    def expect_errors(self, *texts: str) -> None:
        """Console errors that hold one of these are wanted, until the test ends."""
        self._expected += texts

    def unexpected(self) -> list[str]:
        """Errors and warnings of the console, violations of the policy, requests to other hosts; forgets them."""
        found = [text for text in self._troubles if not any(part in text for part in self._expected)]
        self._troubles.clear()
        self._expected.clear()
        return found

    def axe(self, place: str | None = None) -> list[str]:
        """What axe finds wrong in the page, or in the part that a selector names."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE_CORE.read_text(encoding="utf-8"))
        found: list[str] = self.page.evaluate(AXE, [RULES, place])
        return found

    def too_wide(self) -> list[str]:
        """What would have to be scrolled sideways."""
        found: list[str] = self.page.evaluate(OVERFLOW)
        return found

    def button(self, name: str) -> Locator:
        """A button by its name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def section(self, name: str) -> Locator:
        """A part of the page by its heading."""
        return self.page.get_by_role("region", name=name, exact=True)

    def stored(self, key: str) -> Any:
        """What the page keeps on this device."""
        text = self.page.evaluate("key => localStorage.getItem(key)", key)
        return text and json.loads(text)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._troubles.append(f"console {message.type}: {message.text} ({message.location.get('url')})")

    def _asked(self, request: Request) -> None:
        url = urlsplit(request.url)
        if url.scheme not in ("blob", "data") and f"{url.scheme}://{url.netloc}" != self.service.url:
            self._troubles.append(f"request to another host: {request.url}")
