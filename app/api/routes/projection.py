"""The prompt as it stands.

Every reply waits for it: the query is read in one step, and the JSON is written once and not checked again.
"""

import asyncio
from dataclasses import replace
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter, ValidationError

from app.api.dependencies import ChatId, ServicesDep
from app.api.hanging_up import unless_over
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.projection import Projection, ProjectionParams, ProjectionRequest
from app.services.bundle import Services
from app.services.projection_view import ProjectionView

router = new_router("projection")

_VIEW = TypeAdapter(ProjectionView)


def _params(request: Request) -> ProjectionParams:
    """The query. FastAPI would ask what kind each field is again with every request, and look through what each
    dependency needs, which takes longer than all else that it does.
    """
    try:
        return ProjectionParams.model_validate(dict(request.query_params))
    except ValidationError as error:
        found = [{**told, "loc": ("query", *told["loc"])} for told in error.errors()]
        raise RequestValidationError(found) from None


def _documented() -> list[dict[str, Any]]:
    """The query, for the documentation."""
    fields = ProjectionParams.model_json_schema()["properties"].items()
    return [
        {"name": name, "in": "query", "required": False, "description": schema.get("description", ""), "schema": schema}
        for name, schema in fields
    ]


@router.get(
    "/chats/{chat_id}/projection",
    response_model=Projection,
    summary="The prompt as it stands",
    description="Memory, then the turns no snippet covers, trimmed to the budget; the same request, the same answer.",
    openapi_extra={"parameters": _documented()},
    responses=problem_docs(404, 422),
)
def read_projection(chat_id: ChatId, request: Request) -> Response:
    services: Services = request.app.state.services
    params = _params(request)
    view = services.projecting.project(chat_id, params.query())
    return _written(view if params.messages else replace(view, messages=[], text=None))


@router.post(
    "/chats/{chat_id}/projection",
    response_model=Projection,
    summary="The prompt with messages that are not stored yet",
    description=(
        "As the GET, and `current` at its end, which is not stored. A summary buffer folds first what is due, within"
        " summary_buffer.timeout_s; if that fails, the prompt is sent with all of the history and the warning"
        " `fold_failed`."
    ),
    responses=problem_docs(404, 409, 413, 415, 422),
)
async def project(chat_id: ChatId, services: ServicesDep, body: ProjectionRequest | None = None) -> Response:
    asked = services.answering.project(chat_id, (body or ProjectionRequest()).query())
    view = await unless_over(services.watching, asked)
    return await asyncio.to_thread(_written, view)  # a long history without a budget takes a while to write


def _written(view: ProjectionView) -> Response:
    return Response(_VIEW.dump_json(view), media_type="application/json")
