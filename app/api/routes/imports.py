"""Imports: a chat from a file, streamed in bounded memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from tempfile import SpooledTemporaryFile
from typing import Annotated, Any, BinaryIO

from fastapi import Query, Request, Response, UploadFile
from starlette.datastructures import UploadFile as FormFile
from starlette.exceptions import HTTPException

from app.api.dependencies import ServicesDep
from app.api.problems import problem_docs
from app.api.routes.chats import chat_location
from app.api.routing import new_router
from app.api.schemas.chats import Title
from app.api.schemas.common import NOT_AVAILABLE
from app.api.schemas.imports import Imported
from app.api.text import Id, Name
from app.errors import InvalidRequest
from app.services.importing import Imported as ImportedView

router = new_router("imports")

_IN_MEMORY = 1024 * 1024
"""Bytes of an upload that are held in memory; what is longer goes to a temporary file."""

_FILE: dict[str, Any] = {"type": "string", "contentMediaType": "application/octet-stream"}
_BODY: dict[str, Any] = {
    "required": True,
    "content": {
        "*/*": {"schema": _FILE},
        "multipart/form-data": {
            "schema": {"type": "object", "properties": {"file": _FILE}, "required": ["file"]},
        },
    },
}


@router.post(
    "/import",
    response_model=Imported,
    status_code=201,
    summary="Import a chat",
    description="The file as the body, or as the field `file` of a form; its kind is recognized by content.",
    openapi_extra={"requestBody": _BODY},
    responses=problem_docs(409, 413, 422),
)
async def import_chat(
    request: Request,
    services: ServicesDep,
    response: Response,
    chat_id: Annotated[Id | None, Query(description="The new chat's id; a taken one is a 409.")] = None,
    title: Annotated[Title | None, Query(description="Instead of the file's own.")] = None,
    format: Annotated[Name | None, Query(description="Instead of recognizing it.", examples=["sillytavern"])] = None,
) -> ImportedView:
    async with _uploaded(request) as file:
        found = await asyncio.to_thread(services.importing.load, file, chat_id=chat_id, title=title, format=format)
    response.headers["Location"] = chat_location(found.chat_id)
    return found


@asynccontextmanager
async def _uploaded(request: Request) -> AsyncIterator[BinaryIO]:
    """The uploaded file, at its beginning."""
    is_form = request.headers.get("content-type", "").lower().startswith("multipart/form-data")
    source = _form_file(request) if is_form else _raw_file(request)
    async with source as file:
        yield file


@asynccontextmanager
async def _form_file(request: Request) -> AsyncIterator[BinaryIO]:
    try:
        form = await request.form(max_files=2, max_fields=20)
    except HTTPException as error:
        raise InvalidRequest(f"The form cannot be read: {error.detail}") from None
    try:
        if "memory" in form:
            raise _bad_field("memory", NOT_AVAILABLE)
        file = form.get("file")
        if not isinstance(file, FormFile):
            raise _bad_field("file", "Must be a file.")
        yield file.file
    finally:
        await form.close()


@asynccontextmanager
async def _raw_file(request: Request) -> AsyncIterator[BinaryIO]:
    spool: Any = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  # UploadFile closes it
    upload = UploadFile(spool)
    try:
        async for chunk in request.stream():
            await upload.write(chunk)
        await upload.seek(0)
        yield upload.file
    finally:
        await upload.close()


def _bad_field(name: str, message: str) -> InvalidRequest:
    return InvalidRequest(f"body.{name}: {message}", [{"loc": ["body", name], "msg": message}])
