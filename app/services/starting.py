"""Queueing work on a chat, inside the transaction that causes it."""

from dataclasses import dataclass

from sqlmodel import Session

from app.core.model import Strategy
from app.core.rewrite import Rewrite, Skip
from app.core.underway import Underway
from app.services.choosing import ASKED_FOR, mode_of, one_at_a_time, stronger
from app.services.diagnosing import note_skip
from app.services.failing import JOINED
from app.services.questions import begin
from app.services.reading import ChatState, read_head, read_state
from app.services.remaking import is_remake_due
from app.services.retiring import retire
from app.services.rewriting import check, is_due
from app.store import chats, events, jobs, kept, sessions
from app.store.clock import now_ms
from app.store.engine import Database
from app.store.tables import Chat, Job


def queue(session: Session, state: ChatState, kind: str, batches: int) -> Job:
    """A job on the chat: a new one, or the one that is active, which then does this too."""
    state.chat.retry_at = None
    if stronger(kind, "heal") != "heal":
        begin(state.chat)
    job = jobs.active(session, state.chat.key)
    if job is not None and jobs.is_dead(job):
        jobs.finish(session, job, "interrupted", "The process that ran it ended.")
        session.flush()
        job = None
    if job is None:
        return jobs.add(session, state.chat.key, kind, batches)
    if job.error is not None:  # it begins nothing more: what is wanted now is taken up when it has ended
        job.error = {**job.error, JOINED: True}
    job.kind = stronger(job.kind, kind)
    job.total = max(job.total, job.done + batches)
    return job


def queue_if_due(session: Session, state: ChatState, *, replied: bool | None = None) -> tuple[Job | None, str | None]:
    """A job if folding or healing is due and goes on by itself, else the reason why not.

    A chat whose folding falls due before it holds a backlog never asks about one: what piles up later piles up behind
    an outage or a pause (layered.md, Backlog). `replied`: a reply came in, which one batch of a backlog goes with if
    that is what was chosen, and which rolling memory is checked after; None where that is not known.
    """
    if state.rewrites:
        return _queue_rewrite(session, state, replied=replied)
    state = retire(session, state)
    state.chat.retry_at = None
    due = state.fold() is not None or state.promotion(Underway(), shrink=False) is not None
    if due and not state.has_backlog:
        begin(state.chat)
    if due and state.idle_reason() is None and (replied or not _goes_with_replies(state)):
        batches = 1 if _goes_with_replies(state) else max(1, state.backlog.batches)
        return queue(session, state, "fold", batches), None
    return _queue_remake(session, state)


def _queue_rewrite(session: Session, state: ChatState, *, replied: bool | None) -> tuple[Job | None, str | None]:
    """The same where one summary is written anew; a summary buffer folds before an answer, not after a reply."""
    if state.chat.strategy == Strategy.SUMMARY_BUFFER:
        if (state.chat.retry_at or 0) <= now_ms():  # until then answers do not wait for a fold (services.answering)
            state.chat.retry_at = None
        job, reason = _queue_remake(session, state)
        return job, reason if job or reason != "below_threshold" else "folds_before_the_answer"
    state.chat.retry_at = None
    found = check(state)
    if isinstance(found, Skip) and state.later:
        state = read_state(session, state.chat)
        found = check(state)
    rolling = state.settings.rolling
    if isinstance(found, Rewrite) and state.idle_reason() is None and replied is not False:
        active = jobs.active(session, state.chat.key)
        return queue(session, state, "fold", active.total - active.done + 1 if active else 1), None
    if isinstance(found, Skip) and replied and (rolling.trigger_tokens or rolling.trigger_turns):
        note_skip(session, state.chat, state.settings, state.dialog.size - 1, found)
    job, reason = _queue_remake(session, state)
    if reason == "below_threshold":
        reason = found.reason if isinstance(found, Skip) else "waiting_for_reply"
    return job, reason


def _goes_with_replies(state: ChatState) -> bool:
    return state.chat.backlog_answer == "one" and state.has_backlog


def queue_after_change(session: Session, chat: Chat, *, replied: bool | None = None) -> tuple[Job | None, str | None]:
    """The same, and of a long backlog that waits for an answer or the end of a pause no more is read than its oldest
    turns: with so many visible, the window is whole.
    """
    state = read_head(session, chat)
    if state.later and state.idle_reason() is not None:
        chat.retry_at = None
        return _queue_remake(session, state)
    if state.later and not state.rewrites:
        state = read_state(session, chat)
    return queue_if_due(session, state, replied=replied)


def _queue_remake(session: Session, state: ChatState) -> tuple[Job | None, str | None]:
    """A job for what a person asked to have made anew, pause or not; else for what heals by itself."""
    reason = state.idle_reason()
    if is_remake_due(session, state, unasked=False, asked=True):
        return queue(session, state, "regenerate", 1), None
    if reason is None and is_remake_due(session, state):
        return queue(session, state, "heal", 1), None
    return None, reason or ("waiting_for_reply" if _goes_with_replies(state) else "below_threshold")


@dataclass(frozen=True)
class Starting:
    """Takes up work that was left: after a failure, a restart or a dead process (DESIGN, decision 5). And forgets what
    has been kept long enough.

    What is left is read from the database each time: chats whose `retry_at` has passed, jobs without a live process.
    Without `resume_jobs` a process leaves alone what is not its own.
    """

    db: Database
    resume_jobs: bool

    def wake(self) -> None:
        """A process starts, perhaps with another key or model: what failed before is tried at once."""
        if not self.resume_jobs:
            return
        with self.db.read() as session:
            if not chats.any_failed(session):
                return
        with self.db.write() as session:
            chats.retry_failed(session)

    def recover(self, owner: str) -> list[str]:
        """Queue what is due by now; ids of the jobs that this process is to run. Writes nothing if nothing is due."""
        with self.db.read() as session:
            dead = self.resume_jobs and jobs.any_dead(session)
            due = chats.to_take_up(session, None if self.resume_jobs else owner)
            overdue = kept.any_overdue(session) or events.any_overdue(session) or sessions.any_over(session)
            waiting = jobs.waiting(session) if self.resume_jobs else []
        if dead:
            with self.db.write() as session:
                due += jobs.expire(session)
        if overdue:
            with self.db.write() as session:
                kept.purge(session)
                events.purge(session)
                sessions.purge(session)
        return waiting + [job_id for chat_key in dict.fromkeys(due) if (job_id := self._take_up(chat_key))]

    def _take_up(self, chat_key: int) -> str | None:
        """Go on with what was interrupted, or with what is due after a failure; the job's id, or None."""
        with self.db.write() as session:
            chat = chats.get(session, chat_key)
            if chat is None or chat.retry_at is None or chat.retry_at > now_ms():
                return None  # another process was faster
            state = read_state(session, chat)
            left = jobs.latest(session, chat_key)
            kind = _left_over(left, state) if left is not None else None
            if left is not None and kind is not None:
                return queue(session, state, kind, _batches_left(left, state)).id
            job, _ = queue_if_due(session, state, replied=left is None or not left.done)
            return job.id if job else None


def _left_over(left: Job, state: ChatState) -> str | None:
    """As what kind of job one that was cut, or that failed with work of its own kind left, goes on; None if what is due
    by itself is all there is. A fold that had begun goes on batch by batch, as it would have.
    """
    if state.idle_reason() is not None:
        return None
    began = state.layered and left.kind == "fold" and left.done > 0 and not one_at_a_time(state, left)
    kind = "backlog" if began else left.kind
    if left.state == "interrupted":
        return kind
    goes_on = left.state == "failed" and kind in ASKED_FOR and can_fold(state, kind)
    return kind if goes_on else None


def can_fold(state: ChatState, kind: str) -> bool:
    """Whether a job of a kind that somebody asked for would find something to fold."""
    return is_due(state, forced=True) if state.rewrites else state.fold(mode_of(kind)) is not None


def _batches_left(left: Job, state: ChatState) -> int:
    """How many batches a job has left; one that folds a single batch has none once that is stored."""
    return 0 if left.done and one_at_a_time(state, left) else max(0, left.total - left.done)
