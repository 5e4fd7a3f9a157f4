"""The pages that the server gives: the dashboard at `/`, the files under `/static` and the documentation at `/docs`."""

import base64
import hashlib
import os
import re
import stat
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import Headers
from starlette.responses import FileResponse
from starlette.staticfiles import NotModifiedResponse
from starlette.types import Scope

from app.api.access import docs_policy
from app.resources import resource_dir

# Browsers run nothing of another type, and a machine's registry may tell Python another one.
_TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".ts": "text/plain",
}
_SMALL = 256 * 1024
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def serve_pages(app: FastAPI) -> None:
    """Add the routes of the pages. Raises FileNotFoundError if the installation lacks their files."""
    files = Files(directory=resource_dir("static"))
    app.mount("/static/docs", Files(packages=[("fastapi_offline", "static")]), name="docs")
    app.mount("/static", files, name="static")

    @app.get("/", include_in_schema=False)
    async def index(request: Request) -> Response:
        return await files.get_response("index.html", request.scope)

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        content, policy = _docs()
        return HTMLResponse(content, headers={"Content-Security-Policy": policy})


class Files(StaticFiles):
    """Files that a browser keeps and asks about each time, so that those of a new version are there at once.

    A page is made of a hundred small files: these come from memory, without the threads that reading them would take.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._read = lru_cache(maxsize=256)(_read)  # the files of a running server may change, if their times do too

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file at a path under the folder. Raises HTTPException: 404, 405."""
        full_path, found = self.lookup_path(path)
        if scope["method"] in ("GET", "HEAD") and found and stat.S_ISREG(found.st_mode):
            return self.file_response(full_path, found, scope)
        return await super().get_response(path, scope)

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """The file, or a 304 for who has it. What is in it decides: installers give files what times they like."""
        path = Path(full_path)
        etag, content = self._read(path, stat_result.st_mtime_ns, stat_result.st_size)
        told, kind = {"Cache-Control": "no-cache", "ETag": etag}, _TYPES.get(path.suffix)
        found: Response = FileResponse(path, status_code, told, kind, stat_result=stat_result)
        if content is not None and "range" not in Headers(scope=scope):
            found = Response(content, status_code, dict(found.headers))
        asked = Headers(scope=scope)
        if "if-none-match" in asked and self.is_not_modified(found.headers, asked):
            return NotModifiedResponse(found.headers)
        return found


def _read(path: Path, _changed_at: int, size: int) -> tuple[str, bytes | None]:
    """What a file is called by, and what is in it if it is small."""
    content = path.read_bytes()
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"', content if size <= _SMALL else None


@lru_cache(maxsize=1)
def _docs() -> tuple[str, str]:
    """The page and its policy."""
    page = get_swagger_ui_html(
        openapi_url="/openapi.json",
        title="Turnfold",
        swagger_js_url="/static/docs/swagger-ui-bundle.js",
        swagger_css_url="/static/docs/swagger-ui.css",
        swagger_favicon_url="/static/icon.svg",
        swagger_ui_parameters={"validatorUrl": None},
    )
    content = bytes(page.body).decode()
    return content, docs_policy([_hash(script) for script in _SCRIPT.findall(content)])


def _hash(script: str) -> str:
    """What a policy calls an inline script that it lets run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
