"""What can go wrong, split by what the caller can do about it.

TurnfoldError
├── InvalidRequest        change the request
│   ├── IdempotencyMismatch
│   └── UnsupportedComponent
├── NotFound              name something that exists
├── Conflict              look at the present state, then decide
├── PreconditionFailed    read again, then repeat
├── PayloadTooLarge       send less at once
├── UnsupportedMediaType  send JSON
├── Unauthorized          send the key
├── Forbidden             ask the operator to allow this address
└── ModelError            look at the connection
    ├── ModelUnavailable  wait: it is tried again by itself
    ├── ModelRejected     a person must change the connection or its server
    ├── ModelUnusable     the model answers, but never with a usable text
    └── ModelWithdrawn    ask again: what was asked of it was changed before anybody answered

Errors know nothing of HTTP; `app.api` turns them into responses, in one place.
"""

from datetime import datetime
from typing import ClassVar

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on


class FieldError(TypedDict):
    """One thing wrong with a request: where (`loc`) and what (`msg`), without the offending value."""

    loc: list[str | int]
    msg: str


class TurnfoldError(Exception):
    """Something the caller can act on. `detail` says what to do."""

    code: ClassVar[str] = "internal"

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class InvalidRequest(TurnfoldError):
    """The request can never succeed as it is."""

    code = "invalid_request"

    def __init__(self, detail: str, errors: list[FieldError] | None = None) -> None:
        super().__init__(detail)
        self.errors = errors or []


class IdempotencyMismatch(InvalidRequest):
    """The same Idempotency-Key came with another body."""

    code = "idempotency_mismatch"


class UnsupportedComponent(InvalidRequest):
    """A file holds a part or a version this server does not know."""

    code = "unsupported_component"


class NotFound(TurnfoldError):
    """No such thing."""

    code = "not_found"


class Conflict(TurnfoldError):
    """The stored state does not allow it."""

    code = "conflict"

    def __init__(self, detail: str, retry_after_s: int | None = None) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class PreconditionFailed(TurnfoldError):
    """If-Match names another state than the stored one."""

    code = "precondition_failed"


class PayloadTooLarge(TurnfoldError):
    """More than the server takes at once."""

    code = "payload_too_large"


class UnsupportedMediaType(TurnfoldError):
    """The body is of a kind this route does not read."""

    code = "unsupported_media_type"


class Unauthorized(TurnfoldError):
    """The key is missing or wrong."""

    code = "unauthorized"


class Forbidden(TurnfoldError):
    """The request comes from a place that is not allowed."""

    code = "forbidden"


class ModelError(TurnfoldError):
    """A summarizer did not give a usable answer.

    `connection` is its name, `status` the HTTP status if there was one, `retry_at` when the work goes on by
    itself, `calls` how many calls were made in vain, and the tokens what their answers are known to have cost.
    """

    def __init__(
        self,
        detail: str,
        *,
        connection: str,
        status: int | None = None,
        retry_at: datetime | None = None,
        calls: int = 0,
        prompt_tokens: int = 0,
        completion_tokens: int = 0,
    ) -> None:
        super().__init__(detail)
        self.connection = connection
        self.status = status
        self.retry_at = retry_at
        self.calls = calls
        self.prompt_tokens = prompt_tokens
        self.completion_tokens = completion_tokens


class ModelUnavailable(ModelError):
    """The server cannot be reached, is overloaded or cools down."""

    code = "provider_unavailable"


class ModelRejected(ModelError):
    """The server refuses: wrong key, model, address or request."""

    code = "provider_rejected"


class ModelUnusable(ModelError):
    """The server answers, but no answer can become memory. `blank`: the last one said nothing at all; `said`: how it
    began, as it came.
    """

    code = "provider_rejected"
    blank = False
    said = ""


class ModelWithdrawn(ModelError):
    """Nobody has failed: the connection or settings were changed while a call waited, and it is to be planned anew."""

    code = "provider_unavailable"
