"""History as the frontend has it: a whole sync, one message changed or deleted, and what was there before."""

from app.api.dependencies import ChatId, MessageId, PageDep, ServicesDep
from app.api.paging import Paged
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.history import EarlierTextPage, MessagePatch, RestoreRequest, Synced, SyncRequest
from app.api.schemas.messages import Message
from app.services.recording import MessageView
from app.services.recovering import EarlierText
from app.services.syncing import Synced as SyncedView

router = new_router("messages")

_CHANGE = problem_docs(404, 409, 413, 415, 422)


@router.put(
    "/chats/{chat_id}/messages",
    response_model=Synced,
    summary="Sync the whole history",
    description=(
        "Makes the stored history equal to this one. Messages are matched by id, else by role, name and content, so"
        " that what did not change keeps its identity and its memory. The chat is made if it is new."
    ),
    responses=problem_docs(409, 413, 415, 422),
)
def sync_messages(chat_id: ChatId, body: SyncRequest, services: ServicesDep) -> SyncedView:
    return services.syncing.sync(
        chat_id,
        body.lines(),
        reset=body.reset,
        allow_shrink=body.allow_shrink,
        parent_chat_id=body.parent_chat_id,
    )


@router.patch(
    "/chats/{chat_id}/messages/{message_id}",
    response_model=Message,
    summary="Change a message",
    description="A text that is overwritten is kept for 30 days. The memory over it is made anew in the background.",
    responses=_CHANGE,
)
def patch_message(chat_id: ChatId, message_id: MessageId, body: MessagePatch, services: ServicesDep) -> MessageView:
    return services.editing.edit(chat_id, message_id, body.changes())


@router.delete(
    "/chats/{chat_id}/messages/{message_id}",
    status_code=204,
    summary="Delete a message",
    description="It is kept for 30 days, and can be restored. Its snippet stands for the rest.",
    responses=problem_docs(404, 422),
)
def delete_message(chat_id: ChatId, message_id: MessageId, services: ServicesDep) -> None:
    services.editing.delete(chat_id, message_id)


@router.post(
    "/chats/{chat_id}/messages/{message_id}/restore",
    response_model=Message,
    summary="Bring back a message",
    description="A deleted one in its old place; else the text the message had before its last change.",
    responses=_CHANGE,
)
def restore_message(
    chat_id: ChatId, message_id: MessageId, services: ServicesDep, body: RestoreRequest | None = None
) -> MessageView:
    return services.recovering.restore(chat_id, message_id, body.version if body else None)


@router.get(
    "/chats/{chat_id}/messages/{message_id}/versions",
    response_model=EarlierTextPage,
    summary="Earlier texts of a message",
    description="Newest first, of a deleted message too.",
    responses=problem_docs(404, 422),
)
def list_earlier_texts(
    chat_id: ChatId, message_id: MessageId, services: ServicesDep, page: PageDep
) -> Paged[EarlierText]:
    found = services.recovering.earlier_texts(chat_id, message_id, page.offset("texts"), page.wanted)
    return page.counted_page("texts", found)
