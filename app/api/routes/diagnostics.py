"""What rolling memory decided after each reply."""

from typing import Annotated

from fastapi import Query

from app.api.dependencies import ChatId, PageDep, ServicesDep
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.diagnostics import Diagnosis, DiagnosisPage
from app.core.limits import LAST_INDEX
from app.services.diagnosing import DiagnosisView

router = new_router("memory")


@router.get(
    "/chats/{chat_id}/diagnostics",
    response_model=DiagnosisPage | Diagnosis,
    response_model_exclude_unset=True,
    summary="What rolling memory decided",
    description=(
        "After each reply, for the newest 50 turns, oldest first: the fold, or why there was none. Kept while the"
        " setting `diagnostics` is on. With `turn` the answer is that turn's entry alone."
    ),
    responses=problem_docs(404, 422),
)
def list_diagnostics(
    chat_id: ChatId,
    services: ServicesDep,
    page: PageDep,
    turn: Annotated[int | None, Query(ge=0, le=LAST_INDEX, description="0-based index of a turn.")] = None,
) -> DiagnosisPage | Diagnosis:
    if turn is not None:
        return _shown(services.diagnosing.of_turn(chat_id, turn))
    after = page.after("diagnostics")
    found = services.diagnosing.page(chat_id, after[0] if after else -1, page.wanted)
    shown = page.page("diagnostics", found, lambda one: (one.turn,))
    return DiagnosisPage(items=[_shown(one) for one in shown.items], next_cursor=shown.next_cursor)


def _shown(view: DiagnosisView) -> Diagnosis:
    return Diagnosis.model_validate({"turn": view.turn, "created_at": view.created_at, **view.data})
