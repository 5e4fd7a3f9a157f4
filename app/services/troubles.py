"""What can be wrong with a database outside its chats, and what puts it right."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from sqlmodel import Session

from app.core.facts import count, listed
from app.store import integrity, jobs, kept

_KEPT_DAYS = kept.KEPT_MS // (24 * 60 * 60 * 1000)
_LEFT_OVER = ("undo_steps", "snippet_versions", "jobs", "events", "views", "diagnostics")
"""Tables whose rows say nothing once what they point at is gone: deleting that deletes them too."""

RESTORE = "Restore a backup (turnfold restore); without one, `sqlite3 FILE .recover` saves what can be read."
"""What to do about a file that is damaged."""

_OF_CHATS = {("messages", "snippets"), ("snippets", "snippets")}


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that is wrong; `mend` is the one right way to change that, if there is one."""

    code: str
    detail: str
    mend: Callable[[Session], object] | None = None


def look(session: Session) -> list[Trouble]:
    """Everything that is wrong; of a file that is damaged no more than that."""
    damage = integrity.check(session.connection())
    found = list(_damage(damage))
    if damage.broken:
        return found
    return [*found, *_orphans(session), *_indexes(session), *_jobs(session), *_kept(session)]


def _damage(damage: integrity.Damage) -> Iterable[Trouble]:
    if damage.broken:
        yield Trouble("database_damaged", f"The file is damaged: {listed(damage.broken)}. {RESTORE}")
    if damage.indexes:
        yield Trouble(
            "indexes_damaged",
            f"Indexes do not fit their tables: {listed(damage.indexes)}. They are built anew.",
            lambda session: integrity.rebuild_indexes(session.connection()),
        )
    if damage.search:
        yield _SEARCH
    if damage.rows:
        yield Trouble(
            "rows_wrong",
            f"Rows break rules of their tables: {listed(damage.rows)}. What the chats' own findings say of them puts"
            " them right.",
        )


def look_at_search(session: Session) -> Iterable[Trouble]:
    """The index of words; the session must be one that may write."""
    connection = session.connection()
    if integrity.has_search(connection) and not integrity.is_search_sound(connection):
        yield _SEARCH


_SEARCH = Trouble(
    "search_damaged",
    "The search index does not fit the texts. It is filled anew from them.",
    lambda session: integrity.refill_search(session.connection()),
)


def _orphans(session: Session) -> Iterable[Trouble]:
    """What points at a snippet that is not there is the chats' matter."""
    found = [row for row in integrity.orphans(session.connection()) if (row[0], row[2]) not in _OF_CHATS]
    useless = [row for row in found if row[0] in _LEFT_OVER]
    lost = [row for row in found if row[0] not in _LEFT_OVER]
    if useless:
        names = listed(sorted({row[0] for row in useless}))
        detail = f"{count(len(useless), 'row')} of {names} left over from what is deleted. They go."
        yield Trouble("rows_left_over", detail, lambda session: integrity.delete_rows(session.connection(), useless))
    if lost:
        names = listed(sorted({f"{table} without {other}" for table, _, other in lost}))
        yield Trouble(
            "rows_lost",
            f"{count(len(lost), 'row')} that nothing leads to any more ({names}). They stay: whether they are of use,"
            " only a person can tell; a backup may hold what is missing.",
        )


def _indexes(session: Session) -> Iterable[Trouble]:
    missing = integrity.missing_indexes(session.connection())
    if missing:
        detail = f"The database lacks indexes: {listed(index.name for index in missing)}."
        build = partial(integrity.build_indexes, missing)
        yield Trouble("indexes_missing", f"{detail} They are built.", lambda session: build(session.connection()))


def _jobs(session: Session) -> Iterable[Trouble]:
    dead = integrity.dead_jobs(session)
    if dead:
        detail = f"{count(len(dead), 'job')} noted as running, but the process has ended. The work is taken up again."
        yield Trouble("jobs_dead", detail, _interrupt)


def _interrupt(session: Session) -> None:
    for job in integrity.dead_jobs(session):
        jobs.interrupt(session, job, "The process that ran it ended.")


def _kept(session: Session) -> Iterable[Trouble]:
    overdue = integrity.count_overdue(session)
    if overdue:
        detail = f"{count(overdue, 'deleted or overwritten message')} kept for more than {_KEPT_DAYS} days. They go."
        yield Trouble("kept_overdue", detail, kept.purge)
