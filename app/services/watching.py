"""Watching a chat, a job or all there is: what happens, one thing after another, as the table of events has it."""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session

from app.errors import NotFound
from app.services.lookout import Lookout
from app.services.ports import InThread
from app.services.reading import require_chat
from app.services.working import JobView, show_job
from app.store import chats, events, jobs
from app.store.clock import from_ms
from app.store.engine import Database
from app.store.events import Noted
from app.store.tables import Job

log = structlog.get_logger()

END = "end"
"""The kind of the last thing that happens."""

_AT_ONCE = 100
_DELETED = "The chat was deleted."


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that happened. `key` rises from one to the next: whoever has seen it reads on after it.

    `data` is a job as it was then, or JSON but for aware datetimes.
    """

    key: int
    kind: str
    data: JobView | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """What happened next. `full`: there may be more; `last`: nothing more can happen; `through`: the last key that was
    looked at.
    """

    found: list[Happening]
    full: bool = False
    last: bool = False
    through: int = 0


@dataclass(frozen=True)
class Watch:
    """A place to watch from: what is known at first, and how to read on after a key. No chat: everything is watched."""

    chat_key: int | None
    first: list[Happening]
    after: int
    read: Callable[[int], Page]
    lookout: Lookout
    in_thread: InThread

    @property
    def has_room(self) -> bool:
        """Whether one more may watch, whatever it watches."""
        return self.lookout.has_room

    async def happenings(self) -> AsyncGenerator[Happening]:
        """What happens, as long as anything can and the server runs; close it (`aclosing`) to stop watching.

        It ends early where the database cannot be read: whoever watches begins again after the last key.
        """
        with self.lookout.listening(self.chat_key) as listener:
            for happening in self.first:
                yield happening
            after = self.after
            while True:
                over = listener.over  # then this is the last look
                listener.forget()
                try:
                    page = await self.in_thread(self.read, after)
                except SQLAlchemyError as error:
                    log.warning("watch_ended", error=type(error).__name__)
                    return
                for happening in page.found:
                    yield happening
                    after = happening.key
                after = max(after, page.through)
                if page.last or over:
                    return
                if not page.full:
                    await listener.wait()


@dataclass(frozen=True)
class Watching:
    """Lets chats, jobs and all there is be watched. Nothing is remembered of those who watch: `seen` is the last key
    they saw.
    """

    db: Database
    lookout: Lookout
    in_thread: InThread

    async def chat(self, chat_id: str, seen: int | None) -> Watch:
        """A chat, from now on and with its active job first, or from a key on. Raises NotFound.

        Its last happening is an `end`, if the chat is deleted.
        """
        return await self.in_thread(self._chat, chat_id, seen)

    async def job(self, job_id: str, seen: int | None) -> Watch:
        """A job's progress, from its beginning or from a key on; the last happening is its `end`. Raises NotFound."""
        return await self.in_thread(self._job, job_id, seen)

    async def everything(self, seen: int | None) -> Watch:
        """All chats and the server, from now on or from a key on; it never ends by itself."""
        return await self.in_thread(self._everything, seen)

    def close(self) -> None:
        """Let all watches end: the server does."""
        self.lookout.close()

    async def over(self) -> None:
        """Until the server ends."""
        await self.lookout.closed()

    def _chat(self, chat_id: str, seen: int | None) -> Watch:
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            newest = _newest(session, chat.key)
            job = jobs.active(session, chat.key) if seen is None else None
            first = [Happening(newest, "job", show_job(job, chat_id))] if job is not None else []
            after = newest if seen is None else min(seen, newest)
        read = _ChatReader(self.db, chat.key, chat_id).read
        return Watch(chat.key, first, after, read, self.lookout, self.in_thread)

    def _job(self, job_id: str, seen: int | None) -> Watch:
        with self.db.read() as session:
            job = jobs.by_id(session, job_id)
            chat = chats.get(session, job.chat_key) if job else None
            if job is None or chat is None:
                raise NotFound(f"There is no job {job_id!r}.")
            after = min(seen or 0, _newest(session, chat.key))
            read = _JobReader(self.db, job.key, show_job(job, chat.id)).read
        return Watch(chat.key, [], after, read, self.lookout, self.in_thread)

    def _everything(self, seen: int | None) -> Watch:
        with self.db.read() as session:
            newest = events.newest_of_all(session)
        after = newest if seen is None else min(seen, newest)
        return Watch(None, [], after, _AllReader(self.db).read, self.lookout, self.in_thread)


@dataclass(frozen=True)
class _AllReader:
    """Reads on what happens to all chats and the server."""

    db: Database

    def read(self, after: int) -> Page:
        with self.db.read() as session:
            stretch = events.of_all(session, after, _AT_ONCE)
        return Page([_show_of_all(one) for one in stretch.found], full=stretch.full, through=stretch.through)


@dataclass(frozen=True)
class _ChatReader:
    """Reads on what happens to a chat."""

    db: Database
    chat_key: int
    chat_id: str

    def read(self, after: int) -> Page:
        with self.db.read() as session:
            if chats.get(session, self.chat_key) is None:
                return Page([Happening(after, END, {"reason": _DELETED})], last=True)
            found = events.of_chat(session, self.chat_key, after, _AT_ONCE)
        return Page([_show(one, self.chat_id) for one in found], full=len(found) == _AT_ONCE)


@dataclass
class _JobReader:
    """Reads on how far a job is. `shown`: the job as it was last seen."""

    db: Database
    job_key: int
    shown: JobView

    def read(self, after: int) -> Page:
        with self.db.read() as session:
            # The job first: where each statement sees its own moment, all of an ended job's rows are there by now.
            job = session.get(Job, self.job_key)
            if job is None:
                return Page([Happening(after, END, _deleted(self.shown))], last=True)
            self.shown = show_job(job, self.shown.chat_id)
            found = [_show(one, self.shown.chat_id) for one in events.of_job(session, job.key, after, _AT_ONCE)]
            if len(found) == _AT_ONCE:
                return Page(found, full=True)
            if job.state in jobs.ACTIVE:
                return Page(found)
            last = max(after, _newest(session, job.chat_key))
        return Page([*found, Happening(last, END, self.shown)], last=True)


def _newest(session: Session, chat_key: int) -> int:
    return events.newest(session, [chat_key]).get(chat_key, 0)


def _show(noted: Noted, chat_id: str) -> Happening:
    data: JobView | Mapping[str, Any] = noted.data
    if noted.kind == "job":
        data = show_job(Job(**noted.data), chat_id, noted.created_at)
    elif noted.kind == "error":
        retry_at = noted.data["retry_at"]
        data = {**noted.data, "retry_at": from_ms(retry_at) if retry_at else None}
    return Happening(noted.key, noted.kind, data)


def _show_of_all(noted: Noted) -> Happening:
    """The same, with the chat that it happened to; a job names its own."""
    if noted.chat_id is None:
        return Happening(noted.key, noted.kind, noted.data)
    shown = _show(noted, noted.chat_id)
    if isinstance(shown.data, JobView):
        return shown
    return replace(shown, data={**shown.data, "chat_id": noted.chat_id})


def _deleted(job: JobView) -> JobView:
    """A job whose chat is gone, and it with it: nobody may take it for one that goes on."""
    return replace(job, state="cancelled", reason=_DELETED, finished_at=datetime.now(UTC))
