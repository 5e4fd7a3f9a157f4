"""Messages: appending and reading them."""

from typing import Annotated

from fastapi import Query, Request

from app.api.dependencies import ChatId, MessageId, PageDep, ServicesDep
from app.api.idempotency import repeatable_id
from app.api.paging import Paged, PageQuery
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.messages import Appended, AppendRequest, HistoryDigest, Message, MessagePage, MessageState
from app.core.digest import Digest
from app.core.limits import LAST_INDEX
from app.errors import InvalidRequest
from app.services.bundle import Services
from app.services.recording import Appended as AppendedView
from app.services.recording import MessageView

router = new_router("messages")


@router.post(
    "/chats/{chat_id}/messages",
    response_model=Appended,
    status_code=201,
    summary="Append messages",
    description=(
        "1 to 1000, in order; the chat is made if it is new. A known id with the same content is a duplicate and"
        " changes nothing, with other content it is a 409."
    ),
    responses=problem_docs(409, 413, 415, 422),
)
async def append_messages(
    chat_id: ChatId, body: AppendRequest, services: ServicesDep, request: Request
) -> AppendedView:
    drafts = [message.draft(repeatable_id(request, place)) for place, message in enumerate(body.messages)]
    return await services.recording.append(chat_id, drafts, body.fold, body.wait_s, body.session_id)


@router.get(
    "/chats/{chat_id}/messages",
    response_model=MessagePage,
    summary="List messages",
    description="By index; deleted ones, which are kept for 30 days, by the index they had.",
    responses=problem_docs(404, 422),
)
def list_messages(
    chat_id: ChatId,
    services: ServicesDep,
    page: PageDep,
    state: Annotated[MessageState, Query(description="Only messages in this state.")] = "all",
    from_index: Annotated[
        int | None, Query(ge=0, le=LAST_INDEX, description="Begin here; not with deleted messages, nor with a cursor.")
    ] = None,
) -> Paged[MessageView]:
    if from_index is not None and (state == "deleted" or page.cursor is not None):
        raise _misplaced(state)
    if state == "deleted":
        return _deleted(chat_id, services, page)
    after = page.after("messages")
    last = after[0] if after else (from_index or 0) - 1
    found = services.recording.page(chat_id, state=state, after=last, limit=page.wanted)
    return page.page("messages", found, lambda message: (message.index,))


@router.get(
    "/chats/{chat_id}/messages/{message_id}",
    response_model=Message,
    summary="Read a message",
    description="As it is stored, whether it is in the prompt or not.",
    responses=problem_docs(404, 422),
)
def read_message(chat_id: ChatId, message_id: MessageId, services: ServicesDep) -> MessageView:
    return services.recording.get(chat_id, message_id)


@router.get(
    "/chats/{chat_id}/digest",
    response_model=HistoryDigest,
    summary="Compare histories",
    description=(
        "A checksum over the whole history, for a frontend that keeps its own: if it has come to the same, there is"
        " nothing to sync."
    ),
    responses=problem_docs(404, 422),
)
def read_digest(chat_id: ChatId, services: ServicesDep) -> Digest:
    return services.digesting.digest(chat_id)


def _misplaced(state: str) -> InvalidRequest:
    why = "deleted messages have no place" if state == "deleted" else "a cursor says where to begin"
    return InvalidRequest(
        f"from_index cannot be given here: {why}; leave it out.",
        [{"loc": ["query", "from_index"], "msg": "Cannot be combined with state=deleted or a cursor."}],
    )


def _deleted(chat_id: str, services: Services, page: PageQuery) -> Paged[MessageView]:
    place = page.after("deleted", 2)
    found = services.recovering.deleted(chat_id, (place[0], place[1]) if place else None, page.wanted)
    paged = page.page("deleted", found, lambda kept: (kept[1].index, kept[0]))
    return Paged([message for _, message in paged.items], paged.next_cursor)
