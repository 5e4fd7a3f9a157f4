"""Whether the server lives, and whether it can work. Open without a key."""

from typing import Any

from fastapi import Request, Response

from app.api.dependencies import ServicesDep
from app.api.routing import new_router
from app.api.schemas.health import Alive, Checks, Readiness

router = new_router("health", public=True)

_NOT_READY: dict[str, Any] = {
    "ready": False,
    "checks": {
        "database": {"ok": True, "detail": "migrated and writable"},
        "worker": {"ok": False, "detail": "The worker has stopped; restart the server."},
        # Not null: FastAPI takes nulls out of the examples of a route.
        "default_connection": {"state": "cooling_down", "retry_at": "2026-11-30T05:41:00Z"},
        "connections": [
            {
                "name": "default",
                "state": "cooling_down",
                "retry_at": "2026-11-30T05:41:00Z",
                "last_error": "Connection 'default' answered 401 Unauthorized: check its API key.",
            }
        ],
    },
}


@router.get(
    "/healthz",
    response_model=Alive,
    summary="Whether the process answers",
    description="Looks at nothing else.",
)
async def healthz(request: Request) -> Alive:
    return Alive(status="ok", version=request.app.version)


@router.get(
    "/readyz",
    response_model=Readiness,
    summary="Whether it can do its work",
    description="200 when the database is migrated and writable and the worker runs; connections are shown.",
    responses={
        503: {
            "model": Readiness,
            "description": "Not ready, and why",
            "content": {"application/json": {"example": _NOT_READY}},
        }
    },
)
def readyz(services: ServicesDep, response: Response) -> Readiness:
    found = services.health.check()
    response.status_code = 200 if found.ready else 503
    return Readiness(ready=found.ready, checks=Checks.model_validate(found))
