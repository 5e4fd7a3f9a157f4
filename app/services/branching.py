"""Branches: a new chat that begins as another one does, with the memory of what they share."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from sqlmodel import Session

from app.core.branching import carry, last_to_cover
from app.core.model import Message, Strategy
from app.core.resolving import resolve
from app.errors import Conflict, NotFound
from app.services.keeping import ChatView, show_chat
from app.services.noting import note_history
from app.services.reading import require_chat
from app.services.recording import Draft
from app.store import branching, chats, messages, views
from app.store.engine import Database
from app.store.tables import Chat


@dataclass(frozen=True)
class Branching:
    """Forks chats. No model is asked, and the parent stays as it is."""

    db: Database

    def fork(self, chat_id: str, new_id: str | None = None, at_message_id: str | None = None) -> ChatView:
        """A new chat with the history up to and with a message (the newest if none is named), and its memory.

        Raises NotFound for a chat or message that is not there, Conflict when `new_id` is taken.
        """
        with self.db.write() as session:
            parent = require_chat(session, chat_id)
            upto = _place_of(session, parent, at_message_id)
            if new_id is not None and chats.find(session, new_id):
                raise Conflict(f"There is a chat {new_id!r} already; fork under another id, or delete it first.")
            child = chats.add(session, new_id or str(uuid4()), {"strategy": parent.strategy})
            inherit(session, parent, child, upto)
            session.flush()
            if upto >= 0:
                note_history(session, child, "fork", upto + 1)
            return show_chat(session, child)


def inherit(session: Session, parent: Chat, child: Chat, upto: int, following: Sequence[Draft] = ()) -> None:
    """Let a chat that is still empty begin with its parent's history up to index `upto` and the memory of that.

    `following` are the messages that the child will have after these: memory stays outside the newest turns of both
    together. The child keeps its strategy, and its own settings, names and views where it has them.
    """
    _fill(child, parent)
    child.parent_chat_id = parent.id
    child.forked_at_message_id = messages.id_at(session, parent.key, upto) if upto >= 0 else None
    session.flush()
    settings = resolve(chats.server_settings(session), child.settings)[0]
    windows = {
        Strategy.LAYERED: settings.layered.verbatim_turns,
        Strategy.ROLLING: settings.rolling.keep_recent_turns,
        Strategy.SUMMARY_BUFFER: (settings.summary_buffer.recent_messages_to_keep + 1) // 2,  # in turns
    }
    for strategy in Strategy:
        nodes, window = branching.nodes(session, parent.key, strategy), windows.get(strategy, 0)
        bounded = nodes and window
        last = min(upto, _last_to_cover(session, parent, upto, following, window)) if bounded else upto
        carried = carry(nodes, last)
        branching.copy_snippets(session, child.key, carried)
        if carried.live and strategy == child.strategy:
            child.memory_version += 1
    branching.copy_versions(session, parent.key, child.key)
    branching.copy_messages(session, parent.key, child.key, upto)
    views.copy(session, parent.key, child.key)
    child.epoch += 1


def _place_of(session: Session, chat: Chat, message_id: str | None) -> int:
    """The index of a message, of the newest one if none is named; -1 in an empty chat."""
    if message_id is None:
        return chats.count_messages(session, chat.key) - 1
    found = messages.by_ids(session, chat.key, [message_id]).get(message_id)
    if found is None:
        raise NotFound(f"There is no message {message_id!r} in chat {chat.id!r}.")
    return found.position


def _fill(child: Chat, parent: Chat) -> None:
    """Give the child what it has no value of its own for; of settings one object per strategy, whole."""
    before = _shown(child)
    for name in ("title", "user_name", "character_name", "backlog_answer", "extra"):
        if getattr(child, name) is None:
            setattr(child, name, getattr(parent, name))
    child.settings = {**parent.settings, **child.settings}
    child.revision += 1 if _shown(child) != before else 0


def _shown(chat: Chat) -> tuple[object, ...]:
    """What the ETag of a chat stands for."""
    return chat.title, chat.user_name, chat.character_name, chat.settings


def _last_to_cover(session: Session, parent: Chat, upto: int, following: Sequence[Draft], verbatim_turns: int) -> int:
    """The last index that memory of the child may cover. No more of a long history is read than its newest turns."""
    total, most = upto + 1 + len(following), 4 * verbatim_turns + 16
    while True:
        later = following[max(0, len(following) - most) :]
        known = branching.newest(session, parent.key, upto, most - len(later))
        known += [_as_message(draft, total - len(later) + place) for place, draft in enumerate(later)]
        last = last_to_cover(known, total, verbatim_turns)
        if last is not None:
            return last
        most *= 2


def _as_message(draft: Draft, index: int) -> Message:
    return Message(
        key=-1 - index,  # not stored yet
        index=index,
        role=draft.role,
        tokens=0,
        blank=draft.blank,
        hidden=draft.hidden,
        pinned=draft.pinned,
        omitted=draft.omitted,
        calls=tuple(str(call.get("id")) for call in draft.tool_calls or ()),
        answers=draft.tool_call_id,
    )
