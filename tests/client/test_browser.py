"""turnfold.js with a real Turnfold, in Chromium: on a page of Turnfold's own, and on one of another origin."""

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.support import chromium as browsers
from tests.support.fake_model import FakeModel
from tests.support.javascript import CLIENT
from tests.support.service import Service, running

pytestmark = pytest.mark.browser

KEY = "sesame"
PLAY = (CLIENT / "play.mjs").read_text(encoding="utf-8")
IMPORTED = """async ([server, key, play]) => {
    const client = await import(`${server}/static/turnfold.js`);
    const { play: run } = await import(URL.createObjectURL(new Blob([play], { type: 'text/javascript' })));
    return JSON.stringify(await run(client, server, key));
}"""
# What the first call that ends has failed with.
FAILING = """async ([server, key, calls]) => {
    const { Turnfold } = await import('/turnfold.js');
    const turnfold = new Turnfold({ server, key });
    const made = calls.map(([method, path, call]) => turnfold.request(method, path, call));
    const error = await Promise.race(made).then(() => null, (caught) => caught);
    return error && [error.status, error.code, error.retryAfter, error.temporary];
}"""


class Frontend(BaseHTTPRequestHandler):
    """A page of somebody else's, with a copy of turnfold.js beside it."""

    def do_GET(self) -> None:
        """The script, or an empty page."""
        script = self.path == "/turnfold.js"
        body = (CLIENT.parents[1] / "static" / "turnfold.js").read_bytes() if script else b"<link rel=icon href=data:,>"
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if script else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if os.environ.get("CI") != "true" and not browsers.found():
        pytest.skip("No Chromium is found; scripts/test --with-browser gets one.")
    with browsers.chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    yield page
    page.close()


@pytest.fixture(scope="module")
def frontend() -> Iterator[str]:
    """The origin of a page that is not Turnfold's."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Frontend)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def service(frontend: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("turnfold"), api_key=KEY, cors_origins=frontend) as service:
        service.http.headers["Authorization"] = f"Bearer {KEY}"
        yield service


def test_a_page_of_turnfold(page: Page, service: Service, played: dict[str, Any]) -> None:
    """A page that Turnfold itself serves does everything that a frontend does."""
    page.goto(f"{service.url}/healthz")
    assert json.loads(page.evaluate(IMPORTED, [service.url, KEY, PLAY])) == played


def test_a_page_of_another_origin(page: Page, service: Service, frontend: str, played: dict[str, Any]) -> None:
    """So does a page of an origin that Turnfold allows, and it may import turnfold.js from there."""
    page.goto(frontend)
    assert json.loads(page.evaluate(IMPORTED, [service.url, KEY, PLAY])) == played


def test_a_page_may_read_when_to_try_again(page: Page, service: Service, frontend: str) -> None:
    """Of two calls under one Idempotency-Key the second is told, across origins, after how long to come back."""
    with FakeModel() as model:
        model.hold()
        fields = {"provider": "openai", "base_url": model.base_url, "model": "fake-small"}
        assert service.put("/connections/held", fields).is_success
        page.goto(frontend)
        twice = [["POST", "/connections/held/test", {"headers": {"Idempotency-Key": "one"}}]] * 2
        *refused, seconds, temporary = page.evaluate(FAILING, [service.url, KEY, twice])
        model.release()
    assert (refused, seconds > 0, temporary) == ([409, "conflict"], True, True)


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "refusing"])
def test_a_page_that_reaches_nobody(page: Page, frontend: str, address: str, tmp_path: Path) -> None:
    """Where nobody listens, and where the page's origin is not allowed, the server cannot be reached."""
    with running(tmp_path) as refusing:
        page.goto(frontend)
        server = refusing.url if address == "refusing" else address
        assert page.evaluate(FAILING, [server, "", [["GET", "/chats", {}]]]) == [0, "unreachable", None, True]


def test_a_key_that_no_header_takes(page: Page, service: Service, frontend: str) -> None:
    """A key with letters that a header cannot carry is told from a server that is away."""
    page.goto(frontend)
    assert page.evaluate(FAILING, [service.url, "ключ", [["GET", "/chats", {}]]]) == [0, "invalid_call", None, False]
