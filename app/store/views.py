"""Reading and writing views of chats."""

from typing import Any

from sqlalchemy import delete, select, update
from sqlmodel import Session, col

from app.store.clock import now_ms
from app.store.engine import changed
from app.store.view_tables import View


def find(session: Session, chat_key: int, name: str) -> View | None:
    """One view."""
    query = select(View).where(col(View.chat_key) == chat_key, col(View.name) == name)
    return session.execute(query).scalar_one_or_none()


def page(session: Session, chat_key: int, offset: int, limit: int) -> list[View]:
    """Views of a chat by name."""
    query = select(View).where(col(View.chat_key) == chat_key).order_by(col(View.name)).offset(offset).limit(limit)
    return list(session.execute(query).scalars())


def add(session: Session, chat_key: int, name: str, options: dict[str, Any]) -> View:
    """A new view, without a window."""
    now = now_ms()
    view = View(chat_key=chat_key, name=name, options=options, created_at=now, updated_at=now)
    session.add(view)
    session.flush()
    return view


def remove(session: Session, view: View) -> None:
    """Forget a view."""
    session.execute(delete(View).where(col(View.key) == view.key))


def with_windows(session: Session, chat_key: int) -> list[View]:
    """The views of a chat that keep a window."""
    query = select(View).where(col(View.chat_key) == chat_key, col(View.window).is_not(None))
    return list(session.execute(query).scalars())


def keep_window(session: Session, view_key: int, window: dict[str, Any]) -> None:
    """Keep where a view's window begins; that is no change of the view."""
    changed(session, update(View).where(col(View.key) == view_key).values(window=window))


def copy(session: Session, source: int, target: int) -> None:
    """Give one chat the views of another that it has no views of its own for; windows stay where they are."""
    own = set(session.execute(select(col(View.name)).where(col(View.chat_key) == target)).scalars())
    theirs = session.execute(select(View).where(col(View.chat_key) == source).order_by(col(View.key))).scalars().all()
    for view in theirs:
        if view.name not in own:
            add(session, target, view.name, view.options)
