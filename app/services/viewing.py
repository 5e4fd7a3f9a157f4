"""Views: how one consumer of a chat sees it, and where its window begins (rolling-and-buffer.md, Projection)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlmodel import Session

from app.core.errors import BudgetError
from app.core.model import Strategy
from app.core.trim import resolve_budget
from app.core.window import Coverage, Window, newer, reopened, window_from_json
from app.errors import InvalidRequest, NotFound
from app.services.framing import Frame
from app.services.preconditions import check_etag, etag
from app.services.reading import ChatState, require_chat
from app.store import views
from app.store.clock import from_ms, now_ms
from app.store.engine import Database
from app.store.tables import Chat
from app.store.view_tables import View


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """What a view asks for where the request says nothing; None: nothing, as if there were no view.

    `omit_authors`: names whose messages are left out. Sizes are tokens.
    """

    system_prompt: str | None = None
    context_size: int | None = None
    max_tokens: int | None = None
    memory_placement: str | None = None
    format: str | None = None
    names: str | None = None
    tool_history: str | None = None
    omit_authors: tuple[str, ...] | None = None
    frame: Frame | None = None


_OPTIONS = tuple(field.name for field in fields(ViewOptions))
_COSTLESS = frozenset({"format", "frame"})
"""Options that change nothing of what the past costs."""


@dataclass(frozen=True, slots=True)
class ViewView:
    """A view as it is shown: its options, None where it has none."""

    name: str
    system_prompt: str | None
    context_size: int | None
    max_tokens: int | None
    memory_placement: str | None
    format: str | None
    names: str | None
    tool_history: str | None
    omit_authors: list[str] | None
    frame: dict[str, Any] | None
    created_at: datetime
    updated_at: datetime
    revision: int

    @property
    def etag(self) -> str:
        """Changes with the options."""
        return etag(self.revision)


@dataclass(frozen=True)
class Viewing:
    """Keeps views. Methods raise NotFound, InvalidRequest and PreconditionFailed."""

    db: Database

    def put(
        self, chat_id: str, name: str, change: Mapping[str, Any], if_match: str | None = None
    ) -> tuple[ViewView, bool]:
        """Make a view or merge into it; a null takes an option away. Whether it was made.

        Other sizes, or other costs of what is sent, let its window begin afresh.
        """
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            view = views.find(session, chat.key, name)
            check_etag("view", view.revision if view else None, if_match)
            options = _merged(view.options if view else {}, change)
            _check_sizes(options)
            if view is not None:
                _change(view, options)
                session.flush()
                return _show(view), False
            return _show(views.add(session, chat.key, name, options)), True

    def get(self, chat_id: str, name: str) -> ViewView:
        """One view."""
        with self.db.read() as session:
            return _show(_require(session, require_chat(session, chat_id), name))

    def page(self, chat_id: str, offset: int, limit: int) -> list[ViewView]:
        """The views of a chat by name."""
        with self.db.read() as session:
            return [_show(view) for view in views.page(session, require_chat(session, chat_id).key, offset, limit)]

    def delete(self, chat_id: str, name: str, if_match: str | None = None) -> None:
        """Forget a view and its window."""
        with self.db.write() as session:
            view = _require(session, require_chat(session, chat_id), name)
            check_etag("view", view.revision, if_match)
            views.remove(session, view)


@dataclass(frozen=True, slots=True)
class KeptView:
    """A view as a request reads it; `window` None before its first POST. `key` and `revision` are the store's."""

    key: int
    revision: int
    options: ViewOptions
    window: Window | None


def read_view(session: Session, chat: Chat, name: str) -> KeptView:
    """The view a request names. Raises NotFound."""
    view = _require(session, chat, name)
    return KeptView(view.key, view.revision, options_from(view.options), window_from_json(view.window))


def options_from(values: Mapping[str, Any]) -> ViewOptions:
    """Stored options as a request uses them."""
    found = {name: value for name, value in values.items() if name in _OPTIONS}
    if "omit_authors" in found:
        found["omit_authors"] = tuple(found["omit_authors"])
    if "frame" in found:
        found["frame"] = Frame(**found["frame"])
    return ViewOptions(**found)


def coverage_of(state: ChatState) -> Coverage:
    """What the memory in a prompt stands for; `state` as it was read for that prompt."""
    strategy = Strategy.NONE if state.settings.replays_all else state.chat.strategy
    return Coverage(str(strategy), state.chat.memory_version, state.total - len(state.uncovered), state.last_covered)


def keep_window(db: Database, view: KeptView, window: Window) -> None:
    """Keep what a POST left for the view's next one; nothing where the view was changed or deleted meanwhile."""
    if window == view.window:
        return
    with db.write() as session:
        present = session.get(View, view.key)
        if present is None or present.revision != view.revision:
            return
        stored = window_from_json(present.window)
        kept = window if stored == view.window else newer(stored, window)
        views.keep_window(session, view.key, kept.as_json())


def reset_windows(session: Session, chat_key: int) -> None:
    """Let the windows of all views of a chat begin afresh, as after a change of its rolling model or window."""
    for view in views.with_windows(session, chat_key):
        _reopen(view)


def _require(session: Session, chat: Chat, name: str) -> View:
    view = views.find(session, chat.key, name)
    if view is None:
        raise NotFound(f"Chat {chat.id!r} has no view {name!r}. PUT /v1/chats/{{chat_id}}/views/{{name}} makes it.")
    return view


def _merged(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**base, **change}.items() if value is not None}


def _check_sizes(options: Mapping[str, Any]) -> None:
    try:
        resolve_budget(options.get("context_size"), options.get("max_tokens"))
    except BudgetError as error:
        raise InvalidRequest(str(error), [{"loc": ["body", "max_tokens"], "msg": str(error)}]) from error


def _change(view: View, options: dict[str, Any]) -> None:
    changed = {name for name in _OPTIONS if view.options.get(name) != options.get(name)}
    if not changed:
        return
    view.options, view.updated_at = options, now_ms()
    view.revision += 1
    if changed - _COSTLESS:
        _reopen(view)


def _reopen(view: View) -> None:
    window = window_from_json(view.window)
    view.window = reopened(window).as_json() if window else None


def _show(view: View) -> ViewView:
    return ViewView(
        name=view.name,
        **{name: view.options.get(name) for name in _OPTIONS},
        created_at=from_ms(view.created_at),
        updated_at=from_ms(view.updated_at),
        revision=view.revision,
    )
