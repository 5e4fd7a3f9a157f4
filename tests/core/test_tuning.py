"""app.core.tuning: a connection as rolling memory uses it."""

from dataclasses import replace
from typing import Any

import pytest

from app.core.settings import RollingSettings, Sampling
from app.core.summary import Connection
from app.core.tuning import summary_limit, tune

OPENAI = Connection("main", "openai", model="big", context_size=8192, temperature=0.7, max_tokens=900)
OLLAMA = Connection("home", "ollama", model="big")


def tuned(connection: Connection, **values: Any) -> Connection:
    sampling = Sampling(**values.pop("sampling", {}))
    return tune(connection, RollingSettings(sampling=sampling, **values))


def with_body(connection: Connection, **body: Any) -> Connection:
    return Connection(connection.name, connection.provider, model="big", extra_body=body)


@pytest.mark.parametrize("connection", [OPENAI, OLLAMA, with_body(OLLAMA, options={"num_ctx": 9}, keep_alive=0)])
def test_without_settings_little_changes(connection: Connection) -> None:
    """A chat that sets none of it uses the connection as it is, in 2048 tokens of its window; Ollama is not told of a
    window, or it would load the model anew.
    """
    window = 2048 if connection.provider == "openai" else connection.context_size
    assert tuned(connection) == replace(connection, context_size=window)


def test_a_window_is_never_larger_than_the_model_has() -> None:
    """What is known of the connection bounds it, unless the model is another one."""
    small = replace(OPENAI, context_size=1000)
    assert tuned(small).context_size == 1000
    assert tuned(small, context_size=4096).context_size == 1000
    assert tuned(small, context_size=4096, model_name="large").context_size == 4096


def test_model_and_window_of_its_own() -> None:
    """A model_name and a context_size take the place of the connection's, even where its extra_body has one."""
    found = tuned(with_body(OPENAI, model="huge", seed=1), model_name="small", context_size=4096)
    assert (found.model, found.context_size, found.extra_body) == ("small", 4096, {"seed": 1})


def test_sampling_of_an_openai_call() -> None:
    """Values that are set go into the body and before the connection's own; the others stay."""
    sampling = {"temperature": 0.0, "top_p": 0.9, "min_p": 0.05, "top_k": 40, "repeat_penalty": 1.1}
    found = tuned(with_body(OPENAI, temperature=1.0, top_k=5, seed=1), sampling=sampling)
    assert found.temperature == 0.0
    assert found.extra_body == {"seed": 1, "top_p": 0.9, "min_p": 0.05, "top_k": 40, "repeat_penalty": 1.1}


def test_sampling_of_an_ollama_call() -> None:
    """There they are options; a window that is set goes before one of the connection's options."""
    body = {"keep_alive": "5m", "options": {"num_ctx": 2048, "temperature": 1.0, "num_gpu": 20}}
    sampling = {"temperature": 0.2, "top_k": 10, "max_tokens": 100}
    found = tuned(with_body(OLLAMA, **body), context_size=4096, sampling=sampling)
    assert (found.temperature, found.max_tokens, found.context_size) == (0.2, 100, 4096)
    assert found.extra_body == {"keep_alive": "5m", "options": {"num_gpu": 20, "top_k": 10}}


def test_a_limit_that_goes_by_another_name() -> None:
    """Where the connection names its limit max_completion_tokens, that is the one that changes."""
    found = tuned(with_body(OPENAI, max_tokens=None, max_completion_tokens=5000), sampling={"max_tokens": 90})
    assert found.extra_body == {"max_tokens": None, "max_completion_tokens": 90}


@pytest.mark.parametrize(("asked", "limit"), [(None, 256), (100, 100), (1000, 256)])
def test_the_smaller_limit_holds(asked: int | None, limit: int) -> None:
    """Of max_summary_tokens and sampling.max_tokens the smaller one bounds the summary, and what is asked for."""
    settings = RollingSettings(sampling=Sampling(max_tokens=asked))
    assert summary_limit(settings) == limit
    assert tune(OPENAI, settings).max_tokens == (limit if asked else 900)
