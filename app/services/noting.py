"""What is told of chats and of memories that grow: events, written in the transaction that changes them. Never what was
said, but for the summary of rolling memory where `notify_client` asks for it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from sqlmodel import Session

from app.core.folding import Fold
from app.core.model import Snippet as CoreSnippet
from app.core.model import Strategy
from app.core.resolving import resolve
from app.core.rewrite import Rewrite
from app.store import chats, events, jobs, messages, placing, snippets
from app.store.clock import now_ms
from app.store.tables import Chat, Job, Snippet


@contextmanager
def telling_change(session: Session, chat: Chat, why: str) -> Iterator[None]:
    """Whoever watches the chat is told if what is done in here changes the memory that is sent."""
    before = chat.memory_version
    yield
    if chat.memory_version != before:
        note_memory(session, chat, why)


def note_memory(session: Session, chat: Chat, why: str, job: Job | None = None) -> None:
    """Snippets have another text or other marks, whether they are sent or are parts of those that are."""
    session.flush()
    told = {"why": why, "memory_version": chat.memory_version}
    events.add(session, chat.key, "memory", told, None if job is None else job.key)


def note_history(session: Session, chat: Chat, why: str, messages_now: int | None = None) -> None:
    """Messages came, went or changed; how many there are now is told too, and counted where it is not given."""
    now = chats.count_messages(session, chat.key) if messages_now is None else messages_now
    events.add(session, chat.key, "history", {"why": why, "messages": now})


def note_chat(session: Session, chat: Chat) -> None:
    """Title, names, settings or kind of memory of a chat are others, or it was paused, stopped or resumed."""
    events.add(session, chat.key, "chat", {"why": "changed"})


def note_settings(session: Session, why: str) -> None:
    """The server's `settings` are others, or its `connections`."""
    events.add(session, None, "settings", {"why": why})


def note_progress(session: Session, job: Job) -> None:
    """A batch of a job is done, and counted."""
    now = jobs.progress_of(job, now_ms())
    events.add(session, job.chat_key, events.PROGRESS, {**asdict(now), "usage": job.usage}, job.key)


def note_fold(session: Session, chat: Chat, job: Job, fold: Fold, snippet: Snippet) -> None:
    """Turns were folded into a snippet. `covered_through` is the newest covered message, under whatever snippet."""
    index = placing.last_covered(session, chat.key, snippet.strategy)
    through = None if index is None else {"message_id": messages.id_at(session, chat.key, index), "index": index}
    told = {
        "covered_through": through,
        "folded_turns": len(fold.turns),
        "summary_chars": len(snippet.text),
        "snippet_id": snippet.id,
        "layer": snippet.layer,
        "memory_version": chat.memory_version,
    }
    events.add(session, chat.key, "summarized", told, job.key)


def note_rewrite(session: Session, chat: Chat, job: Job, plan: Rewrite, snippet: Snippet) -> None:
    """One summary was written anew. Rolling memory tells how where `notify_client` is on, as Tryll's node does: with
    the index of the newest turn covered, and the text itself; else only that it is another one now.
    """
    told: dict[str, Any] = {
        "covered_through": plan.covered_through,
        "folded_turns": len(plan.turns),
        "summary_chars": len(snippet.text),
    }
    if snippet.strategy == Strategy.ROLLING:
        _, server = chats.surroundings(session, chat.key)
        if resolve(server, chat.settings)[0].rolling.notify_client:
            events.add(session, chat.key, "summarized", {**told, "summary_text": snippet.text}, job.key)
        else:
            note_memory(session, chat, "fold", job)
        return
    more = {"snippet_id": snippet.id, "layer": snippet.layer, "memory_version": chat.memory_version}
    events.add(session, chat.key, "summarized", {**told, **more}, job.key)


def note_promotion(session: Session, chat: Chat, job: Job, sources: Sequence[CoreSnippet], snippet: Snippet) -> None:
    """Snippets went on to a layer: one as it was (`seed`), or several that became one (`merge`)."""
    ids = snippets.ids_of(session, [source.key for source in sources])
    told = {
        "snippet_id": snippet.id,
        "from_layer": sources[0].layer,
        "layer": snippet.layer,
        "kind": snippet.kind,
        "sources": [ids[source.key] for source in sources],
        "memory_version": chat.memory_version,
    }
    events.add(session, chat.key, "promoted", told, job.key)
