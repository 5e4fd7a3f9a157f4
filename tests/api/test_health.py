"""Health over HTTP."""

from importlib.metadata import version

from tests.support.service import Service


def test_healthz(service: Service) -> None:
    """The process answers, with its version."""
    answer = service.http.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "version": version("turnfold")})


def test_readyz(service: Service) -> None:
    """A server that can work is ready and shows what it looked at."""
    answer = service.http.get("/readyz")
    assert (answer.status_code, answer.json()["ready"]) == (200, True)
    checks = answer.json()["checks"]
    assert (checks["database"]["ok"], checks["worker"]["ok"]) == (True, True)
    assert checks["default_connection"] == {"state": "ok", "retry_at": None}
