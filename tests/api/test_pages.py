"""What a browser is given: the dashboard, its files, the documentation, and the headers of them all."""

import base64
import hashlib
import os
import re
from pathlib import Path

import pytest
from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient

from app.api.access import PAGE_POLICY
from app.api.pages import Files
from tests.support.service import Service

WANTED = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": PAGE_POLICY,
    "Cache-Control": "no-cache",
}


@pytest.mark.parametrize(
    "path", ["/", "/static/turnfold.js", "/static/sillytavern/style.css", "/static/sillytavern/following.js"]
)
def test_a_page_and_its_files(service: Service, path: str) -> None:
    """They load from here alone, run nothing inline, go into no frame, and are asked about each time."""
    answer = service.http.get(path)
    assert {name: answer.headers.get(name) for name in WANTED} == WANTED
    again = service.http.get(path, headers={"If-None-Match": f'W/"x", {answer.headers["ETag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert {name: again.headers.get(name) for name in WANTED} == WANTED


def test_what_is_missing_is_no_page(service: Service) -> None:
    """A file that is not there is a problem under the same policy."""
    answer = service.http.get("/static/nope.js")
    assert answer.status_code == 404
    assert answer.headers["Content-Security-Policy"] == PAGE_POLICY


def test_the_policy_lets_nothing_inline_run() -> None:
    """No policy has a word that begins with unsafe-."""
    assert "unsafe-" not in PAGE_POLICY


def test_scripts_run_whatever_the_machine_calls_them(service: Service) -> None:
    """Scripts and styles have the types without which nosniff forbids them, and types of scripts are text."""
    names = ("turnfold.js", "sillytavern/style.css", "dashboard/vendor/uplot.d.ts")
    kinds = [service.http.get(f"/static/{name}").headers["Content-Type"] for name in names]
    assert kinds == [f"text/{kind}; charset=utf-8" for kind in ("javascript", "css", "plain")]


def test_the_documentation_names_its_script(service: Service) -> None:
    """/docs lets the one inline script run that it has, by its hash, and is a page like any other but for that."""
    answer = service.http.get("/docs")
    (script,) = re.findall(r"<script>(.*?)</script>", answer.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = answer.headers["Content-Security-Policy"]
    assert policy == PAGE_POLICY.replace("script-src 'self'", f"script-src 'self' 'sha256-{digest}'")


def test_pages_of_other_origins_may_import_the_client(service: Service) -> None:
    """turnfold.js is read across origins, by those that are allowed, also when they have it already."""
    origin = {"Origin": "http://127.0.0.1:8000"}
    answer = service.http.get("/static/turnfold.js", headers=origin)
    again = service.http.get("/static/turnfold.js", headers={**origin, "If-None-Match": answer.headers["ETag"]})
    assert [one.status_code for one in (answer, again)] == [200, 304]
    assert {one.headers["Access-Control-Allow-Origin"] for one in (answer, again)} == {origin["Origin"]}


async def test_a_new_version_is_there_at_once(tmp_path: Path) -> None:
    """A file of the same size and time as the old one, as reproducible installations have them, is a new one."""
    tags = []
    for version in ("one", "two"):
        (tmp_path / "a.js").write_text(version)
        os.utime(tmp_path / "a.js", (0, 0))
        app = FastAPI()
        app.mount("/static", Files(directory=tmp_path))
        async with AsyncClient(transport=ASGITransport(app), base_url="http://127.0.0.1") as client:
            tags.append((await client.get("/static/a.js")).headers["ETag"])
    assert tags[0] != tags[1]
