"""Who says the messages of a prompt: names before the text, in a field of their own, or not at all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlmodel import Session

from app.core.model import Message, Strategy
from app.formats.prompt_formats import Format, Said
from app.services.asking import speaker
from app.services.projection_query import Names, ProjectionQuery
from app.services.reading import ChatState
from app.store import counting, speakers
from app.store.messages import Content
from app.store.tables import Chat

_GROUP = 3
"""From so many speakers on, `names` auto says who speaks."""
_SPEAKING = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Voices:
    """The speakers of a chat, as one prompt shows them. `names` is never auto here."""

    chat: Chat
    names: Names
    format: Format

    def stored(self, sent: Iterable[Message], texts: Mapping[int, Content]) -> list[Said]:
        """The messages of a plan; one that was deleted since it was planned is missing."""
        return [self.said(texts[message.key]) for message in sent if message.key in texts]

    def said(self, message: Content) -> Said:
        """One message."""
        role, content = message.role, message.content
        labelled = self.format == "text" and role != "system"
        who = self._who(message) if labelled or self.names == "prefix" else ""
        if self.names == "prefix" and not labelled and content is not None and role in _SPEAKING:
            content = f"{who}: {content}"
        name = message.name if self.names == "field" else None
        return Said(role, content, name, message.tool_calls, message.tool_call_id, who if labelled else "")

    def _who(self, message: Content) -> str:
        return speaker(self.chat.user_name, self.chat.character_name, message.role, message.name)


def voices(session: Session, state: ChatState, query: ProjectionQuery) -> Voices:
    """How a request names the speakers of a chat."""
    format: Format = query.format or "openai"
    wanted: Names = query.names or state.settings.names
    if wanted == "auto":
        # A plain text says who speaks anyway.
        wanted = "prefix" if format != "text" and _is_group(session, state.chat, query.omit_authors) else "none"
    return Voices(state.chat, wanted, format)


def omitted(session: Session, state: ChatState, authors: Sequence[str] | None) -> frozenset[int]:
    """Keys of the messages of these authors, covered ones only where they do not matter; who bears no name goes by the
    chat's name for the role.
    """
    if not authors:
        return frozenset()
    chat, wanted = state.chat, _as_shown(authors)
    roles = [role for role in _SPEAKING if speaker(chat.user_name, chat.character_name, role, None) in wanted]
    every = state.settings.replays_all or state.supposed is not None
    strategy = Strategy.NONE if every else chat.strategy
    return speakers.uncovered_of(session, chat.key, strategy, {*authors, *wanted}, roles)


def _as_shown(authors: Iterable[str]) -> set[str]:
    return {" ".join(name.split()) for name in authors}


def _is_group(session: Session, chat: Chat, unseen: Sequence[str] | None) -> bool:
    left_out = {*(unseen or ()), *_as_shown(unseen or ())}
    user, assistant = (speaker(chat.user_name, chat.character_name, role, None) for role in _SPEAKING)
    return counting.count_speakers(session, chat.key, user, assistant, _GROUP, left_out) >= _GROUP
