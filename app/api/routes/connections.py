"""Connections to models: listing, changing and trying them."""

from app.api.dependencies import NO_BODY, ConnectionName, PageDep, ServicesDep
from app.api.hanging_up import unless_over
from app.api.paging import Paged
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.connections import Connection, ConnectionFields, ConnectionPage, ModelPage, Trial
from app.core.health import Trial as TrialView
from app.services.connections import ConnectionView

router = new_router("connections")


@router.get(
    "/connections",
    response_model=ConnectionPage,
    summary="List connections",
    description="By name; `default` and `extractive` are always there.",
    responses=problem_docs(422),
)
def list_connections(services: ServicesDep, page: PageDep) -> Paged[ConnectionView]:
    start = page.offset("connections")
    return page.counted_page("connections", services.connections.all()[start : start + page.wanted])


@router.get(
    "/connections/{name}",
    response_model=Connection,
    summary="Read a connection",
    description="Its key never comes out; `has_api_key` says whether there is one.",
    responses=problem_docs(404, 422),
)
def read_connection(name: ConnectionName, services: ServicesDep) -> ConnectionView:
    return services.connections.get(name)


@router.put(
    "/connections/{name}",
    response_model=Connection,
    summary="Make or replace a connection",
    description="All fields are replaced; an absent api_key keeps the key if provider and base_url stay.",
    responses=problem_docs(409, 413, 415, 422),
)
def put_connection(name: ConnectionName, body: ConnectionFields, services: ServicesDep) -> ConnectionView:
    keep_key = "api_key" not in body.model_fields_set
    return services.connections.put(name, body.stored(), keep_key=keep_key, api_key=body.api_key)


@router.delete(
    "/connections/{name}",
    status_code=204,
    summary="Forget a connection",
    description="`default` returns to the environment's.",
    responses=problem_docs(404, 409, 422),
)
def delete_connection(name: ConnectionName, services: ServicesDep) -> None:
    services.connections.delete(name)


@router.get(
    "/connections/{name}/models",
    response_model=ModelPage,
    summary="List the models of a connection",
    description="Asks its server; no model is called.",
    responses=problem_docs(404, 422, 502, 503),
)
async def list_models(name: ConnectionName, services: ServicesDep) -> Paged[str]:
    return Paged(await unless_over(services.watching, services.connections.models(name)), None)


@router.post(
    "/connections/{name}/test",
    response_model=Trial,
    summary="Try a connection",
    description="Asks its model for a few words; a failure answers too: `ok` is false, `detail` says what to do.",
    dependencies=[NO_BODY],
    responses=problem_docs(404, 409, 413, 415, 422),
)
async def try_connection(name: ConnectionName, services: ServicesDep) -> TrialView:
    return await unless_over(services.watching, services.connections.test(name))
