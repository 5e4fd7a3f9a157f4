"""Chats: making, listing, reading, changing, deleting and forking them."""

from typing import Annotated
from urllib.parse import quote

from fastapi import Query, Response

from app.api.dependencies import ChatId, IfMatch, PageDep, ServicesDep
from app.api.paging import Paged
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.chats import Chat, ChatFields, ChatPage, ForkFields
from app.api.text import Name
from app.services.keeping import ChatView

router = new_router("chats")

_CHANGE = problem_docs(404, 412, 413, 415, 422)


def chat_location(chat_id: str) -> str:
    """Where a chat is."""
    return f"/v1/chats/{quote(chat_id, safe='')}"


@router.put(
    "/chats/{chat_id}",
    response_model=Chat,
    summary="Create a chat, or merge into it",
    description="201 when the chat is new, 200 when the fields were merged into the one there was.",
    responses={201: {"model": Chat, "description": "Created"}, **problem_docs(412, 413, 415, 422)},
)
def put_chat(
    chat_id: ChatId,
    services: ServicesDep,
    response: Response,
    body: ChatFields | None = None,
    if_match: IfMatch = None,
) -> ChatView:
    chat, created = services.keeping.put(chat_id, _given(body), if_match)
    response.headers["ETag"] = chat.etag
    if created:
        response.status_code = 201
        response.headers["Location"] = chat_location(chat.id)
    return chat


@router.post(
    "/chats",
    response_model=Chat,
    status_code=201,
    summary="Create a chat under an id of the server's",
    description="`Location` says where it is.",
    responses=problem_docs(409, 413, 415, 422),
)
def create_chat(services: ServicesDep, response: Response, body: ChatFields | None = None) -> ChatView:
    chat = services.keeping.create(_given(body))
    response.headers["ETag"] = chat.etag
    response.headers["Location"] = chat_location(chat.id)
    return chat


@router.get(
    "/chats",
    response_model=ChatPage,
    summary="List chats",
    description="Newest activity first.",
    responses=problem_docs(422),
)
def list_chats(
    services: ServicesDep,
    page: PageDep,
    title: Annotated[Name | None, Query(description="Only chats of exactly this title.")] = None,
    q: Annotated[
        Name, Query(description="Only chats whose id, title or names hold every word of it, whatever the case.")
    ] = "",
    counts: Annotated[bool, Query(description="Whether to count messages; of many long chats that takes time.")] = True,
) -> Paged[ChatView]:
    after = page.after("chats", 2)
    found = services.keeping.page((after[0], after[1]) if after else None, page.wanted, title, q, counted=counts)
    paged = page.page("chats", found, lambda placed: placed[0])
    return Paged([chat for _, chat in paged.items], paged.next_cursor)


@router.get(
    "/chats/{chat_id}",
    response_model=Chat,
    summary="Read a chat",
    description="`ETag` changes with title, names, strategy and settings.",
    responses=problem_docs(404, 422),
)
def read_chat(chat_id: ChatId, services: ServicesDep, response: Response) -> ChatView:
    chat = services.keeping.get(chat_id)
    response.headers["ETag"] = chat.etag
    return chat


@router.patch(
    "/chats/{chat_id}",
    response_model=Chat,
    summary="Merge into a chat",
    description="Absent fields stay; a setting given as null follows the server again.",
    responses=_CHANGE,
)
def patch_chat(
    chat_id: ChatId, body: ChatFields, services: ServicesDep, response: Response, if_match: IfMatch = None
) -> ChatView:
    chat = services.keeping.patch(chat_id, _given(body), if_match)
    response.headers["ETag"] = chat.etag
    return chat


@router.delete(
    "/chats/{chat_id}",
    status_code=204,
    summary="Delete a chat for good",
    description="Its messages and its memory go too, and what runs on it is cut.",
    responses=problem_docs(404, 412, 422),
)
async def delete_chat(chat_id: ChatId, services: ServicesDep, if_match: IfMatch = None) -> None:
    await services.keeping.delete(chat_id, if_match)


@router.post(
    "/chats/{chat_id}/fork",
    response_model=Chat,
    status_code=201,
    summary="Fork a chat",
    description=(
        "A new chat with the history up to and with a message, under the same message ids, and the memory that lies"
        " inside it and outside its newest turns. No model is called. `Location` says where it is."
    ),
    responses=problem_docs(404, 409, 413, 415, 422),
)
def fork_chat(chat_id: ChatId, services: ServicesDep, response: Response, body: ForkFields | None = None) -> ChatView:
    wanted = body or ForkFields()
    chat = services.branching.fork(chat_id, wanted.id, wanted.at_message_id)
    response.headers["ETag"] = chat.etag
    response.headers["Location"] = chat_location(chat.id)
    return chat


def _given(body: ChatFields | None) -> dict[str, object]:
    return body.model_dump(exclude_unset=True) if body else {}
