"""How to test the dashboard in a browser. Every test here skips where there is no Chromium or no axe.

    def test_x(dashboard: Dashboard, chat: str) -> None:
        dashboard.service.say(chat, *range(12))      # seeded through the API
        page = dashboard.open("chats", chat)         # Playwright's page, at #/chats/ID
        dashboard.button("Pause").click()
        expect(page.get_by_text("Paused")).to_be_visible()

What lives how long: Chromium and the server (`service`; a fixture `service_settings` of a test file may say more) as
long as the test file; the page as long as too, opened anew with `dashboard.open`; `chat` is the id of a chat for one
test, which is not made yet. `open_dashboard(viewport=PHONE, color_scheme="dark")` opens a page of its own, for one
test. A console error or warning, a violation of the policy and a request to another host fail the test, unless
`dashboard.expect_errors("part of its text")` was said before. `model` is a scripted model server; `local` is a chat
whose summaries it writes.

No test here may be a coroutine: Playwright's loop runs in the same thread.
"""

import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.support import chromium as browsers
from tests.support.dashboard import AXE_CORE, Dashboard
from tests.support.fake_model import FakeModel
from tests.support.service import Service, running

OpenDashboard = Callable[..., Dashboard]

HERE = Path(__file__).parent
NUMBERS = count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks all tests here."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium."""
    if os.environ.get("CI") != "true" and not (browsers.found() and AXE_CORE.exists()):
        pytest.skip("No Chromium or no axe-core is ready; scripts/test --with-browser gets them.")
    with browsers.chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def service_settings() -> dict[str, Any]:
    """Settings of the server of this test file."""
    return {}


@pytest.fixture(scope="module")
def service(
    browser: Browser,  # noqa: ARG001 - skips where there is none
    service_settings: dict[str, Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Service]:
    """The server whose dashboard it is."""
    with running(tmp_path_factory.mktemp("turnfold"), **service_settings) as service:
        yield service


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    """A model server that says what it is told to."""
    with FakeModel() as model:
        yield model


@pytest.fixture(scope="module")
def shared(browser: Browser, service: Service) -> Iterator[Dashboard]:
    """The page that the tests of a file share."""
    dashboard = Dashboard(browser, service)
    yield dashboard
    dashboard.context.close()


@pytest.fixture
def dashboard(shared: Dashboard) -> Iterator[Dashboard]:
    """The shared page; nothing is kept on its device."""
    yield shared
    found = shared.unexpected()
    shared.page.evaluate("localStorage.clear()")
    assert not found, "errors in the page:\n" + "\n".join(found)


@pytest.fixture
def open_dashboard(browser: Browser, service: Service) -> Iterator[OpenDashboard]:
    """Opens pages for this test alone."""
    opened: list[Dashboard] = []

    def open_one(**options: Any) -> Dashboard:
        opened.append(Dashboard(browser, service, **options))
        return opened[-1]

    yield open_one
    found = [text for one in opened for text in one.unexpected()]
    for one in opened:
        one.context.close()
    assert not found, "errors in the page:\n" + "\n".join(found)


@pytest.fixture
def chat() -> str:
    """The id of a chat that is this test's own."""
    return f"chat-{next(NUMBERS)}"


@pytest.fixture
def local(service: Service, model: FakeModel, chat: str) -> str:
    """A chat whose summaries the scripted model writes."""
    fields = {"provider": "openai", "base_url": model.base_url, "model": "fake-small"}
    assert service.put("/connections/local", fields).is_success
    assert service.put(f"/chats/{chat}", {"settings": {"connection": "local"}}).is_success
    return chat
