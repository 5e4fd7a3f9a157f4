"""A chat's memory: how it stands, and what a person decides about it."""

from fastapi import Response

from app.api.dependencies import NO_BODY, ChatId, ServicesDep
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.memory import BacklogChoice, Cleared, JobStarted, Paused, Preset, Preview, Skipped, Status, Stopped
from app.services.prompts import PresetTexts
from app.services.reporting import Preview as PreviewView
from app.services.reporting import Status as StatusView
from app.services.steering import Cleared as ClearedView
from app.services.steering import Started
from app.services.steering import Stopped as StoppedView

router = new_router("memory")

_READ = problem_docs(404, 422)
_STEER = problem_docs(404, 409, 413, 415, 422)
_NOTHING_TO_DO = "Nothing to do, and the reason why"


@router.get(
    "/chats/{chat_id}/status",
    response_model=Status,
    summary="How the memory stands",
    description="Counts, layers, backlog, what runs, the last error: all a frontend shows.",
    responses=_READ,
)
def read_status(chat_id: ChatId, services: ServicesDep) -> StatusView:
    return services.reporting.status(chat_id)


@router.get(
    "/chats/{chat_id}/preview",
    response_model=Preview,
    summary="The memory block alone",
    description="As it is injected; empty while there is none.",
    responses=_READ,
)
def read_preview(chat_id: ChatId, services: ServicesDep) -> PreviewView:
    return services.reporting.preview(chat_id)


@router.post(
    "/chats/{chat_id}/summarize",
    response_model=JobStarted,
    status_code=202,
    summary="Fold now",
    description="Everything outside the window, the backlog included, pause or not.",
    dependencies=[NO_BODY],
    responses={200: {"model": JobStarted, "description": _NOTHING_TO_DO}, **_STEER},
)
def summarize(chat_id: ChatId, services: ServicesDep, response: Response) -> Started:
    return _answer(services.steering.summarize(chat_id), response)


@router.post(
    "/chats/{chat_id}/backlog",
    response_model=JobStarted | Skipped,
    status_code=202,
    summary="Say what to do with a backlog",
    description="`all` and `one` without a backlog act as summarize, and as one batch of it.",
    responses={200: {"model": JobStarted | Skipped, "description": f"Skipped; or: {_NOTHING_TO_DO}"}, **_STEER},
)
def answer_backlog(
    chat_id: ChatId, body: BacklogChoice, services: ServicesDep, response: Response
) -> JobStarted | Skipped:
    if body.choice == "skip":
        response.status_code = 200
        return Skipped(skipped_turns=services.steering.skip(chat_id))
    return JobStarted.model_validate(_answer(services.steering.backlog(chat_id, body.choice), response))


@router.post(
    "/chats/{chat_id}/stop",
    response_model=Stopped,
    summary="Cut what runs",
    description="The call to the model included; finished batches stay. Nothing runs until the next append or call.",
    dependencies=[NO_BODY],
    responses=_STEER,
)
async def stop(chat_id: ChatId, services: ServicesDep) -> StoppedView:
    return await services.steering.stop(chat_id)


@router.post(
    "/chats/{chat_id}/pause",
    response_model=Paused,
    summary="Stop folding by itself",
    description="What is remembered is still sent.",
    dependencies=[NO_BODY],
    responses=_STEER,
)
async def pause(chat_id: ChatId, services: ServicesDep) -> Paused:
    return Paused(paused=await services.steering.pause(chat_id))


@router.post(
    "/chats/{chat_id}/resume",
    response_model=Paused,
    summary="Fold by itself again",
    description="At once, if something is due.",
    dependencies=[NO_BODY],
    responses=_STEER,
)
def resume(chat_id: ChatId, services: ServicesDep) -> Paused:
    return Paused(paused=services.steering.resume(chat_id))


@router.post(
    "/chats/{chat_id}/clear",
    response_model=Cleared,
    summary="Forget every summary",
    description="Every message is visible again; no message is lost.",
    dependencies=[NO_BODY],
    responses=_STEER,
)
async def clear(chat_id: ChatId, services: ServicesDep) -> ClearedView:
    return await services.steering.clear(chat_id)


@router.get(
    "/presets",
    response_model=list[Preset],
    summary="The prompts there are",
    description="The default preset first.",
)
async def list_presets(services: ServicesDep) -> list[PresetTexts]:
    return services.prompts.presets()


def _answer(started: Started, response: Response) -> Started:
    """202 with a job, 200 without."""
    response.status_code = 202 if started.job else 200
    return started
