"""Searching a chat."""

from typing import Annotated

from fastapi import Query

from app.api.dependencies import ChatId, ServicesDep
from app.api.paging import Paged
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.search import SearchPage, Words
from app.services.searching import HitView

router = new_router("search")


@router.get(
    "/chats/{chat_id}/search",
    response_model=SearchPage,
    summary="Search messages and snippets",
    description=(
        "Originals, hidden and omitted ones too, and the chat's live and absorbed snippets. The beginning of a word is"
        ' enough; "words in double quotes" must stand side by side. What holds every word comes first.'
    ),
    responses=problem_docs(404, 422),
)
def search_chat(
    chat_id: ChatId,
    services: ServicesDep,
    q: Annotated[Words, Query(description="What to look for.", examples=["brass key"])],
    limit: Annotated[int, Query(ge=1, le=1000, description="The most hits.")] = 50,
) -> Paged[HitView]:
    return Paged(services.searching.search(chat_id, q, limit), next_cursor=None)
