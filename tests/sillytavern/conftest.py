"""How to test the extension in a real SillyTavern. Every test here skips where `scripts/browser` has not run.

    @both_versions                                   # of tests.support.tavern; without it: the newest version alone
    def test_x(tavern: TavernPage, turnfold: Service) -> None:
        tavern.send("Hello.")                        # typed into the page; answered by `model`, a FakeModel
        tavern.prompt()                              # the messages that the model got
        turnfold.get(f"/chats/{tavern.chat_id}")     # the server that the extension talks to

A fixture of a test file may say more: `turnfold_settings` (app.settings of the server) and `extension_settings` (of the
extension), both dicts of module scope. What lives how long:

- SillyTavern's server: the whole run, one for each version (`sillytavern`).
- Chromium, the page (`tavern_page`), Turnfold and the scripted model: a test file and version. A page takes 3 to 5 s.
- `tavern` is that page in a new chat of Seraphina, for one test, which fails if the console had an error. Expected
  ones are named: `tavern.expect_errors("net::ERR_FAILED")`.
- `open_tavern(**extension_settings)` opens a page of its own (a second tab, a fresh start) in a context of its own.

No test here may be a coroutine: Playwright's loop runs in the same thread.
"""

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.support import chromium as browsers
from tests.support.fake_model import FakeModel
from tests.support.service import Service, running
from tests.support.tavern import VERSIONS, SillyTavern, installed, serving
from tests.support.tavern_page import TavernPage

IN_CI = os.environ.get("CI") == "true"
OpenTavern = Callable[..., TavernPage]

LOG_CHARS = 4000
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks all tests here; the first of a run also waits for SillyTavern's start."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("sillytavern")
            item.add_marker(pytest.mark.timeout(300))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that does not say otherwise runs in the newest version. It is a parameter for these too: pytest orders by
    parameters, so that a file changes its version once, and only then ends what was there of another version.
    """
    chosen = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    if "version" in metafunc.fixturenames and "version" not in chosen:
        metafunc.parametrize("version", VERSIONS[:1], scope="module")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What SillyTavern's server printed last is told with a failure."""
    report = yield
    tavern = getattr(item, "funcargs", {}).get("sillytavern")
    if report.failed and isinstance(tavern, SillyTavern):
        report.sections.append(("SillyTavern's log", tavern.log[-LOG_CHARS:]))
    return report


@pytest.fixture(scope="session")
def sillytaverns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], SillyTavern]]:
    """The servers by version, each started when it is first asked for."""
    started: dict[str, SillyTavern] = {}
    with ExitStack() as stack:

        def of(version: str) -> SillyTavern:
            if version not in started:
                folder = tmp_path_factory.mktemp(f"sillytavern-{version}-")
                started[version] = stack.enter_context(serving(version, folder))
            return started[version]

        yield of


@pytest.fixture(scope="module")
def sillytavern(version: str, sillytaverns: Callable[[str], SillyTavern]) -> SillyTavern:
    """A running SillyTavern with the extension; skips where there is none, which in CI is a failure."""
    if not IN_CI and not (installed(version) and browsers.found()):
        pytest.skip("No SillyTavern or no Chromium is ready; scripts/test --with-browser gets them (1 GB).")
    return sillytaverns(version)


@pytest.fixture(scope="module")
def browser(sillytavern: SillyTavern) -> Iterator[Browser]:  # noqa: ARG001 - skips where there is none
    """A Chromium."""
    with browsers.chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    """What SillyTavern gets its replies from: says `model.say(...)`, or else something numbered."""
    with FakeModel() as model:
        yield model


@pytest.fixture(scope="module")
def turnfold_settings() -> dict[str, Any]:
    """Settings of the server of this test file."""
    return {}


@pytest.fixture(scope="module")
def extension_settings() -> dict[str, Any]:
    """Settings of the extension in the shared page of this test file."""
    return {}


@pytest.fixture(scope="module")
def turnfold(
    sillytavern: SillyTavern, turnfold_settings: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """The server that the extension talks to."""
    folder = tmp_path_factory.mktemp("turnfold")
    with running(folder, **{"cors_origins": sillytavern.url, **turnfold_settings}) as service:
        yield service


@pytest.fixture(scope="module")
def tavern_page(
    browser: Browser,
    sillytavern: SillyTavern,
    turnfold: Service,
    model: FakeModel,
    extension_settings: dict[str, Any],
) -> Iterator[TavernPage]:
    """The page that the tests of a file share, with Seraphina's chat open."""
    sillytavern.configure(model=model.base_url, turnfold=turnfold.url, **extension_settings)
    page = TavernPage(browser.new_context(viewport={"width": 1280, "height": 900}), sillytavern, model)
    page.open("Seraphina")
    yield page
    page.context.close()


@pytest.fixture
def tavern(tavern_page: TavernPage) -> Iterator[TavernPage]:
    """The shared page in a new chat."""
    tavern_page.model.forget_script()
    tavern_page.fresh()
    yield tavern_page
    _no_errors(tavern_page)


@pytest.fixture
def open_tavern(
    browser: Browser, sillytavern: SillyTavern, turnfold: Service, model: FakeModel
) -> Iterator[OpenTavern]:
    """Opens pages for this test alone: `open_tavern(stream=True, enabled=False)`; settings are written before."""
    pages: list[TavernPage] = []

    def opened(*, stream: bool = False, configure: bool = True, **extension: Any) -> TavernPage:
        if configure:
            sillytavern.configure(model=model.base_url, **{"turnfold": turnfold.url, "stream": stream, **extension})
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        pages.append(TavernPage(context, sillytavern, model))
        return pages[-1]

    yield opened
    for page in pages:
        _no_errors(page)
        page.context.close()


def _no_errors(page: TavernPage) -> None:
    found = page.unexpected()
    assert not found, "errors in the page:\n" + "\n".join(found)
