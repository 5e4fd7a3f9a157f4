"""Views of a chat: one for each consumer that sees it in its own way."""

from urllib.parse import quote

from fastapi import Response

from app.api.dependencies import ChatId, IfMatch, PageDep, ServicesDep, ViewName
from app.api.paging import Paged
from app.api.problems import problem_docs
from app.api.routes.chats import chat_location
from app.api.routing import new_router
from app.api.schemas.views import View, ViewFields, ViewPage
from app.services.viewing import ViewView

router = new_router("views")


@router.get(
    "/chats/{chat_id}/views",
    response_model=ViewPage,
    summary="List views",
    description="By name.",
    responses=problem_docs(404, 422),
)
def list_views(chat_id: ChatId, services: ServicesDep, page: PageDep) -> Paged[ViewView]:
    return page.counted_page("views", services.viewing.page(chat_id, page.offset("views"), page.wanted))


@router.get(
    "/chats/{chat_id}/views/{name}",
    response_model=View,
    summary="Read a view",
    description="`ETag` changes with its options.",
    responses=problem_docs(404, 422),
)
def read_view(chat_id: ChatId, name: ViewName, services: ServicesDep, response: Response) -> ViewView:
    view = services.viewing.get(chat_id, name)
    response.headers["ETag"] = view.etag
    return view


@router.put(
    "/chats/{chat_id}/views/{name}",
    response_model=View,
    summary="Make a view, or merge into it",
    description=(
        "201 when the view is new, 200 when the options were merged into the one there was. `?view=` of a projection"
        " uses it. Another size, or anything else that changes what the past costs, lets its window begin afresh."
    ),
    responses={201: {"model": View, "description": "Created"}, **problem_docs(404, 412, 413, 415, 422)},
)
def put_view(
    chat_id: ChatId,
    name: ViewName,
    services: ServicesDep,
    response: Response,
    body: ViewFields | None = None,
    if_match: IfMatch = None,
) -> ViewView:
    view, created = services.viewing.put(chat_id, name, body.change() if body else {}, if_match)
    response.headers["ETag"] = view.etag
    if created:
        response.status_code = 201
        response.headers["Location"] = f"{chat_location(chat_id)}/views/{quote(name, safe='')}"
    return view


@router.delete(
    "/chats/{chat_id}/views/{name}",
    status_code=204,
    summary="Forget a view",
    description="And its window. The chat stays as it is.",
    responses=problem_docs(404, 412, 422),
)
def delete_view(chat_id: ChatId, name: ViewName, services: ServicesDep, if_match: IfMatch = None) -> None:
    services.viewing.delete(chat_id, name, if_match)
