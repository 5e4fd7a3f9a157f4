"""Pictures of the dashboard, for the documents: `scripts/screenshots --dashboard` takes them.

The views are shown in their order: the first is of a server without a chat, the others of one where the demo's story
has been told in several chats.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Locator, expect

from tests.support.chromium import chromium
from tests.support.dashboard import PHONE, Dashboard
from tests.support.fake_exchange import Exchange
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import answer
from tests.support.service import Service, running
from tests.support.told_story import NARRATOR, PLAYER, gist, lines, spent

MARGIN = 16
SLOW_S = 0.4
STORY = "the-dry-mail"
TITLES = {
    STORY: "The Dry Mail",
    "letters": "Letters from the Veyl",
    "lamp": "The lamp at Cold Stair",
    "cards": "A game of seven hands",
}
SMALL = {"verbatim_turns": 10, "turns_per_batch": 3, "snippets_per_layer": 8, "snippets_per_promotion": 3}
REFUSED = "gives like a bed"  # what the model of the pictures refuses to sum up
PRICES = {json.dumps(["default", "local-8b"], separators=(",", ":")): {"input": 0.4, "output": 1.6, "currency": "$"}}


@dataclass
class Hand:
    """How the model answers: blank to one passage, so that the built-in summarizer does it."""

    rest_s: float = 0

    async def __call__(self, exchange: Exchange) -> None:
        request = exchange.request
        _, passage, told = request.user.rpartition("<passage>")
        text = "" if passage and REFUSED in told else gist(request)
        await asyncio.sleep(self.rest_s)
        await answer(text, usage=spent(request, text))(exchange)


@dataclass
class Stage:
    """A browser, the server whose dashboard it shows, and the model that it calls."""

    browser: Browser
    service: Service
    writer: FakeModel
    hand: Hand

    def page(self, **options: Any) -> Dashboard:
        """A dashboard of its own."""
        dashboard = Dashboard(self.browser, self.service, reduced_motion="reduce", locale="en", **options)
        prices = json.dumps(json.dumps(PRICES))
        dashboard.page.add_init_script(f"localStorage.setItem('turnfold.prices', {prices})")
        return dashboard


@dataclass
class Shot:
    """A page, and from where to where it is worth a picture: from its top, or a part of it, to the end of another."""

    dashboard: Dashboard
    last: Locator
    first: Locator | None = None

    def take(self, path: Path) -> None:
        """Write it as a picture of the whole width."""
        page = self.dashboard.page
        page.evaluate("scrollTo(0, 0)")
        page.mouse.move(0, 0)
        end = self.last.bounding_box()
        begin = self.first.bounding_box() if self.first else None
        assert end is not None, f"nothing to be seen of {path.name}"
        top = max(0, begin["y"] - MARGIN) if begin else 0
        height = end["y"] + end["height"] + MARGIN - top
        width = page.evaluate("document.querySelector('header.top').getBoundingClientRect().width")
        clip: Any = {"x": 0, "y": top, "width": width, "height": height}
        page.screenshot(path=path, clip=clip, full_page=True, animations="disabled", caret="hide")
        self.dashboard.context.close()


View = Callable[[Stage], Shot]


def tell(stage: Stage, chat: str, end: int, fold: str = "wait", **fields: Any) -> None:
    """Make a chat of the story's first messages."""
    names = {"title": TITLES.get(chat), "user_name": PLAYER, "character_name": NARRATOR}
    made = stage.service.put(f"/chats/{chat}", {**names, **fields})
    assert made.is_success, made.text
    told = {"messages": lines(0, end), "fold": fold}
    assert stage.service.post(f"/chats/{chat}/messages", told).is_success
    if fold == "wait":
        stage.service.settled(chat)


def told(stage: Stage) -> None:
    """All chats: the long one is changed once it is folded, and paused, so that what became stale stays so."""
    fields = {"provider": "openai", "base_url": stage.writer.base_url, "model": "local-8b", "concurrency": 1}
    stage.service.put("/connections/default", fields)
    stage.service.put("/connections/attic", {**fields, "model": "attic-70b", "base_url": "http://127.0.0.1:9"})
    tell(stage, "cards", 31, strategy="none")
    tell(stage, "lamp", 61, strategy="rolling")
    tell(stage, "letters", 241, "none", settings={"on_backlog": "ask"})
    tell(stage, STORY, 327, settings={"on_backlog": "all", "layered": SMALL})
    path = f"/chats/{STORY}/messages"
    for number in (2, 121, 244):
        stage.service.patch(f"{path}/line-{number}", {"pinned": True})
    stage.service.post(f"/chats/{STORY}/pause")
    stage.service.patch(f"{path}/line-283", {"content": "*The goose says nothing, at length.*"})


def first_run(stage: Stage) -> Shot:
    """What somebody sees who has just started it."""
    dashboard = stage.page()
    page = dashboard.open()
    page.get_by_role("button", name="Play the demo story").wait_for()
    return Shot(dashboard, dashboard.section("Connect a frontend"))


def home(stage: Stage) -> Shot:
    """Several chats."""
    told(stage)
    dashboard = stage.page()
    page = dashboard.open()
    expect(page.get_by_role("link", name=TITLES[STORY])).to_be_visible()
    return Shot(dashboard, page.get_by_text("Ghosted messages stay stored"))


def opened(stage: Stage, **options: Any) -> Dashboard:
    """The memory of the long chat, with a snippet open."""
    found = stage.service.get(f"/chats/{STORY}/snippets?limit=500").json()["items"]
    merged = [one for one in found if one["layer"] == 1]
    dashboard = stage.page(**options)
    page = dashboard.open("chats", STORY, snippet=merged[1]["id"])
    dashboard.section("Snippet").locator(".snippet-text").wait_for()
    page.locator(".u-over").first.wait_for()
    return dashboard


def memory(stage: Stage) -> Shot:
    """The strata, and how to read them."""
    dashboard = opened(stage)
    dashboard.page.get_by_text("How to read this picture").click()
    return Shot(dashboard, dashboard.section("Strata"))


def figures(stage: Stage) -> Shot:
    """What stands under the strata."""
    dashboard = opened(stage)
    return Shot(dashboard, dashboard.section("Costs"), dashboard.section("Tokens over time"))


def memory_dark(stage: Stage) -> Shot:
    """The same at night."""
    dashboard = opened(stage, color_scheme="dark")
    return Shot(dashboard, dashboard.section("Strata"))


def memory_phone(stage: Stage) -> Shot:
    """The same on a phone."""
    dashboard = stage.page(viewport=PHONE, device_scale_factor=1.5)
    page = dashboard.open("chats", STORY)
    page.locator(".strata [data-key]").first.wait_for()
    return Shot(dashboard, dashboard.section("Strata"))


def backlog(stage: Stage) -> Shot:
    """The question about an old chat."""
    dashboard = stage.page()
    dashboard.open("chats", "letters")
    dashboard.page.locator(".strata").wait_for()
    return Shot(dashboard, dashboard.section("State of the memory"))


def fold(stage: Stage) -> Shot:
    """The old chat on its way into memory."""
    stage.hand.rest_s = SLOW_S
    stage.service.post("/chats/letters/backlog", {"choice": "all"})
    stage.writer.wait_for_calls(len(stage.writer.requests) + 15, 30)
    stage.writer.hold()
    stage.hand.rest_s = 0
    dashboard = stage.page()
    page = dashboard.open("chats", "letters")
    page.get_by_role("progressbar").first.wait_for()
    page.locator(".strata [data-key]").first.wait_for()
    return Shot(dashboard, dashboard.section("Strata"))


def prompt(stage: Stage) -> Shot:
    """The turn inspector."""
    stage.writer.release()
    stage.service.settled("letters")
    dashboard = stage.page()
    page = dashboard.open("chats", STORY, "prompt", context_size=8192, system_prompt=f"You are {NARRATOR}.")
    page.get_by_role("heading", name="Prompt", exact=True).wait_for()
    return Shot(dashboard, page.locator("ol.prompt > li").nth(5), dashboard.section("Budget"))


def search(stage: Stage) -> Shot:
    """Words that are found in messages and snippets."""
    dashboard = stage.page()
    page = dashboard.open("chats", STORY, "messages", q="goose lamp")
    page.locator(".hits > li").first.wait_for()
    return Shot(dashboard, page.locator(".hits > li").nth(6), page.get_by_role("search"))


def messages(stage: Stage) -> Shot:
    """The history, ghosted and not."""
    dashboard = stage.page()
    page = dashboard.open("chats", STORY, "messages", at=302)
    page.get_by_text("#302").first.wait_for()
    return Shot(dashboard, page.locator("ol.lines > li").nth(5), page.get_by_role("search"))


def connections(stage: Stage) -> Shot:
    """One that is well, and one that is left alone."""
    stage.service.patch("/chats/lamp", {"strategy": "layered", "settings": {"connection": "attic"}})
    for _ in range(4):
        stage.service.post("/chats/lamp/summarize")
        stage.service.settled("lamp")
    dashboard = stage.page()
    page = dashboard.open("connections")
    expect(page.get_by_text("left alone")).to_be_visible()
    return Shot(dashboard, page.get_by_role("listitem", name="extractive"))


def prompts(stage: Stage) -> Shot:
    """The summarizer's prompts, and what the model makes of a real passage."""
    dashboard = stage.page(viewport={"width": 1280, "height": 900})
    page = dashboard.open("chats", STORY, "settings")
    page.get_by_label("Prompt for merges").wait_for()
    dashboard.button("Try it out").click()
    page.get_by_text("Prompt for it", exact=True).click()
    return Shot(dashboard, dashboard.section("Try it"), dashboard.section("Prompts"))


VIEWS: dict[str, View] = {
    "first-run": first_run,
    "home": home,
    "memory": memory,
    "figures": figures,
    "memory-dark": memory_dark,
    "memory-phone": memory_phone,
    "backlog": backlog,
    "fold": fold,
    "prompt": prompt,
    "search": search,
    "messages": messages,
    "connections": connections,
    "prompts": prompts,
}


@contextmanager
def staged(folder: Path) -> Iterator[Stage]:
    """A browser, and a Turnfold without a chat."""
    with (
        FakeModel() as writer,
        writer.only(hand := Hand()),
        running(folder, retry_base_s=0.01, retry_max_s=0.01, breaker_cooldown_s=3600) as service,
        chromium(pictures=True) as browser,
    ):
        yield Stage(browser, service, writer, hand)


def take(folder: Path, out: Path) -> None:
    """Write every view to `out`/dashboard-VIEW.png; `folder` is for what is needed meanwhile."""
    with staged(folder) as stage:
        for name, view in VIEWS.items():
            view(stage).take(out / f"dashboard-{name}.png")


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        take(Path(scratch), Path(sys.argv[1]))
