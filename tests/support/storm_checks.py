"""What must hold of a database whose server was killed in the midst of a storm."""

from collections.abc import Callable, Mapping
from pathlib import Path

from sqlalchemy import text

from app.services.repairing import Repairing
from app.store.engine import Database
from tests.support.checks import assert_promises
from tests.support.folded import IdleRunner
from tests.support.provenance import assert_fresh
from tests.support.stored import Stored, copied, read_stored
from tests.support.storm_ledger import Ledger

Made = Mapping[str, tuple[str, list[str]]]

_NO_FAULT = ("degraded", "stale_waiting")


def violations(folder: Path, ledger: Ledger, verbatim_turns: int, made: Made) -> list[str]:
    """What is wrong with a chat; the ledger goes on from what is stored."""
    database = copied(folder / "turnfold.db", folder / "seen")
    if not _is_there(database, ledger.chat):
        return [f"{ledger.chat} is gone"] if ledger.sure else []
    stored = read_stored(database, ledger.chat)
    found = [f"{ledger.chat}: {damage}" for damage in stored.damage]
    wrong = ledger.settle([(row["role"], row["content"], bool(row["hidden"])) for row in stored.messages])
    found += [wrong] if wrong else []
    found += _lost(ledger, stored)
    found += _failures(ledger.chat, lambda: assert_promises(database, ledger.chat, verbatim_turns, shrunk=True))
    found += _failures(ledger.chat, lambda: assert_fresh(database, ledger.chat, made, set()))
    return found + [f"{ledger.chat}: {code}" for code in _findings(database, ledger.chat)]


def _is_there(database: Path, chat: str) -> bool:
    db = Database(f"sqlite:///{database}")
    with db.read() as session:
        found = session.execute(text("SELECT 1 FROM chats WHERE id = :id"), {"id": chat}).first()
    db.dispose()
    return found is not None


def _lost(ledger: Ledger, stored: Stored) -> list[str]:
    """Snippets that were shown and are not there any more, though nothing was asked that takes one away."""
    found = []
    for snippet_id, seen in list(ledger.seen.items()):
        if seen.changes != ledger.changes:
            del ledger.seen[snippet_id]
            continue
        now = stored.snippets.get(snippet_id)
        if now is None or now["state"] not in ("live", "absorbed"):
            found.append(f"{ledger.chat}: snippet {snippet_id} is lost")
        elif seen.text != now["text"] and (ledger.steady or seen.text not in stored.earlier[snippet_id]):
            found.append(f"{ledger.chat}: snippet {snippet_id} says something else")
    return found


def _failures(chat: str, check: Callable[[], None]) -> list[str]:
    try:
        check()
    except AssertionError as error:
        return [f"{chat}: {str(error) or 'a promise is broken'}"]
    return []


def _findings(database: Path, chat: str) -> list[str]:
    db = Database(f"sqlite:///{database}")
    found = Repairing(db, IdleRunner()).repair(chat, dry_run=True)
    db.dispose()
    return [f"{one.code}: {one.detail}" for one in found if one.code not in _NO_FAULT]
