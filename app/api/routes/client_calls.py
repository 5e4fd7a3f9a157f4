"""Calls that a frontend answers with its own model: taking, holding, answering and giving them back."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Body, Path, Query, Request

from app.api.dependencies import ServicesDep
from app.api.heads import HEAD
from app.api.paging import Paged
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.client_calls import LEASE_S, ClientAnswer, ClientCallPage, Release, Renewal, Renewed
from app.api.text import Id
from app.errors import Forbidden
from app.services.client_calls import CallView, Wanted

router = new_router("client calls")

_BY_SCRIPT = ("cors", "same-origin")
"""What browsers say of a request that a script of an allowed page makes, and waits for."""

CallId = Annotated[Id, Path(description="The call's id.", examples=["7d1c5a0e-2f5b-4f0e-8a35-6f4f4b1f7a10"])]


@dataclass(frozen=True, slots=True)
class _Until:
    lease_until: datetime


@router.get(
    "/client-calls",
    response_model=ClientCallPage,
    summary="Take prompts to answer",
    description=(
        "Prompts that wait for a frontend's own model, the oldest first. Each is the caller's until `lease_until`, and"
        " nobody else's: this is the one GET that changes something. With `wait_s` it answers as soon as there is one."
    ),
    responses=problem_docs(404, 422),
)
async def take_calls(
    request: Request,
    services: ServicesDep,
    chat_id: Annotated[Id | None, Query(description="Only of this chat.")] = None,
    client: Annotated[Id, Query(description="Any id of the tab or program that asks.")] = "client",
    limit: Annotated[int, Query(ge=1, le=64, description="The most prompts to take.")] = 1,
    wait_s: Annotated[float, Query(ge=0, le=60, description="Seconds to wait for one.")] = 0,
    lease_s: Annotated[float, Query(ge=5, le=600, description="Seconds until others may take them.")] = LEASE_S,
) -> Paged[CallView]:
    if request.headers.get("sec-fetch-mode", "cors") not in _BY_SCRIPT:
        # A picture on any page carries no Origin, and would take prompts that nobody answers.
        raise Forbidden("Prompts are taken by a script that answers them: not by a link, and not by a picture.")
    if HEAD in request.scope:
        return Paged([], None)  # whoever reads no prompt takes none
    wanted = Wanted(chat_id, client, limit, wait_s, lease_s, request.is_disconnected)
    return Paged(await services.client_calls.hand_out(wanted), None)


@router.post(
    "/client-calls/{call_id}",
    status_code=204,
    summary="Answer a prompt",
    description=(
        "With the model's `text`, or with the `error` that kept it from answering. The first answer counts. A 404 or"
        " 409 says that nobody waits for it any more, or that another client has taken it."
    ),
    responses=problem_docs(404, 409, 413, 415, 422),
)
async def answer_call(call_id: CallId, body: ClientAnswer, services: ServicesDep) -> None:
    await services.client_calls.answer(call_id, body.client, body.said)


@router.post(
    "/client-calls/{call_id}/renew",
    response_model=Renewed,
    summary="Hold a prompt longer",
    description="A 404 or 409 says that the answer is not wanted any more: cut the generation.",
    responses=problem_docs(404, 409, 413, 415, 422),
)
async def renew_call(call_id: CallId, services: ServicesDep, body: Annotated[Renewal | None, Body()] = None) -> _Until:
    wanted = body or Renewal()
    return _Until(await services.client_calls.renew(call_id, wanted.client, wanted.lease_s))


@router.post(
    "/client-calls/{call_id}/release",
    status_code=204,
    summary="Give a prompt back",
    description="Unanswered: whoever asks next has it.",
    responses=problem_docs(404, 409, 413, 415, 422),
)
async def release_call(call_id: CallId, services: ServicesDep, body: Annotated[Release | None, Body()] = None) -> None:
    await services.client_calls.release(call_id, (body or Release()).client)
