"""Health over HTTP."""

from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path

from tests.support import fake_replies as replies
from tests.support.fake_model import FakeModel
from tests.support.service import Service, running


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
    assert checks["connections"] == [{"name": "default", "state": "ok", "retry_at": None, "last_error": None}]


def test_readyz_shows_connections_that_fail(tmp_path: Path) -> None:
    """Each that was called, with its state, its last error and its next try; none of it makes a server unready."""
    with FakeModel() as model, running(tmp_path, llm_provider="openai", llm_base_url=model.base_url) as service:
        service.put("/connections/spare", {"provider": "openai", "base_url": model.base_url, "model": "fake-small"})
        service.put("/connections/unused", {"provider": "openai", "base_url": model.base_url, "model": "fake-small"})
        model.do(replies.status(429, retry_after=3600))
        service.say("mira", *range(1, 14))
        service.settled("mira")
        model.do(replies.status(401))
        assert not service.post("/connections/spare/test").json()["ok"]
        answer = service.http.get("/readyz")
    assert (answer.status_code, answer.json()["ready"]) == (200, True)
    default, spare = answer.json()["checks"]["connections"]
    assert (default["name"], default["state"]) == ("default", "cooling_down")
    assert default["last_error"].startswith("Connection 'default' answered 429 Too Many Requests")
    assert datetime.fromisoformat(default["retry_at"]) > datetime.now(UTC) + timedelta(minutes=50)
    assert answer.json()["checks"]["default_connection"] == {key: default[key] for key in ("state", "retry_at")}
    refused = "Connection 'spare' answered 401 Unauthorized: check its API key."  # by a person's own test
    assert spare == {"name": "spare", "state": "failing", "retry_at": None, "last_error": refused}


def test_readyz_forgets_a_connection_that_is_gone(tmp_path: Path) -> None:
    """A connection that was deleted is not shown until it is called again."""
    with FakeModel() as model, running(tmp_path) as service:
        service.put("/connections/spare", {"provider": "openai", "base_url": model.base_url, "model": "fake-small"})
        service.post("/connections/spare/test")
        assert _names(service) == ["default", "spare"]
        service.http.delete("/v1/connections/spare")
        assert _names(service) == ["default"]


def _names(service: Service) -> list[str]:
    return [shown["name"] for shown in service.http.get("/readyz").json()["checks"]["connections"]]
