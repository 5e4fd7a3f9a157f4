"""A chat as a picture."""

from app.api.dependencies import ChatId, ServicesDep
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.strata import Strata
from app.services.picturing import Strata as StrataView

router = new_router("memory")


@router.get(
    "/chats/{chat_id}/strata",
    response_model=Strata,
    summary="Read the strata",
    description=(
        "The memory and the history as a picture, without texts: the live snippets by layer, and the messages in"
        " stretches of one state."
    ),
    responses=problem_docs(404, 422),
)
def read_strata(chat_id: ChatId, services: ServicesDep) -> StrataView:
    return services.picturing.strata(chat_id)
