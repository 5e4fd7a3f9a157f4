"""Earlier texts of snippets, and the steps by hand that can be taken back."""

from typing import Any

from sqlalchemy import delete, select
from sqlmodel import Session, col

from app.store.clock import now_ms
from app.store.kept_tables import SnippetVersion, UndoStep
from app.store.tables import Snippet

MOST_STEPS = 100
"""How many steps of a chat are kept; the oldest go first."""


def keep(session: Session, snippet: Snippet, why: str) -> int:
    """Store the text a snippet has, which is about to go; its key. `why`: edit, regenerate, heal or undo."""
    version = SnippetVersion(
        snippet_key=snippet.key,
        why=why,
        text=snippet.text,
        tokens=snippet.tokens,
        edited=snippet.edited,
        stale=snippet.stale,
        degraded=snippet.degraded,
        connection=snippet.connection,
        model=snippet.model,
        replaced_at=now_ms(),
    )
    session.add(version)
    session.flush()
    return version.key


def page(session: Session, snippet_key: int, before: int | None, limit: int) -> list[SnippetVersion]:
    """A snippet's earlier texts, newest first; those older than the one with key `before`, if it is given."""
    query = select(SnippetVersion).where(col(SnippetVersion.snippet_key) == snippet_key)
    if before is not None:
        query = query.where(col(SnippetVersion.key) < before)
    return list(session.execute(query.order_by(col(SnippetVersion.key).desc()).limit(limit)).scalars())


def stale_since(session: Session, version: SnippetVersion) -> bool:
    """Whether what is under the snippet changed while it had this text or a later one, the present one left aside."""
    later = (col(SnippetVersion.snippet_key) == version.snippet_key, col(SnippetVersion.key) >= version.key)
    query = select(col(SnippetVersion.key)).where(*later, col(SnippetVersion.stale).is_(True)).limit(1)
    return session.execute(query).first() is not None


def note_step(
    session: Session,
    chat_key: int,
    kind: str,
    snippet_key: int,
    version_key: int | None = None,
    covered: dict[str, Any] | None = None,
) -> None:
    """Remember a change by hand, so that it can be taken back. `kind`: edit, delete, manual or regenerate."""
    step = UndoStep(
        chat_key=chat_key,
        kind=kind,
        snippet_key=snippet_key,
        version_key=version_key,
        covered=covered,
        made_at=now_ms(),
    )
    session.add(step)
    session.flush()
    _forget_oldest(session, chat_key)


def newest_step(session: Session, chat_key: int, strategy: str) -> UndoStep | None:
    """The last step that changed a snippet of this strategy."""
    query = (
        select(UndoStep)
        .join(Snippet, col(Snippet.key) == col(UndoStep.snippet_key))
        .where(col(UndoStep.chat_key) == chat_key, col(Snippet.strategy) == strategy)
        .order_by(col(UndoStep.key).desc())
        .limit(1)
    )
    return session.execute(query).scalar()


def drop_step(session: Session, key: int) -> None:
    """The step is taken back, or cannot be any more."""
    session.execute(delete(UndoStep).where(col(UndoStep.key) == key))


def _forget_oldest(session: Session, chat_key: int) -> None:
    mine = col(UndoStep.chat_key) == chat_key
    kept = select(col(UndoStep.key)).where(mine).order_by(col(UndoStep.key).desc()).offset(MOST_STEPS).limit(1)
    oldest = session.execute(kept).scalar()
    if oldest is not None:
        session.execute(delete(UndoStep).where(mine, col(UndoStep.key) <= oldest))
