"""Snippets, and the original messages under them."""

from typing import Annotated

from fastapi import Query, Response

from app.api.dependencies import ChatId, PageDep, ServicesDep, SnippetId
from app.api.paging import Paged
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.messages import MessagePage
from app.api.schemas.snippets import Snippet, SnippetPage, SnippetState
from app.services.browsing import SnippetView
from app.services.recording import MessageView

router = new_router("snippets")


@router.get(
    "/chats/{chat_id}/snippets",
    response_model=SnippetPage,
    summary="List snippets",
    description="In reading order: deepest layer first, oldest first.",
    responses=problem_docs(404, 422),
)
def list_snippets(
    chat_id: ChatId,
    services: ServicesDep,
    page: PageDep,
    layer: Annotated[int | None, Query(ge=0, le=1000, description="Only of this layer.")] = None,
    state: Annotated[SnippetState, Query(description="Dormant: live memory of another strategy.")] = "live",
    stale: Annotated[bool | None, Query(description="Only those that are stale, or are not.")] = None,
    degraded: Annotated[bool | None, Query(description="Only those that are degraded, or are not.")] = None,
) -> Paged[SnippetView]:
    found = services.browsing.snippets(
        chat_id,
        layer=layer,
        state=state,
        stale=stale,
        degraded=degraded,
        offset=page.offset("snippets"),
        limit=page.wanted,
    )
    return page.counted_page("snippets", found)


@router.get(
    "/chats/{chat_id}/snippets/{snippet_id}",
    response_model=Snippet,
    summary="Read a snippet",
    description="`ETag` changes with its text.",
    responses=problem_docs(404, 422),
)
def read_snippet(chat_id: ChatId, snippet_id: SnippetId, services: ServicesDep, response: Response) -> SnippetView:
    snippet = services.browsing.snippet(chat_id, snippet_id)
    response.headers["ETag"] = f'"{snippet.revision}"'
    return snippet


@router.get(
    "/chats/{chat_id}/snippets/{snippet_id}/messages",
    response_model=MessagePage,
    summary="The original messages under a snippet",
    description="Whatever its layer, by index.",
    responses=problem_docs(404, 422),
)
def list_messages_under(
    chat_id: ChatId, snippet_id: SnippetId, services: ServicesDep, page: PageDep
) -> Paged[MessageView]:
    after = page.after("messages")
    found = services.browsing.messages_under(chat_id, snippet_id, after=after[0] if after else -1, limit=page.wanted)
    return page.page("messages", found, lambda message: (message.index,))
