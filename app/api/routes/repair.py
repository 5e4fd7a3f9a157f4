"""Finding what is wrong with a chat, and putting it right."""

from fastapi import Body

from app.api.dependencies import ChatId, ServicesDep
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.repair import RepairReport, RepairRequest

router = new_router("memory")

_LOOK = Body(default_factory=RepairRequest)


@router.post(
    "/chats/{chat_id}/repair",
    response_model=RepairReport,
    summary="Examine and repair",
    description=(
        "Checks everything that must hold in a chat. With `dry_run` false, what has one right fix is put right; the"
        " database is copied to a file beside it first. No message is ever lost or changed."
    ),
    responses=problem_docs(404, 409, 413, 415, 422),
)
def repair(chat_id: ChatId, services: ServicesDep, body: RepairRequest = _LOOK) -> RepairReport:
    return RepairReport(findings=services.repairing.repair(chat_id, dry_run=body.dry_run))
