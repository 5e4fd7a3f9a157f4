"""Sessions of a chat, where its summary buffer has the scope `session`."""

from app.api.dependencies import ChatId, ServicesDep, SessionId
from app.api.problems import problem_docs
from app.api.routing import new_router

router = new_router("sessions")


@router.delete(
    "/chats/{chat_id}/sessions/{session_id}",
    status_code=204,
    summary="Forget a session",
    description=(
        "Its messages and its summary, for good; what folds on it is cut. One that nobody asks for is forgotten by"
        " itself after 30 minutes."
    ),
    responses=problem_docs(404, 422),
)
async def forget_session(chat_id: ChatId, session_id: SessionId, services: ServicesDep) -> None:
    await services.sessions.forget(chat_id, session_id)
