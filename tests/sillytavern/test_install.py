"""The extension from a git address: SillyTavern's own dialog installs it and its own button updates it."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.extension_branch import Checkout
from tests.support.git_server import GitServer
from tests.support.tavern import SillyTavern, both_versions
from tests.support.tavern_page import TavernPage

BRANCH = "sillytavern"
VERSION = "0.1.1"


@pytest.fixture
def bare(sillytavern: SillyTavern) -> Iterator[SillyTavern]:
    """SillyTavern without the extension; it is put back as it was afterwards."""
    folder = sillytavern.home / "extensions" / "turnfold"
    shutil.rmtree(folder)
    yield sillytavern
    shutil.rmtree(folder, ignore_errors=True)
    sillytavern.install_extension()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """The extension's sources."""
    return Checkout(tmp_path / "checkout")


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[GitServer]:
    """Where it is installed from. It outlives the pages: SillyTavern asks for a newer version whenever it likes."""
    with GitServer(tmp_path / "served") as server:
        yield server


@both_versions
def test_install_and_update(
    bare: SillyTavern, checkout: Checkout, tmp_path: Path, forge: GitServer, open_tavern: Callable[..., TavernPage]
) -> None:
    """It is installed from the branch by the dialog, runs, and is newer after the update and a reload."""
    checkout.publish(tmp_path / "served" / "turnfold.git", BRANCH)
    page = open_tavern()
    assert not _runs(page)
    _install(page, f"{forge.url}/turnfold.git")
    _loaded(page)
    _newer(checkout)
    checkout.publish(tmp_path / "served" / "turnfold.git", BRANCH)
    _update(page)
    assert f'"version": "{VERSION}"' in (bare.home / "extensions" / "turnfold" / "manifest.json").read_text()
    page.load()
    assert _runs(page)


def _install(page: TavernPage, address: str) -> None:
    """As a person does: Extensions, Install extension, the address, the branch."""
    page.js("document.querySelector('#third_party_extension_button').click()")
    dialog = page.page.locator("dialog[open]").last
    dialog.locator(".popup-input").fill(address)
    dialog.locator("#extension_branch_name").fill(BRANCH)
    dialog.get_by_text("Install just for me").click()
    if page.tavern.version != "1.13.5":
        page.page.locator("dialog[open]").last.get_by_text("Yes, install it").click()


def _loaded(page: TavernPage) -> None:
    """It begins at once, without a reload."""
    page.until("() => typeof globalThis.turnfoldInterceptor === 'function'", seconds=30)


def _runs(page: TavernPage) -> bool:
    return bool(page.js("typeof globalThis.turnfoldInterceptor === 'function'"))


def _newer(checkout: Checkout) -> None:
    manifest = checkout.folder / "static" / "sillytavern" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"version": "0.1.0"', f'"version": "{VERSION}"'))
    checkout.commit("A newer one")


def _update(page: TavernPage) -> None:
    """Manage extensions, and the button beside ours."""
    page.js("document.querySelector('#extensions_details').click()")
    block = page.page.locator('.extension_block[data-name$="turnfold"]')
    block.locator(".btn_update:not(.displayNone)").click(timeout=30_000)
    page.page.get_by_text("Extension turnfold updated to").or_(
        page.page.get_by_text("turnfold updated to")
    ).first.wait_for()
