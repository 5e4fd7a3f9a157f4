"""Figures: how a chat's prompt has grown, and what summaries have cost."""

from typing import Annotated

from fastapi import Query

from app.api.dependencies import ChatId, ServicesDep
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.figures import Costs, Growth
from app.core.growth import Point
from app.services.figures import Costs as CostsView

router = new_router("memory")


@router.get(
    "/chats/{chat_id}/growth",
    response_model=Growth,
    summary="How the prompt has grown",
    description="As if the chat had been played turn by turn with the memory it has, at so many places at most.",
    responses=problem_docs(404, 422),
)
def read_growth(
    chat_id: ChatId,
    services: ServicesDep,
    points: Annotated[int, Query(ge=2, le=1000, description="The most places.")] = 200,
) -> dict[str, list[Point]]:
    return {"items": services.figures.curve(chat_id, points)}


@router.get(
    "/usage",
    response_model=Costs,
    summary="What summaries have cost",
    description=(
        "Calls and tokens of all chats there are, those of their sessions and trials included. What a chat has cost"
        " goes with it when it is deleted."
    ),
)
def read_usage(services: ServicesDep) -> CostsView:
    return services.figures.usage()
