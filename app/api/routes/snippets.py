"""Snippets, the original messages under them, and what a person does to them."""

from typing import Annotated
from urllib.parse import quote

from fastapi import Query, Response

from app.api.dependencies import NO_BODY, ChatId, IfMatch, PageDep, ServicesDep, SnippetId
from app.api.paging import Paged
from app.api.problems import problem_docs
from app.api.routes.chats import chat_location
from app.api.routing import new_router
from app.api.schemas.memory import JobStarted
from app.api.schemas.messages import MessagePage
from app.api.schemas.snippets import (
    NewSnippet,
    Snippet,
    SnippetPage,
    SnippetPatch,
    SnippetState,
    SnippetVersionPage,
    Undone,
)
from app.services.browsing import SnippetView
from app.services.recording import MessageView
from app.services.revising import VersionView
from app.services.steering import Started
from app.services.undoing import Undone as Step

router = new_router("snippets")

_ACT = problem_docs(404, 409, 413, 415, 422)


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
    response.headers["ETag"] = snippet.etag
    return snippet


@router.post(
    "/chats/{chat_id}/snippets",
    response_model=Snippet,
    status_code=201,
    summary="Write a snippet by hand",
    description=(
        "Over whole turns that nothing covers yet, outside the window; anything else is a 409 that says what to do."
        " The text is never replaced unasked."
    ),
    responses=_ACT,
)
def write_snippet(chat_id: ChatId, body: NewSnippet, services: ServicesDep, response: Response) -> SnippetView:
    snippet = services.revising.write(chat_id, body.first_message_id, body.last_message_id, body.text)
    response.headers["ETag"] = snippet.etag
    response.headers["Location"] = f"{chat_location(chat_id)}/snippets/{quote(snippet.id, safe='')}"
    return snippet


@router.patch(
    "/chats/{chat_id}/snippets/{snippet_id}",
    response_model=Snippet,
    summary="Edit a snippet's text",
    description=(
        "The text it had is kept. What absorbed the snippet is stale then, and made anew in the background; the"
        " edited text itself is never replaced unasked."
    ),
    responses=problem_docs(404, 409, 412, 413, 415, 422),
)
def edit_snippet(
    chat_id: ChatId,
    snippet_id: SnippetId,
    body: SnippetPatch,
    services: ServicesDep,
    response: Response,
    if_match: IfMatch = None,
) -> SnippetView:
    snippet = services.revising.edit(chat_id, snippet_id, body.text, if_match)
    response.headers["ETag"] = snippet.etag
    return snippet


@router.delete(
    "/chats/{chat_id}/snippets/{snippet_id}",
    status_code=204,
    summary="Delete a live snippet",
    description="What it covers is visible again, and folds again with the next append, sync or explicit call.",
    responses=problem_docs(404, 409, 412, 422),
)
def delete_snippet(chat_id: ChatId, snippet_id: SnippetId, services: ServicesDep, if_match: IfMatch = None) -> None:
    services.revising.delete(chat_id, snippet_id, if_match)


@router.post(
    "/chats/{chat_id}/snippets/{snippet_id}/regenerate",
    response_model=JobStarted,
    status_code=202,
    summary="Make a snippet anew",
    description="Of any layer, pause or not. It keeps its text until the new one is there.",
    dependencies=[NO_BODY],
    responses=_ACT,
)
def regenerate_snippet(chat_id: ChatId, snippet_id: SnippetId, services: ServicesDep) -> Started:
    return Started(services.revising.regenerate(chat_id, snippet_id))


@router.get(
    "/chats/{chat_id}/snippets/{snippet_id}/versions",
    response_model=SnippetVersionPage,
    summary="Earlier texts of a snippet",
    description="Newest first; the present text is the snippet's own.",
    responses=problem_docs(404, 422),
)
def list_snippet_versions(
    chat_id: ChatId, snippet_id: SnippetId, services: ServicesDep, page: PageDep
) -> Paged[VersionView]:
    before = page.after("versions")
    found = services.revising.earlier_texts(chat_id, snippet_id, before[0] if before else None, page.wanted)
    paged = page.page("versions", found, lambda placed: (placed[0],))
    return Paged([version for _, version in paged.items], paged.next_cursor)


@router.post(
    "/chats/{chat_id}/undo",
    response_model=Undone,
    summary="Take back the last change to a snippet",
    description=(
        "The last edit, deletion, regeneration or snippet by hand; again, the one before it. With none left, or one"
        " that cannot be taken back, it is a 409."
    ),
    dependencies=[NO_BODY],
    responses=_ACT,
)
def undo(chat_id: ChatId, services: ServicesDep) -> dict[str, Step]:
    return {"undone": services.undoing.undo(chat_id)}


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
