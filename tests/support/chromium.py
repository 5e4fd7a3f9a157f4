"""A Chromium for tests of one file, driven through Playwright."""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")  # scripts/browser has them too
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--mute-audio",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",  # no other machine is reached
]
NO_PICTURES = "--blink-settings=imagesEnabled=false"


def found() -> str | None:
    """The path of the machine's Chromium."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def chromium(*, pictures: bool = False) -> Iterator[Browser]:
    """A headless browser until the block ends, which loads pictures or, quicker, does not. In the block no coroutine
    can be run in this thread: Playwright runs its own.
    """
    executable = found()
    assert executable, "no Chromium: scripts/test --with-browser"
    options = QUIET if pictures else [*QUIET, NO_PICTURES]
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable, args=options)
            yield browser
            browser.close()
    finally:
        asyncio.set_event_loop(None)
        asyncio._set_running_loop(None)  # Playwright leaves its own: no later test of this process could run one
