"""A page of SillyTavern and what a user does in it. Every verb returns when its effect is there."""

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, ConsoleMessage, Page

from tests.support.fake_model import FakeModel
from tests.support.tavern import SillyTavern

VERBS = (Path(__file__).parent / "tavern.js").read_text(encoding="utf-8")
READY_MS = 180_000
# What SillyTavern itself prints as an error, and why that is none.
HARMLESS = re.compile(r"favicon|/thumbnail[?]|net::ERR_NAME_NOT_RESOLVED")  # other machines: tests.support.chromium


class TavernPage:
    """A page, ready to be used. `model` is what SillyTavern talks to; `page` is Playwright's own, for all else."""

    def __init__(self, context: BrowserContext, tavern: SillyTavern, model: FakeModel) -> None:
        self.context = context
        self.tavern = tavern
        self.model = model
        self.errors: list[str] = []
        self.expected: list[str] = []
        self.page = context.new_page()
        self._watch(self.page)
        self.page.add_init_script(VERBS)
        self.load()

    def load(self) -> None:
        """Open, or open anew, SillyTavern's page; no chat is open then."""
        self.page.goto(self.tavern.url, wait_until="domcontentloaded")
        self.page.wait_for_function("() => !document.getElementById('preloader')", timeout=READY_MS)
        self.page.evaluate("tavernTest.ready()")

    def fresh(self) -> None:
        """A new chat of Seraphina, whatever was open; errors of before are forgotten."""
        self.idle()
        group, name = self.js("(({groupId, name2}) => [groupId, name2])(SillyTavern.getContext())")
        if group is not None or name != "Seraphina":
            self.open("Seraphina")
        self.new_chat()
        self.js("toastr.remove()")
        self.unexpected()

    def close(self) -> None:
        """Leave it."""
        self.page.close()

    # What is in it

    @property
    def chat(self) -> list[dict[str, Any]]:
        """The open chat's messages as SillyTavern holds them."""
        found: list[dict[str, Any]] = self.js("SillyTavern.getContext().chat")
        return found

    @property
    def texts(self) -> list[str]:
        """What they say."""
        return [message["mes"] for message in self.chat]

    @property
    def metadata(self) -> dict[str, Any]:
        """The open chat's; `integrity` is its id."""
        found: dict[str, Any] = self.js("SillyTavern.getContext().chatMetadata")
        return found

    @property
    def chat_id(self) -> str:
        """What Turnfold knows the chat by."""
        return str(self.metadata["integrity"])

    @property
    def chat_name(self) -> str:
        """The name of its file, without .jsonl."""
        return str(self.js("SillyTavern.getContext().chatId"))

    def file(self) -> list[dict[str, Any]]:
        """The open chat's file as it is stored now: its header, then a message each."""
        group = self.js("SillyTavern.getContext().groupId")
        name = self.chat_name
        if group is None:
            return self.tavern.file(name, self.js("SillyTavern.getContext().name2"))
        return self.tavern.group_file(name)

    def prompt(self) -> list[dict[str, Any]]:
        """The messages of the last request that the model got."""
        return self.model.calls[-1].messages

    def toasts(self) -> list[str]:
        """What the toasts on the screen say."""
        return self.page.locator("#toast-container .toast-message").all_inner_texts()

    def js(self, expression: str, argument: Any = None) -> Any:
        """The value of a JavaScript expression, or of a function that takes the argument."""
        return self.page.evaluate(expression, argument)

    def until(self, condition: str, argument: Any = None, seconds: float = 10) -> Any:
        """Wait until a JavaScript expression, or function of the argument, is true; gives its value."""
        return self.page.wait_for_function(condition, arg=argument, timeout=seconds * 1000).json_value()

    # What a user does

    def open(self, character: str = "Seraphina") -> None:
        """Open a character's last chat."""
        self.js("name => tavernTest.open(name)", character)

    def new_chat(self) -> None:
        """A new chat with the character, or group, that is open."""
        self.js("tavernTest.newChat()")

    def open_chat(self, name: str) -> None:
        """Another chat of the same character or group, by its file name."""
        self.js("name => tavernTest.openChat(name)", name)

    def send(self, text: str) -> str:
        """Type and send; gives the reply once it is complete."""
        self.post(text)
        self.js("before => tavernTest.sent(before)", self._before)
        return self.texts[-1]

    def post(self, text: str) -> None:
        """Type and send, and wait for no more than that it has gone."""
        self.idle()
        self._before = int(self.js("SillyTavern.getContext().chat.length"))
        self.page.fill("#send_textarea", text)
        self.page.click("#send_but")
        self.until("() => document.querySelector('#send_textarea').value === ''")

    def idle(self, seconds: float = 20) -> None:
        """Until nothing is generated."""
        self.js("seconds => tavernTest.idle(seconds)", seconds)

    def swipe(self) -> str:
        """Swipe the last reply to the right; gives the text that stands there then."""
        self.js("tavernTest.swipe()")
        return self.texts[-1]

    def edit(self, index: int, text: str) -> None:
        """Edit a message in place."""
        self.js("([index, text]) => tavernTest.edit(index, text)", [index, text])

    def delete(self, index: int) -> None:
        """Delete a message."""
        self.js("index => tavernTest.cut(index)", index)

    def hide(self, index: int | str, *, hidden: bool = True) -> None:
        """Hide a message, or a range like "0-3", from the prompt; or show it again."""
        self.command(f"/{'hide' if hidden else 'unhide'} {index}")

    def command(self, line: str) -> str:
        """Run a slash command; gives what it hands on (its pipe). Raises playwright.sync_api.Error if it fails."""
        return str(self.js("line => tavernTest.command(line)", line))

    def rename(self, name: str) -> None:
        """Give the open chat's file another name."""
        self.js("name => tavernTest.rename(name)", name)

    def branch(self, index: int) -> str:
        """Branch the chat off after a message and open the branch; gives its name."""
        return str(self.js("index => tavernTest.branch(index)", index))

    def group(self, *names: str) -> str:
        """A group of these characters, made where missing, and its chat; gives the group's id."""
        return str(self.js("names => tavernTest.group(names)", list(names)))

    # What goes wrong

    def expect_errors(self, *patterns: str) -> None:
        """Errors that match one of these are meant, until the test's end."""
        self.expected.extend(patterns)

    def unexpected(self) -> list[str]:
        """Errors so far that nobody meant, which are forgotten with this."""
        found = [error for error in self.errors if not any(re.search(one, error) for one in self.expected)]
        self.errors.clear()
        self.expected.clear()
        return found

    def _watch(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.errors.append(f"{error.name}: {error.message}\n{error.stack}"))

    def _console(self, message: ConsoleMessage) -> None:
        where = message.location.get("url", "")
        if message.type == "error" and not HARMLESS.search(f"{message.text} {where}"):
            self.errors.append(f"{message.text} ({where})")
