"""Connections over HTTP."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.fake_model import FakeModel
from tests.support.service import Service

SECRET = "sk-very-secret"


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    """A model server."""
    with FakeModel() as model:
        yield model


def openai(**fields: Any) -> dict[str, Any]:
    """The fields of a connection to a server that is not there."""
    return {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "small", **fields}


def test_two_are_always_there(service: Service) -> None:
    """`default` is the environment's, `extractive` is built in."""
    found = service.get("/connections").json()
    sources = {item["name"]: (item["provider"], item["source"]) for item in found["items"]}
    assert sources["default"] == ("extractive", "environment")
    assert sources["extractive"] == ("extractive", "built_in")


def test_lists_have_pages(service: Service) -> None:
    """Connections come by name, page by page."""
    service.put("/connections/zeta", openai())
    whole = [item["name"] for item in service.get("/connections").json()["items"]]
    assert whole == sorted(whole)
    first = service.get("/connections", params={"limit": 1}).json()
    rest = service.get("/connections", params={"cursor": first["next_cursor"]}).json()
    assert [item["name"] for item in first["items"] + rest["items"]] == whole


def test_put_takes_all_fields_and_hides_the_key(service: Service) -> None:
    """Everything but the key comes out as it went in; no answer ever holds the key."""
    fields = openai(
        context_size=8192,
        temperature=0.2,
        max_tokens=300,
        timeout_s=30,
        concurrency=2,
        extra_body={"seed": 7, "nested": {"a": [1]}},
    )
    answer = service.put("/connections/full", {**fields, "api_key": SECRET})
    assert answer.status_code == 200, answer.text
    read = service.get("/connections/full")
    for found in (answer, read):
        assert SECRET not in found.text
        assert "api_key" not in found.json()
        assert found.json() == {**fields, "name": "full", "has_api_key": True, "source": "stored"}
    assert SECRET.encode() not in service.database.read_bytes()


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({}, True),
        ({"model": "large"}, True),
        ({"base_url": "http://127.0.0.1:10/v1"}, False),
        ({"provider": "ollama"}, False),
        ({"api_key": None}, False),
        ({"api_key": "another"}, True),
    ],
)
def test_a_key_stays_with_its_place(service: Service, change: dict[str, Any], kept: bool) -> None:
    """An absent key is kept while provider and base_url stay; null removes it."""
    service.put("/connections/keyed", openai(api_key=SECRET))
    assert service.put("/connections/keyed", openai(**change)).json()["has_api_key"] is kept


def test_put_replaces_all_fields(service: Service) -> None:
    """What a PUT leaves out is gone."""
    service.put("/connections/again", openai(context_size=8192, temperature=1))
    found = service.put("/connections/again", openai()).json()
    assert (found["context_size"], found["temperature"]) == (None, None)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({}, "provider"),
        ({"provider": "magic"}, "provider"),
        ({"provider": "openai", "colour": "red"}, "colour"),
        (openai(base_url="file:///etc/passwd"), "base_url"),
        (openai(base_url="127.0.0.1"), "base_url"),
        (openai(base_url=f"http://user:{SECRET}@127.0.0.1/v1"), "base_url"),
        (openai(context_size="big"), "context_size"),
        (openai(context_size=10**30), "context_size"),
        (openai(temperature=-1), "temperature"),
        (openai(max_tokens=0), "max_tokens"),
        (openai(timeout_s=0), "timeout_s"),
        (openai(concurrency=65), "concurrency"),
        (openai(extra_body=[]), "extra_body"),
        (openai(api_key=f"{SECRET}\n"), "api_key"),
        (openai(api_key=""), "api_key"),
    ],
)
def test_bad_fields_are_named(service: Service, fields: dict[str, Any], named: str) -> None:
    """A bad field is a 422 that names it and never says what it held."""
    answer = service.put("/connections/bad", fields)
    assert answer.status_code == 422
    assert any(named in error["loc"] for error in answer.json()["errors"])
    assert SECRET not in answer.text
    assert service.get("/connections/bad").status_code == 404


def test_what_cannot_work_is_refused(service: Service) -> None:
    """Openai needs an address."""
    answer = service.put("/connections/bad", {"provider": "openai"})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


@pytest.mark.parametrize("name", ["x" * 201, "a%00b"])
def test_names_are_ids(service: Service, name: str) -> None:
    """A name that is no id is a 422."""
    assert service.put(f"/connections/{name}", openai()).status_code == 422


def test_the_built_in_one_stays(service: Service) -> None:
    """`extractive` can be neither changed nor deleted."""
    for answer in (service.put("/connections/extractive", openai()), service.http.delete("/v1/connections/extractive")):
        assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


def test_delete_returns_default_to_the_environment(service: Service) -> None:
    """A stored `default` goes before the environment's until it is deleted; others are gone then."""
    assert service.put("/connections/default", openai()).json()["source"] == "stored"
    assert service.http.delete("/v1/connections/default").status_code == 204
    assert service.get("/connections/default").json()["source"] == "environment"
    service.put("/connections/short", openai())
    assert service.http.delete("/v1/connections/short").status_code == 204
    assert service.http.delete("/v1/connections/short").status_code == 404
    assert service.get("/connections/short").status_code == 404


def test_models_are_listed(service: Service, model: FakeModel) -> None:
    """The names its server gives; nothing is asked of a model."""
    service.put("/connections/real", openai(base_url=model.base_url))
    assert service.get("/connections/real/models").json() == {
        "items": ["fake-small", "fake-large"],
        "next_cursor": None,
    }
    assert model.calls == []


def test_a_server_that_is_not_there(service: Service) -> None:
    """Listing its models is a 503, a test an answer that says so; an unknown connection is a 404."""
    service.put("/connections/dead", openai())
    models = service.get("/connections/dead/models")
    assert (models.status_code, models.json()["code"]) == (503, "provider_unavailable")
    trial = service.post("/connections/dead/test")
    assert (trial.status_code, trial.json()["ok"]) == (200, False)
    assert trial.json().keys() == {"ok", "latency_ms", "detail"}
    assert service.get("/connections/none/models").status_code == 404
    assert service.post("/connections/none/test").status_code == 404


@pytest.mark.parametrize("name", ["extractive", "default"])
def test_the_extractive_one_always_works(service: Service, name: str) -> None:
    """A test of it is well without any server."""
    assert service.post(f"/connections/{name}/test", {}).json()["ok"] is True


def test_a_working_model_passes(service: Service, model: FakeModel) -> None:
    """A test asks the model a few words."""
    service.put("/connections/real", openai(base_url=model.base_url))
    assert service.post("/connections/real/test").json()["ok"] is True
    assert len(model.calls) == 1
