"""Trying prompts on a chat."""

from fastapi import Request

from app.api.dependencies import ChatId, ServicesDep
from app.api.hanging_up import unless_gone
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.trials import Rehearsal, TrialFields
from app.core.model import Span
from app.services.rehearsing import Rehearsal as RehearsalView
from app.services.rehearsing import TrialQuery

router = new_router("memory")


@router.post(
    "/chats/{chat_id}/trial",
    response_model=Rehearsal,
    summary="Try prompts on a real passage",
    description=(
        "What would fold next, what the newest fold covered, or any turns: rendered as folding renders it, and with"
        " `run` asked of the model. Only calls that fail on the way are repeated, not answers that cannot be used: a"
        " summary that could not be had is an answer too, and `problem` says why. Nothing is stored but what it cost;"
        " going away cuts the call, which counts all the same."
    ),
    responses=problem_docs(404, 409, 413, 415, 422, 503),
)
async def try_prompts(
    chat_id: ChatId, services: ServicesDep, request: Request, body: TrialFields | None = None
) -> RehearsalView:
    asked = body or TrialFields()
    return await unless_gone(request, services.watching, services.rehearsing.rehearse(chat_id, _trial(asked)))


def _trial(body: TrialFields) -> TrialQuery:
    places = [index for index in (body.first_index, body.last_index) if index is not None]
    span = Span(places[0], places[-1]) if places else None
    settings = body.settings.model_dump(exclude_unset=True) if body.settings else {}
    return TrialQuery(settings, body.connection, span, body.run)
