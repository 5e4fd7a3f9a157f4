"""The prompt as it stands. Every reply waits for it, so its JSON is written once and not checked again."""

from typing import Annotated

from fastapi import Query, Response
from pydantic import TypeAdapter

from app.api.dependencies import ChatId, ServicesDep
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.projection import Projection, ProjectionParams, ProjectionRequest
from app.services.projecting import ProjectionView

router = new_router("projection")

_VIEW = TypeAdapter(ProjectionView)


@router.get(
    "/chats/{chat_id}/projection",
    response_model=Projection,
    summary="The prompt as it stands",
    description="Memory, then the turns no snippet covers, trimmed to the budget; the same request, the same answer.",
    responses=problem_docs(404, 422),
)
def read_projection(chat_id: ChatId, params: Annotated[ProjectionParams, Query()], services: ServicesDep) -> Response:
    return _written(services.projecting.project(chat_id, params.query()))


@router.post(
    "/chats/{chat_id}/projection",
    response_model=Projection,
    summary="The prompt with messages that are not stored yet",
    description="As the GET, and `current` at its end. Nothing is stored.",
    responses=problem_docs(404, 409, 413, 415, 422),
)
def project(chat_id: ChatId, services: ServicesDep, body: ProjectionRequest | None = None) -> Response:
    return _written(services.projecting.project(chat_id, (body or ProjectionRequest()).query()))


def _written(view: ProjectionView) -> Response:
    return Response(_VIEW.dump_json(view), media_type="application/json")
