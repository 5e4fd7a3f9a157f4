"""Imports: a chat from a file, and memory from another, streamed in bounded memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from tempfile import SpooledTemporaryFile
from typing import Annotated, Any, BinaryIO, NamedTuple

from fastapi import Query, Request, Response, UploadFile
from starlette.datastructures import UploadFile as FormFile
from starlette.exceptions import HTTPException

from app.api.dependencies import ChatId, ServicesDep
from app.api.problems import problem_docs
from app.api.routes.chats import chat_location
from app.api.routing import new_router
from app.api.schemas.chats import Title
from app.api.schemas.imports import Imported
from app.api.text import Id, Name
from app.errors import InvalidRequest
from app.services.importing import Imported as ImportedView

router = new_router("imports")

_IN_MEMORY = 1024 * 1024
"""Bytes of an upload that are held in memory; what is longer goes to a temporary file."""

_FILE: dict[str, Any] = {"type": "string", "contentMediaType": "application/octet-stream"}


def _body(**fields: str) -> dict[str, Any]:
    """A file as it is, or a form with these fields, of which `file` is required."""
    properties = {name: {**_FILE, "description": description} for name, description in fields.items()}
    form = {"type": "object", "properties": properties, "required": ["file"]}
    content = {"*/*": {"schema": _FILE}, "multipart/form-data": {"schema": form}}
    return {"required": True, "content": content}


_CHAT = _body(
    file="The chat.",
    memory="Its memory, if the chat's file has none: an export of the Summaryception extension, or a group's .json.",
)
_MEMORY = _body(
    file="The memory: an export of the Summaryception extension, a chat's file that holds one, or a group's .json."
)


@router.post(
    "/import",
    response_model=Imported,
    status_code=201,
    summary="Import a chat",
    description=(
        "The file as the body, or as the field `file` of a form; its kind is recognized by content. The memory that it"
        " brings, or that of the field `memory`, stands for the messages it covers."
    ),
    openapi_extra={"requestBody": _CHAT},
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
    async with _uploaded(request) as (file, memory):
        load = services.importing.load
        found = await asyncio.to_thread(load, file, chat_id=chat_id, title=title, format=format, memory=memory)
    response.headers["Location"] = chat_location(found.chat_id)
    return found


@router.post(
    "/chats/{chat_id}/import",
    response_model=Imported,
    status_code=201,
    summary="Import memory",
    description=(
        "A file's memory for a chat that is here, as the body or as the field `file` of a form. What fits is taken,"
        " where the chat has no memory of its own; the rest is in `warnings`."
    ),
    openapi_extra={"requestBody": _MEMORY},
    responses=problem_docs(404, 413, 422),
)
async def import_memory(chat_id: ChatId, request: Request, services: ServicesDep) -> ImportedView:
    async with _uploaded(request) as (file, memory):
        if memory is not None:
            raise _bad_field("memory", "Belongs in the field `file` here.")
        return await asyncio.to_thread(services.importing.adopt, chat_id, file)


class _Upload(NamedTuple):
    """What was uploaded, each at its beginning."""

    file: BinaryIO
    memory: BinaryIO | None = None


@asynccontextmanager
async def _uploaded(request: Request) -> AsyncIterator[_Upload]:
    is_form = request.headers.get("content-type", "").lower().startswith("multipart/form-data")
    source = _form(request) if is_form else _raw_file(request)
    async with source as upload:
        yield upload


@asynccontextmanager
async def _form(request: Request) -> AsyncIterator[_Upload]:
    try:
        form = await request.form(max_files=2, max_fields=20)
    except HTTPException as error:
        raise InvalidRequest(f"The form cannot be read: {error.detail}") from None
    try:
        file, memory = form.get("file"), form.get("memory")
        if not isinstance(file, FormFile):
            raise _bad_field("file", "Must be a file.")
        if memory is not None and not isinstance(memory, FormFile):
            raise _bad_field("memory", "Must be a file.")
        yield _Upload(file.file, memory.file if memory is not None else None)
    finally:
        await form.close()


@asynccontextmanager
async def _raw_file(request: Request) -> AsyncIterator[_Upload]:
    spool: Any = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  # UploadFile closes it
    upload = UploadFile(spool)
    try:
        async for chunk in request.stream():
            await upload.write(chunk)
        await upload.seek(0)
        yield _Upload(upload.file)
    finally:
        await upload.close()


def _bad_field(name: str, message: str) -> InvalidRequest:
    return InvalidRequest(f"body.{name}: {message}", [{"loc": ["body", name], "msg": message}])
