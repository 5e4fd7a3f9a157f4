"""A bare FastAPI endpoint that answers with the bytes of a file, and nothing around it: the floor of any route here."""

import os
from pathlib import Path

from fastapi import FastAPI, Response

_BODY = Path(os.environ["BENCH_BODY"]).read_bytes()

app = FastAPI(openapi_url=None)


@app.get("/")
async def answer() -> Response:
    """The bytes."""
    return Response(_BODY, media_type="application/json")
