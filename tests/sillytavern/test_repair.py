"""Repair from SillyTavern's page: it tells what it found, asks, and then puts it right."""

from typing import Any
from uuid import uuid4

from playwright.sync_api import Locator

from tests.support.damage import backups, hurt
from tests.support.service import Service
from tests.support.tavern import both_versions, line
from tests.support.tavern_page import TavernPage

TOTAL = 45
HIDDEN_THERE = (4, 5, 9)
HIDDEN_BY_PERSON = 7
COMMENT = 11
REPAIR = "void SillyTavern.getContext().executeSlashCommandsWithOptions('/sc-repair')"


def _lines(*hidden_there: int) -> list[dict[str, Any]]:
    """A chat with messages that Summaryception hid, one that a person hid, and a comment."""
    lines = [line("assistant" if n % 2 == 0 else "user", f"Line {n}.") for n in range(TOTAL)]
    for place in hidden_there:
        lines[place].update(is_system=True, extra={"sc_ghosted": True})
    lines[HIDDEN_BY_PERSON]["is_system"] = True
    lines[COMMENT].update(is_system=True, extra={"type": "comment"})
    return lines


def _open(tavern: TavernPage, turnfold: Service, *hidden_there: int) -> None:
    """Such a chat, synced, and folded unasked."""
    turnfold.patch("/settings", {"on_backlog": "all"})
    tavern.open_chat(tavern.tavern.seed_chat("Seraphina", f"to repair {uuid4()}", _lines(*hidden_there)))
    tavern.until(
        "async () => (await import('/scripts/extensions/third-party/turnfold/session.js')).session.phase === 'ready'"
    )
    turnfold.settled(tavern.chat_id)
    turnfold.patch("/settings", {"on_backlog": None})


def _ask(tavern: TavernPage) -> Locator:
    """The dialog that `/sc-repair` shows."""
    tavern.js(REPAIR)
    dialog = tavern.page.locator("dialog[open] .turnfold-repair")
    dialog.wait_for(timeout=30_000)
    return dialog


def _hidden(tavern: TavernPage) -> list[int]:
    return [place for place, message in enumerate(tavern.chat) if message["is_system"]]


def _toast(tavern: TavernPage, text: str) -> None:
    tavern.page.locator(".toast-message").get_by_text(text).first.wait_for(timeout=30_000)


def test_all_is_well(tavern: TavernPage, turnfold: Service) -> None:
    """Of a sound chat it says so, and touches nothing."""
    _open(tavern, turnfold)
    tavern.js(REPAIR)
    _toast(tavern, "All is well")
    assert _hidden(tavern) == [HIDDEN_BY_PERSON, COMMENT]


@both_versions
def test_hidden_by_nobody(tavern: TavernPage, turnfold: Service) -> None:
    """What Summaryception left hidden is named; it is shown again only if one agrees, in page and file."""
    _open(tavern, turnfold, *HIDDEN_THERE)
    everything = sorted([*HIDDEN_THERE, HIDDEN_BY_PERSON, COMMENT])
    dialog = _ask(tavern)
    assert "3 messages" in dialog.inner_text()
    tavern.page.locator("dialog[open] .popup-button-ok").click()
    tavern.until("() => !document.querySelector('dialog[open]')")
    assert _hidden(tavern) == everything
    _ask(tavern).locator("[data-choice=repair]").click()
    _toast(tavern, "3 messages shown again")
    assert _hidden(tavern) == [HIDDEN_BY_PERSON, COMMENT]
    stored = tavern.file()[1:]
    assert [place for place, message in enumerate(stored) if message["is_system"]] == [HIDDEN_BY_PERSON, COMMENT]
    assert tavern.js("[...document.querySelectorAll('#chat .mes[is_system=\"true\"]')].length") == 2


def test_damaged_memory(tavern: TavernPage, turnfold: Service) -> None:
    """What the server finds is told, and put right once one agrees, with a copy of the database made before."""
    _open(tavern, turnfold)
    of_chat = f"chat_key = (SELECT key FROM chats WHERE id = '{tavern.chat_id}')"
    hurt(turnfold.database, f"UPDATE messages SET layered_leaf = 9999 WHERE position IN (5, 6) AND {of_chat}")
    dialog = _ask(tavern)
    assert dialog.locator("li").count() >= 1
    dialog.locator("[data-choice=repair]").click()
    _toast(tavern, "put right")
    assert backups(turnfold.database)
    turnfold.settled(tavern.chat_id)
    found = turnfold.post(f"/chats/{tavern.chat_id}/repair", {"dry_run": True}).json()["findings"]
    assert found == []


def test_in_a_pipe(tavern: TavernPage, turnfold: Service) -> None:
    """With quiet=true the server's own text is handed on and nobody is asked."""
    _open(tavern, turnfold, *HIDDEN_THERE)
    assert tavern.command("/sc-repair quiet=true")
    assert tavern.page.locator("dialog[open]").count() == 0
    assert len(_hidden(tavern)) == len(HIDDEN_THERE) + 2
