"""How routers are made here: one tag, readable operation ids, and the answers every route can give."""

from fastapi import APIRouter
from fastapi.routing import APIRoute

from app.api.json_bodies import JsonRoute
from app.api.problems import problem_docs


def _operation_id(route: APIRoute) -> str:
    return route.name


def new_router(tag: str, *, public: bool = False) -> APIRouter:
    """A router whose operations are called by their functions' names. Public ones need no key and have no prefix."""
    return APIRouter(
        prefix="" if public else "/v1",
        tags=[tag],
        responses=problem_docs(403, 500) if public else problem_docs(401, 403, 500),
        route_class=JsonRoute,
        generate_unique_id_function=_operation_id,
    )
