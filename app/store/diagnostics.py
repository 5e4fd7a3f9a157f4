"""What was decided after replies, for the newest turns of a chat."""

from typing import Any

from sqlalchemy import delete, select
from sqlmodel import Session, col

from app.store.clock import now_ms
from app.store.view_tables import Diagnosis

MOST = 50
"""How many turns of a chat are kept; the oldest go first."""


def put(session: Session, chat_key: int, turn: int, data: dict[str, Any]) -> None:
    """Keep what was decided after a turn, in place of what was kept of it before."""
    found = of_turn(session, chat_key, turn)
    if found is None:
        session.add(Diagnosis(chat_key=chat_key, turn=turn, data=data, created_at=now_ms()))
        session.flush()
        _forget_oldest(session, chat_key)
    else:
        found.data, found.created_at = data, now_ms()


def of_turn(session: Session, chat_key: int, turn: int) -> Diagnosis | None:
    """What is kept of a turn."""
    mine = (col(Diagnosis.chat_key) == chat_key, col(Diagnosis.turn) == turn)
    return session.execute(select(Diagnosis).where(*mine)).scalar_one_or_none()


def page(session: Session, chat_key: int, after: int, limit: int) -> list[Diagnosis]:
    """What is kept of the turns after one, oldest first."""
    query = select(Diagnosis).where(col(Diagnosis.chat_key) == chat_key, col(Diagnosis.turn) > after)
    return list(session.execute(query.order_by(col(Diagnosis.turn)).limit(limit)).scalars())


def forget(session: Session, chat_key: int) -> None:
    """Nothing is kept of a chat any more."""
    session.execute(delete(Diagnosis).where(col(Diagnosis.chat_key) == chat_key))


def _forget_oldest(session: Session, chat_key: int) -> None:
    mine = col(Diagnosis.chat_key) == chat_key
    kept = select(col(Diagnosis.turn)).where(mine).order_by(col(Diagnosis.turn).desc()).offset(MOST).limit(1)
    oldest = session.execute(kept).scalar()
    if oldest is not None:
        session.execute(delete(Diagnosis).where(mine, col(Diagnosis.turn) <= oldest))
