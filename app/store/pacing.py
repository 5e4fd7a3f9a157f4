"""How long jobs still take, from how fast the newest lines of memory came."""

from sqlmodel import Session

from app.core.estimate import count_merges
from app.core.pace import Finished, pace, span_of, time_left
from app.core.resolving import resolve
from app.core.settings import LayeredSettings
from app.store import chats, sizes
from app.store.tables import Chat, Job


def seconds_left(session: Session, job: Job, at: int) -> float | None:
    """What a running job still takes, in seconds, `at` a moment (epoch ms).

    None before its first line, and while every call had to wait. It is as fast as its own lines came: what
    another process did, or an outage took, is not counted.
    """
    chat = chats.get(session, job.chat_key)
    if chat is None or job.state != "running" or not job.done:
        return None
    folds = max(0, job.total - job.done)
    layers = sizes.count_layers(session, chat.key, chat.strategy)
    return seconds_for(session, chat, job, folds + count_merges(layers, folds, _layered(session, chat)), at)


def seconds_for(session: Session, chat: Chat, job: Job, calls: int, at: int) -> float | None:
    """What so many calls take, in seconds, at the pace of a job that runs or ran on the chat; None if it shows none.

    `at`: now (epoch ms).
    """
    width, began = _layered(session, chat).backlog_concurrency, job.started_at or job.created_at
    made = sizes.made_lately(session, chat.key, chat.strategy, span_of(width) + 1)
    ended = [Finished(one.at, one.calls > 1) for one in made if began <= one.at <= (job.finished_at or one.at)]
    if len(ended) > span_of(width):
        began, ended = int(ended[0].at), ended[1:]
    a_call = pace(began, ended, width)
    if a_call is None:
        return None
    since = max(0, at - ended[-1].at) if job.state == "running" else 0
    return round(time_left(calls, a_call, since, width) / 1000, 1)


def _layered(session: Session, chat: Chat) -> LayeredSettings:
    return resolve(chats.server_settings(session), chat.settings)[0].layered
