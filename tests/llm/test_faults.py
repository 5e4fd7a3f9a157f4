"""What people are told when a connection fails."""

from datetime import UTC, datetime

import pytest

from app.core.model import Usage
from app.core.retry import Failure
from app.core.summary import Connection, spent_on
from app.errors import ModelError, ModelRejected, ModelUnavailable, ModelUnusable
from app.llm import faults

CONNECTION = Connection("local", "openai", "http://user:pw@m.test", "fake-small", "sk-secret")
NOON = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("failure", "kind", "detail"),
    [
        (
            Failure("status", 401),
            ModelRejected,
            "Connection 'local' answered 401 Unauthorized: check its API key.",
        ),
        (
            Failure("status", 413),
            ModelRejected,
            "Connection 'local' answered 413 Content Too Large: the passage is too large for its server; lower"
            " passage_tokens.",
        ),
        (
            Failure("status", 529),
            ModelUnavailable,
            "Connection 'local' answered 529: look at its server, or wait.",
        ),
        (
            Failure("status", 429, retry_after=5),
            ModelUnavailable,
            "Connection 'local' answered 429 Too Many Requests: too many calls, or its quota is used up.",
        ),
        (
            Failure("status", 418),
            ModelRejected,
            "Connection 'local' answered 418 I'm a Teapot: check its base URL and its server.",
        ),
        (
            Failure("timeout", reason="gave no answer within 120 s; look at its server, or raise timeout_s"),
            ModelUnavailable,
            "Connection 'local' gave no answer within 120 s; look at its server, or raise timeout_s.",
        ),
        (
            Failure("settings", reason="has no base_url; set it"),
            ModelRejected,
            "Connection 'local' has no base_url; set it.",
        ),
        (
            Failure("unusable", reason="refused to answer"),
            ModelUnusable,
            "The model of connection 'local' refused to answer.",
        ),
    ],
)
def test_an_error_names_the_connection_the_status_and_the_next_step(
    failure: Failure, kind: type[ModelError], detail: str
) -> None:
    """Its class says who can do something; no key and no address is in it."""
    error = faults.error(CONNECTION, failure, retry_at=NOON, used=Usage(3, 30, 7))
    assert type(error) is kind
    assert (error.detail, error.status, error.retry_at) == (detail, failure.status, NOON)
    assert spent_on(error) == Usage(3, 30, 7)


def test_a_cool_down_says_until_when_and_why() -> None:
    """The last error is the reason."""
    error = faults.cooling_down(CONNECTION, NOON, "It answered 503.", Usage(2, 20, 5))
    assert error.detail == (
        "Connection 'local' is left alone until 12:00:00 UTC, then tried again by itself. Before that: It answered 503."
    )
    assert (error.retry_at, spent_on(error)) == (NOON, Usage(2, 20, 5))


def test_what_was_refused_is_kept_by_its_beginning() -> None:
    """Two thousand characters of an answer, without what no answer of ours can hold; of other failures nothing."""
    refused = faults.error(CONNECTION, Failure("unusable", reason="refused to answer"), said="a\ud800\0" + "b" * 3000)
    assert isinstance(refused, ModelUnusable)
    assert refused.said == "a\ufffd\ufffd" + "b" * (faults.MOST_SAID - 3)
    assert "a" not in str(refused).replace(refused.detail, "")
    assert not hasattr(faults.error(CONNECTION, Failure("status", 401), said="secret"), "said")
