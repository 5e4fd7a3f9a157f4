"""Whose tokens a chat's texts are counted in: those of the model of its connection."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from app.core.resolving import resolve_unclamped
from app.core.settings import ChatSettings
from app.services.connections import Connections
from app.services.ports import Counter, Counters
from app.store import chats
from app.store.engine import Database
from app.store.tables import Chat


@dataclass(frozen=True)
class ChatCounters:
    """The counter of each chat. What is stored keeps its count when the chat gets another model later."""

    db: Database
    connections: Connections
    counters: Counters

    def counter_for(self, session: Session, settings: ChatSettings) -> Counter:
        """Under these settings; one small query. Chats whose models are of one family get the same object."""
        return self.counters.of(self.connections.counted_model(session, settings.connection))

    def of_chat(self, session: Session, chat: Chat) -> Counter:
        """Of a chat that is at hand."""
        return self._under(session, chats.server_settings(session), chat.settings)

    def ahead(self, chat_id: str) -> Counter:
        """Of a chat, before the transaction that stores: others should not wait for counting.

        A chat that is not there yet follows the server's settings.
        """
        with self.db.read() as session:
            return self._under(session, *chats.settings_of(session, chat_id))

    def of_new(self, own: Mapping[str, Any]) -> Counter:
        """Of a chat that is to be stored with these settings of its own."""
        with self.db.read() as session:
            return self._under(session, chats.server_settings(session), own)

    def _under(self, session: Session, server: Mapping[str, Any], own: Mapping[str, Any]) -> Counter:
        return self.counter_for(session, resolve_unclamped(server, own))
