"""Exports: a chat as a file, streamed."""

import asyncio
from collections.abc import AsyncIterator
from typing import IO, Annotated, Any, Literal
from urllib.parse import quote

from fastapi import Query, Response
from fastapi.responses import StreamingResponse

from app.api.dependencies import ChatId, ServicesDep
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.exports import ExportedMemory, ExportedMessages

router = new_router("exports")

Format = Literal["turnfold", "sillytavern", "summaryception", "openai"]

_CHUNK = 256 * 1024
# What some file system does not take in a name.
_UNFIT = frozenset('/\\:*?"<>|')
_LINES: dict[str, Any] = {
    "schema": {"type": "string", "description": "`turnfold`, `sillytavern`: a JSON object a line."},
    "example": (
        '{"turnfold":{"version":1,"parts":["message"]},'
        '"chat":{"id":"mira-and-tom","strategy":"layered","created_at":"2026-03-01T12:00:00.000Z"}}\n'
        '{"message":{"index":0,"id":"u1","role":"user","content":"Is the gate still shut?",'
        '"created_at":"2026-03-01T12:00:00.000Z"}}\n'
        '{"end":{"message":1}}\n'
    ),
}


@router.get(
    "/chats/{chat_id}/export",
    response_model=ExportedMemory | ExportedMessages,
    summary="Export a chat",
    description=(
        "As a file: `turnfold` carries everything and comes back through an import as it was; `sillytavern` opens in"
        " SillyTavern; `summaryception` is the memory alone, for that extension; `openai` is the history as messages."
    ),
    responses={
        200: {"description": "The file", "content": {"application/x-ndjson": _LINES}},
        **problem_docs(404, 422),
    },
)
async def export_chat(
    chat_id: ChatId,
    services: ServicesDep,
    format: Annotated[Format, Query(description="What kind of file.")] = "turnfold",
) -> Response:
    found = await asyncio.to_thread(services.exporting.export, chat_id, format)
    headers = {"Content-Length": str(found.size), "Content-Disposition": disposition(found.name)}
    return StreamingResponse(_pieces(found.file), media_type=found.media_type, headers=headers)


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    with file:
        while piece := await asyncio.to_thread(file.read, _CHUNK):
            yield piece


def disposition(name: str) -> str:
    """The header that names a download (RFC 6266): in ASCII for whoever reads no more, and as it is (RFC 5987)."""
    fit = "".join("_" if char in _UNFIT or not char.isprintable() else char for char in name).strip(". ")
    plain = "".join(char if char.isascii() else "_" for char in fit)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(fit, safe='')}"
