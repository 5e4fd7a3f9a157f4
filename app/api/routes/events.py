"""Event streams: what happens to a chat or to all of them, and how far a job is."""

from typing import Any

from fastapi import Response

from app.api.dependencies import ChatId, JobId, ServicesDep
from app.api.examples import EVENTS
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.streaming import EventStream, LastSeen

router = new_router("events")


def _stream_docs(which: str, *problems: int) -> dict[int | str, dict[str, Any]]:
    schema = {"type": "string", "description": "Server-sent events; `data` is a JSON object on one line."}
    content = {"text/event-stream": {"schema": schema, "example": EVENTS[which]}}
    return {200: {"description": "The stream", "content": content}, **problem_docs(*problems)}


@router.get(
    "/events",
    response_class=Response,
    summary="Watch everything",
    description=(
        "Server-sent events of all chats, as their own streams tell them, with their `chat_id`; and `settings` for the"
        " server's settings and connections. From now on or, with `Last-Event-ID`, from there on; it never ends by"
        " itself. A 503 says that too many streams are open."
    ),
    responses=_stream_docs("all", 503),
)
async def watch_everything(services: ServicesDep, seen: LastSeen) -> Response:
    return EventStream(await services.watching.everything(seen))


@router.get(
    "/chats/{chat_id}/events",
    response_class=Response,
    summary="Watch a chat",
    description=(
        "Server-sent events, from now on: `job` (first the active one, if there is one), `summarized`, `promoted`,"
        " `memory`, `history`, `history_set`, `chat`, `client_call`, `error`; `end` if the chat is deleted."
        " With `Last-Event-ID`, from there on. Events are kept for a day. A 503 says that too many streams are open."
    ),
    responses=_stream_docs("chat", 404, 422, 503),
)
async def watch_chat(chat_id: ChatId, services: ServicesDep, seen: LastSeen) -> Response:
    return EventStream(await services.watching.chat(chat_id, seen))


@router.get(
    "/jobs/{job_id}/events",
    response_class=Response,
    summary="Watch a job",
    description=(
        "Server-sent events: one `progress` for each batch, from the job's beginning or after `Last-Event-ID`, and at"
        " last `end` with the whole job; then the stream closes. A 503 says that too many streams are open."
    ),
    responses=_stream_docs("job", 404, 422, 503),
)
async def watch_job(job_id: JobId, services: ServicesDep, seen: LastSeen) -> Response:
    return EventStream(await services.watching.job(job_id, seen))
