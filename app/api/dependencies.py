"""What routes take besides a body. Coroutines throughout: a plain function would cost each request a thread."""

from typing import Annotated

from fastapi import Body, Depends, Header, Path, Query, Request

from app.api.paging import MAX_CURSOR_CHARS, PageQuery
from app.api.text import Id, StrictModel
from app.services.bundle import Services


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


async def _page_query(
    limit: Annotated[int, Query(ge=1, le=1000, description="The most items on a page.")] = 50,
    cursor: Annotated[
        str | None, Query(max_length=MAX_CURSOR_CHARS, description="`next_cursor` of the page before.")
    ] = None,
) -> PageQuery:
    return PageQuery(limit, cursor)


class EmptyBody(StrictModel):
    """No fields; the body may be left out."""


async def _empty_body(_body: Annotated[EmptyBody | None, Body()] = None) -> None:
    pass


ServicesDep = Annotated[Services, Depends(_services)]
PageDep = Annotated[PageQuery, Depends(_page_query)]
NO_BODY = Depends(_empty_body)
"""For calls that need no body: none and `{}` are fine, unknown fields are a 422."""

IfMatch = Annotated[
    str | None,
    Header(alias="If-Match", description="The ETag that was read: only if it still holds is anything changed (412)."),
]
ChatId = Annotated[Id, Path(description="The chat's id.", examples=["mira-and-tom"])]
MessageId = Annotated[Id, Path(description="The message's id, unique within its chat.", examples=["u1"])]
SnippetId = Annotated[Id, Path(description="The snippet's id.", examples=["5d0c7a52-6f0e-4c6b-9a52-0a4f0b4a7a10"])]
JobId = Annotated[Id, Path(description="The job's id.", examples=["0f6f2a3e-8f0b-4a50-9d57-0c6d1f6f7a11"])]
ViewName = Annotated[Id, Path(description="The view's name, unique within its chat.", examples=["reply"])]
SessionId = Annotated[Id, Path(description="The session's id, unique within its chat.", examples=["dinner"])]
ConnectionName = Annotated[Id, Path(description="The connection's name.", examples=["default"])]
