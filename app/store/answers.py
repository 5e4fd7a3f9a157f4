"""The answers given to Idempotency-Keys, and the claims on those that are being answered.

While `status` is null the row is a claim: `body` holds its owner's token and `created_at` when it was last renewed.
A claim that nobody renews belongs to a process that died, and is free again.
"""

from dataclasses import dataclass
from enum import Enum, auto
from uuid import uuid4

from sqlalchemy import ColumnElement, delete, update
from sqlmodel import Session, col

from app.store.tables import StoredAnswer

KEPT_MS = 24 * 60 * 60 * 1000
LEASE_MS = 2 * 60 * 1000


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to answer a key; `token` tells its owner from a later one."""

    scope: str
    token: bytes


class Refusal(Enum):
    """Why a key is neither ours to answer nor answered."""

    RUNNING = auto()
    OTHER_BODY = auto()


def claim(session: Session, scope: str, body_hash: str, now: int) -> Claim | Answer | Refusal:
    """Take a key, or say what became of it. `now` in milliseconds.

    IntegrityError if another call takes it at the same moment.
    """
    purge(session, now)
    row = session.get(StoredAnswer, scope, with_for_update=True)
    if row is None or (row.status is None and row.created_at <= now - LEASE_MS):
        mine = Claim(scope, uuid4().bytes)
        session.merge(StoredAnswer(scope=scope, body_hash=body_hash, body=mine.token, created_at=now))
        session.flush()
        return mine
    if row.body_hash != body_hash:
        return Refusal.OTHER_BODY
    if row.status is None:
        return Refusal.RUNNING
    return Answer(row.status, dict(row.headers or {}), row.body or b"")


def renew(session: Session, held: Claim, now: int) -> None:
    """Say that the call still runs."""
    session.execute(update(StoredAnswer).where(*_held(held)).values(created_at=now))


def finish(session: Session, held: Claim, answer: Answer, now: int) -> None:
    """Keep the answer; nothing happens if the claim went to another call meanwhile."""
    values = {"status": answer.status, "headers": answer.headers, "body": answer.body, "created_at": now}
    session.execute(update(StoredAnswer).where(*_held(held)).values(**values))


def release(session: Session, held: Claim) -> None:
    """Give the key back unanswered."""
    session.execute(delete(StoredAnswer).where(*_held(held)))


def purge(session: Session, now: int) -> None:
    """Forget the answers that are older than a day."""
    session.execute(delete(StoredAnswer).where(col(StoredAnswer.created_at) < now - KEPT_MS))


def _held(held: Claim) -> tuple[ColumnElement[bool], ...]:
    return (
        col(StoredAnswer.scope) == held.scope,
        col(StoredAnswer.status).is_(None),
        col(StoredAnswer.body) == held.token,
    )
