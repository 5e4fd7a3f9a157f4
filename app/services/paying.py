"""Which turn paid for what of a job that several of them waited for."""

from sqlmodel import Session

from app.core.model import Strategy, Usage
from app.core.resolving import resolve
from app.store import chats, jobs, trees
from app.store.tables import Chat, Job


def share_of(session: Session, chat: Chat, job: Job, place: int) -> Usage:
    """What the `place`-th reply (from 1) paid for that brought a job of rolling memory a fold: that fold.

    The first one also pays for what came to nothing; of other jobs everybody is told the whole.
    """
    whole = jobs.read_usage(job.usage)
    settings = resolve(chats.server_settings(session), chat.settings)[0].rolling
    if chat.strategy != Strategy.ROLLING or job.kind != "fold" or settings.catch_up:
        return whole
    newest = trees.chain(session, chat.key, chat.strategy)[: job.done]
    made = [jobs.read_usage(summary.usage) for summary in reversed(newest)]
    if place > 1:
        return made[place - 1] if place <= len(made) else Usage()
    later = sum(made[1:], Usage())
    return Usage(
        max(0, whole.calls - later.calls),
        max(0, whole.prompt_tokens - later.prompt_tokens),
        max(0, whole.completion_tokens - later.completion_tokens),
    )
