"""Chats: making, reading, changing and deleting them; and the settings they follow."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlmodel import Session

from app.core.finding import words_of
from app.core.model import Strategy
from app.core.resolving import merge_values, resolve
from app.core.settings import ChatSettings
from app.services.connections import Connections
from app.services.fitting import check_values, check_window
from app.services.noting import note_chat, note_settings, telling_change
from app.services.ports import Runner
from app.services.preconditions import check_etag, etag
from app.services.questions import note_new_server_settings, note_new_settings
from app.services.reading import read_state, require_chat
from app.services.recalling import recall, recall_untaken
from app.services.reporting import CountsView, count_messages
from app.services.retiring import retire
from app.services.switching import Switched, switch
from app.services.viewing import reset_windows
from app.store import chats, jobs
from app.store.clock import from_ms
from app.store.engine import Database
from app.store.tables import Chat


@dataclass(frozen=True, slots=True)
class ChatView:
    """A chat as it is shown. `settings` are its own values, `effective_settings` what is in force; `switched`: what the
    request's switch of strategy means, if it was one.
    """

    id: str
    title: str | None
    user_name: str | None
    character_name: str | None
    strategy: str
    settings: dict[str, Any]
    effective_settings: dict[str, Any]
    parent_chat_id: str | None
    forked_at_message_id: str | None
    memory_version: int
    counts: CountsView | None
    created_at: datetime
    updated_at: datetime
    warnings: list[str]
    revision: int
    switched: Switched | None = None

    @property
    def etag(self) -> str:
        """Changes with title, names, strategy and settings."""
        return etag(self.revision)


@dataclass(frozen=True, slots=True)
class SettingsView:
    """The server-wide settings: those an operator set, and what is in force."""

    settings: dict[str, Any]
    effective_settings: dict[str, Any]


@dataclass(frozen=True)
class Keeping:
    """Keeps chats and settings. Methods raise NotFound, InvalidRequest, Conflict and PreconditionFailed."""

    db: Database
    runner: Runner
    connections: Connections

    def put(self, chat_id: str, fields: Mapping[str, Any], if_match: str | None = None) -> tuple[ChatView, bool]:
        """Create a chat or merge into it; whether it was created."""
        with self.db.write() as session:
            chat = chats.find(session, chat_id)
            created, before = chat is None, chat.revision if chat else None
            check_etag("chat", before, if_match)
            if chat is None:  # with its kind of memory from the start, which is no switch
                chat = chats.add(session, chat_id, {name: fields[name] for name in ("strategy",) if fields.get(name)})
            switched = _change(session, chat, fields)
            session.flush()
            if not created and chat.revision != before:
                note_chat(session, chat)
            check_window(session, self.connections, chat.settings, fields.get("settings"))
            return replace(show_chat(session, chat), switched=switched), created

    def create(self, fields: Mapping[str, Any]) -> ChatView:
        """Create a chat under an id of ours."""
        return self.put(str(uuid4()), fields)[0]

    def patch(self, chat_id: str, fields: Mapping[str, Any], if_match: str | None = None) -> ChatView:
        """Merge into a chat that exists."""
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            before = chat.revision
            check_etag("chat", before, if_match)
            switched = _change(session, chat, fields)
            session.flush()
            if chat.revision != before:
                note_chat(session, chat)
            check_window(session, self.connections, chat.settings, fields.get("settings"))
            return replace(show_chat(session, chat), switched=switched)

    def get(self, chat_id: str) -> ChatView:
        """One chat."""
        with self.db.read() as session:
            return show_chat(session, require_chat(session, chat_id))

    def page(
        self, after: tuple[int, int] | None, limit: int, title: str | None = None, q: str = "", *, counted: bool = True
    ) -> list[tuple[tuple[int, int], ChatView]]:
        """Chats, newest activity first, each with its place in the list: only those that bear a title, and whose id,
        title or names hold every word of `q`. Counting takes as long as the chats are.
        """
        with self.db.read() as session:
            found = chats.page(session, after, limit, title, words_of(q))
            return [((chat.updated_at, chat.key), show_chat(session, chat, counted=counted)) for chat in found]

    async def delete(self, chat_id: str, if_match: str | None = None) -> None:
        """Delete a chat and everything of it for good; what runs on it is cut."""
        job_id = await asyncio.to_thread(self._remove, chat_id, if_match)
        if job_id is not None:
            await self.runner.cancel(job_id)

    def _remove(self, chat_id: str, if_match: str | None) -> str | None:
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            check_etag("chat", chat.revision, if_match)
            job = jobs.active(session, chat.key)
            chats.remove(session, chat.key)
            return job.id if job else None

    def settings(self) -> SettingsView:
        """The server-wide settings."""
        with self.db.read() as session:
            return _show_settings(chats.server_settings(session))

    def patch_settings(self, change: Mapping[str, Any]) -> SettingsView:
        """Merge into the server-wide settings."""
        with self.db.write() as session:
            old = chats.server_settings(session)
            values = merge_values(old, change)
            check_values(values, {}, ["body"])
            chats.save_server_settings(session, values)
            session.flush()
            if values != old:
                note_settings(session, "settings")
            note_new_server_settings(session, old, values)
            recall(session, None, resolve(old, {})[0], resolve(values, {})[0])
            return _show_settings(values)


def show_chat(session: Session, chat: Chat, *, counted: bool = True) -> ChatView:
    """A stored chat as it is shown, with its messages counted or not."""
    settings, warnings = resolve(chats.server_settings(session), chat.settings)
    return ChatView(
        id=chat.id,
        title=chat.title,
        user_name=chat.user_name,
        character_name=chat.character_name,
        strategy=chat.strategy,
        settings=chat.settings,
        effective_settings=as_values(settings, chat.strategy),
        parent_chat_id=chat.parent_chat_id,
        forked_at_message_id=chat.forked_at_message_id,
        memory_version=chat.memory_version,
        counts=count_messages(session, chat) if counted else None,
        created_at=from_ms(chat.created_at),
        updated_at=from_ms(chat.updated_at),
        warnings=warnings,
        revision=chat.revision,
    )


def as_values(settings: ChatSettings, strategy: str = Strategy.LAYERED) -> dict[str, Any]:
    """Settings in force, for a chat of a strategy, as the contract shows them."""
    values = asdict(settings)
    values["layered"]["strip_patterns"] = list(settings.layered.strip_patterns)
    values["layered"]["flush_turns"] = settings.layered.flush
    values["rolling"]["context_size"] = settings.rolling.window
    values["summary_buffer"]["memory_placement"] = settings.placement(Strategy.SUMMARY_BUFFER)
    values["memory_placement"] = settings.placement(strategy)
    return values


def _change(session: Session, chat: Chat, fields: Mapping[str, Any]) -> Switched | None:
    """Merge fields into a chat; what is absent stays. What a switch of its strategy means, if it was one."""
    before = (chat.title, chat.user_name, chat.character_name, chat.strategy, chat.settings)
    for name in ("title", "user_name", "character_name", "parent_chat_id", "forked_at_message_id"):
        if name in fields:
            setattr(chat, name, fields[name])
    if fields.get("settings") is not None:
        chat.settings = merge_values(chat.settings, fields["settings"])
        check_values(chats.server_settings(session), chat.settings, ["body", "settings"])
    with telling_change(session, chat, "strategy"):
        switched = switch(session, chat, fields["strategy"]) if fields.get("strategy") is not None else None
    if (chat.strategy, chat.settings) != before[3:]:
        session.flush()
        with telling_change(session, chat, "settings"):  # another window, or memory that slept while messages went
            state = retire(session, read_state(session, chat))
        former = resolve(chats.server_settings(session), before[4])[0]
        recall(session, chat.key, former, state.settings)
        if chat.strategy == before[3]:
            note_new_settings(state, former)
        if _model_of(state.settings) != _model_of(former):
            reset_windows(session, chat.key)
    if before[1:3] != (chat.user_name, chat.character_name):
        recall_untaken(session, chat.key)  # they name the speakers
    if before != (chat.title, chat.user_name, chat.character_name, chat.strategy, chat.settings):
        chat.revision += 1
    return switched


def _model_of(settings: ChatSettings) -> tuple[str, int]:
    """What a change of lets every trim window begin afresh: in Tryll it is fixed for an agent's life."""
    return settings.rolling.model_name, settings.rolling.window


def _show_settings(values: dict[str, Any]) -> SettingsView:
    return SettingsView(values, as_values(resolve(values, {})[0]))
