"""Finding what is wrong with a chat, and putting right what has one right fix."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from sqlmodel import Session

from app.core.chains import examine_chain
from app.core.facts import Ask, Finding, GiveBack
from app.core.invariants import examine
from app.core.model import Strategy
from app.core.resolving import contradictions, resolve_unclamped
from app.core.retirement import turns_to_uncover, window_turns
from app.errors import Conflict
from app.services.noting import note_memory
from app.services.ports import Runner
from app.services.reading import read_history, read_state, require_chat
from app.services.retiring import retire
from app.services.starting import queue, queue_if_due
from app.store import backup, chats, facts, mending, snippets
from app.store.engine import Database
from app.store.tables import Chat

_ROUNDS = 3
"""How often what is left is mended again: giving back can only be planned once all else is well."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """Something that was not as it must be, and whether it is now."""

    code: str
    detail: str
    fixed: bool


@dataclass(frozen=True)
class Repairing:
    """Examines chats and repairs them."""

    db: Database
    runner: Runner

    def repair(
        self, chat_id: str, *, dry_run: bool = True, back_up: Callable[[], object] | None = None
    ) -> list[Repaired]:
        """What is wrong with a chat; unless this is a dry run, what has one right fix is put right.

        Before anything is touched the whole database is copied to a file beside it, unless `back_up` does it another
        way. Raises NotFound, and Conflict where no copy can be made; then nothing has changed.
        """
        with self.db.read() as session:
            found = find(session, require_chat(session, chat_id))
        if dry_run or not any(finding.fix for finding in found):
            return [Repaired(finding.code, finding.detail, fixed=False) for finding in found]
        (back_up or self.back_up)()
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            repaired, job_id = _mend_all(session, chat)
            if any(one.fixed for one in repaired):
                note_memory(session, chat, "repair")
        if job_id is not None:
            self.runner.poke(job_id)
        return repaired

    def back_up(self) -> Path:
        """Copy the database before it is touched; where the copy is. Raises Conflict."""
        try:
            file = backup.file_of(self.db.engine.url.render_as_string(hide_password=False))
            return backup.back_up_before_repair(file)
        except Conflict as error:
            raise Conflict(f"Nothing was changed, because no backup could be made first. {error.detail}") from None


def find(session: Session, chat: Chat) -> list[Finding]:
    """Everything wrong with a chat, in the order it is to be mended."""
    layered = chat.strategy == Strategy.LAYERED
    stored = facts.read_messages(session, chat.key)
    found = examine(stored, facts.read_snippets(session, chat.key), present=layered)
    for strategy in filter(lambda one: one.rewrites, Strategy):
        found += _chain(session, chat, strategy)
    # Which snippets are the newest is not to be told while some reach into each other.
    if layered and not _overlap(found):
        found += _short_window(session, chat)
    return found + _settings(session, chat)


def _chain(session: Session, chat: Chat, strategy: Strategy) -> list[Finding]:
    """The same of memory that is one summary; most chats have none, and their messages are not read again."""
    kept = facts.read_snippets(session, chat.key, strategy)
    if not kept and not facts.any_covered(session, chat.key, strategy):
        return []
    return examine_chain(
        facts.read_messages(session, chat.key, strategy), kept, strategy, present=chat.strategy == strategy
    )


def _overlap(found: Iterable[Finding]) -> bool:
    return any(finding.code == "snippets_overlap" for finding in found)


def _short_window(session: Session, chat: Chat) -> list[Finding]:
    """Too few verbatim turns (layered.md, promise 3)."""
    state = read_history(session, chat)
    wanted = turns_to_uncover(state.view, state.settings.layered)
    if not wanted or not snippets.live(session, chat.key, chat.strategy):
        return []
    detail = (
        f"Only {window_turns(state.view)} of the newest {state.settings.layered.verbatim_turns} turns are verbatim."
        " The newest snippets give way until all of them are; no model is asked."
    )
    return [Finding("window_short", detail, GiveBack())]


def _settings(session: Session, chat: Chat) -> list[Finding]:
    """Settings that do not fit each other. Which of them is meant, only a person can tell."""
    wrong = contradictions(resolve_unclamped(chats.server_settings(session), chat.settings))
    if not wrong:
        return []
    told = "; ".join(f"{strategy}.{name} {what}" for (strategy, name), what in wrong.items())
    detail = f"Settings contradict each other: {told}. The nearest value that fits is used; change one of them."
    return [Finding("settings_contradict", detail)]


def _mend_all(session: Session, chat: Chat) -> tuple[list[Repaired], str | None]:
    """Mend until nothing is left that has a fix: what was found, and the id of the job that is due by it."""
    texts, epoch, version = _texts(session, chat), chat.epoch, chat.memory_version
    seen: dict[str, Finding] = {}
    left = find(session, chat)
    for _ in range(_ROUNDS):
        for finding in left:
            seen.setdefault(finding.code, finding)
            _mend(session, chat, finding)
        left = find(session, chat)
        if not any(finding.fix for finding in left):
            break
    fixes = [finding.fix for finding in seen.values() if finding.fix]
    asked = sum(len(fix.snippets) for fix in fixes if isinstance(fix, Ask))
    changed = not all(isinstance(fix, Ask) for fix in fixes)
    # One step for all of it, whatever giving back has counted.
    chat.epoch = epoch + changed
    chat.memory_version = version + (_texts(session, chat) != texts)
    remaining = {finding.code for finding in left}
    repaired = [Repaired(one.code, one.detail, one.code not in remaining) for one in seen.values()]
    return repaired, _queue(session, chat, asked, changed=changed and not _overlap(left))


def _texts(session: Session, chat: Chat) -> list[str]:
    return [snippet.text for snippet in snippets.live(session, chat.key, chat.strategy)]


def _mend(session: Session, chat: Chat, finding: Finding) -> None:
    if isinstance(finding.fix, GiveBack):
        retire(session, read_state(session, chat))
    elif finding.fix is not None:
        mending.mend(session, chat.key, finding.fix)
    session.flush()
    session.expire_all()  # rows were changed beside the ORM


def _queue(session: Session, chat: Chat, asked: int, *, changed: bool) -> str | None:
    """What is visible again may fold, and what is stale may heal."""
    session.flush()
    state = read_state(session, chat)
    job = None
    if asked and state.settings.enabled:
        chat.held = False
        job = queue(session, state, "regenerate", asked)
        session.flush()
    if changed:
        job = queue_if_due(session, state)[0] or job
    return job.id if job else None
