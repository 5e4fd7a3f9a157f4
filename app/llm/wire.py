"""What all model servers have in common on the wire: a call, the pieces of an answer, and how they come together."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

from app.core.acceptance import Ending
from app.core.retry import Failure, FailureKind
from app.core.summary import Connection

# Far more than any summary; reasoning inside the answer included.
MAX_ANSWER_CHARS = 400_000
DEFAULT_TEMPERATURE = 0.3
_BROKEN = "sent something that is no answer of a model; check its base URL"


class CallFailed(Exception):
    """One call failed; `failure` says how, without a word of the server's answer (it may quote keys or the chat)."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Ask:
    """All that the model sees, and how many tokens it may answer with (its reasoning included)."""

    system: str
    user: str
    max_tokens: int

    @property
    def messages(self) -> list[dict[str, str]]:
        """One system and one user message; a blank system prompt is not sent, as some servers refuse it."""
        system = [{"role": "system", "content": self.system}] if self.system.strip() else []
        return [*system, {"role": "user", "content": self.user}]


@dataclass(frozen=True, slots=True)
class HttpCall:
    """A request, ready to be sent. Neither headers nor body show in a repr. Without a body it is a GET."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: Mapping[str, Any] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Piece:
    """What one line of a stream, or one whole body, adds to an answer. `ended`: nothing comes after it."""

    text: str = ""
    finish_reason: str | None = None
    tool_calls: bool = False
    complete: bool = False
    ended: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer as it came, with the server's own token counts if it sent them."""

    text: str
    ending: Ending
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Reader:
    """Puts an answer together line by line.

    `parse_line` returns None for a line that only makes sense with the others (a JSON body over several lines, or
    none at all); these go to `parse_body` together, at the end.
    """

    def __init__(self, parse_line: Callable[[str], Piece | None], parse_body: Callable[[str], Piece]) -> None:
        self._parse_line = parse_line
        self._parse_body = parse_body
        self._pieces: list[Piece] = []
        self._others: list[str] = []
        self._size = 0

    def take(self, line: str) -> bool:
        """Takes the next line; True once the answer is whole. Raises CallFailed."""
        line = line.strip(" \t\r\n\ufeff")
        piece = self._parse_line(line) if line else Piece()
        if piece is None:
            self._others.append(line)
        else:
            self._pieces.append(piece)
        self._size += len(line if piece is None else piece.text)
        if self._size > MAX_ANSWER_CHARS:
            raise unusable("went on answering without end")
        return piece is not None and piece.ended

    def answer(self) -> Answer:
        """What came until now. Raises CallFailed if part of it cannot be read."""
        if self._others:
            self._pieces.append(self._parse_body("\n".join(self._others)))
        reasons = [piece.finish_reason for piece in self._pieces if piece.finish_reason]
        return Answer(
            text="".join(piece.text for piece in self._pieces),
            ending=Ending(
                complete=bool(reasons) or any(piece.complete for piece in self._pieces),
                finish_reason=reasons[-1] if reasons else None,
                tool_calls=any(piece.tool_calls for piece in self._pieces),
            ),
            prompt_tokens=_last([piece.prompt_tokens for piece in self._pieces]),
            completion_tokens=_last([piece.completion_tokens for piece in self._pieces]),
        )


class WireFormat(Protocol):
    """What the module of a wire format offers; all of it is pure."""

    def build_request(self, connection: Connection, ask: Ask) -> HttpCall: ...

    def models_request(self, connection: Connection) -> HttpCall: ...

    def parse_models(self, text: str) -> list[str]: ...

    def reader(self) -> Reader: ...


def _last(counts: list[int | None]) -> int | None:
    return next((count for count in reversed(counts) if count is not None), None)


def unusable(reason: str = _BROKEN) -> CallFailed:
    """The server answered, but with nothing that can be used."""
    return CallFailed(Failure("unusable", reason=reason))


def wrong_settings(reason: str) -> CallFailed:
    """The call cannot even be made."""
    return CallFailed(Failure("settings", reason=reason))


def error_in_answer(error: object) -> CallFailed:
    """An error object inside an answer with status 200. Its code decides as a status would; its text is not kept."""
    code = mapping(error).get("code") or mapping(error).get("status")
    status = int(code) if isinstance(code, int | str) and str(code).isdecimal() and len(str(code)) == 3 else 0
    kind: FailureKind = "status" if 400 <= status <= 599 else "connection"
    return CallFailed(Failure(kind, status=status or None, reason="reported an error in the middle of its answer"))


def decode(text: str) -> Any:
    """The JSON value in `text`. Raises CallFailed, also for JSON nested too deep to be read."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise unusable() from None


def mapping(value: object) -> Mapping[str, Any]:
    """`value` if it is a JSON object, else an empty one: servers put null, strings and lists where objects belong."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """`value` if it is a JSON list, else an empty one."""
    return value if isinstance(value, list) else []


def count_or_none(value: object) -> int | None:
    """`value` if it can be a number of tokens."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def text_or_empty(value: object) -> str:
    """`value` if it is a string, else ""."""
    return value if isinstance(value, str) else ""


def http_url(url: str) -> str:
    """`url` if it can be called. Raises CallFailed."""
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        raise wrong_settings("has a base_url that is no http:// or https:// address")
    return url.strip()


def headers(connection: Connection) -> dict[str, str]:
    """The headers of every call. Raises CallFailed for a key that no header can carry."""
    key = (connection.api_key or "").strip()
    if not key:
        return {}
    if not (key.isascii() and key.isprintable()):
        raise wrong_settings("has an API key with characters that cannot be sent; enter it again")
    return {"Authorization": f"Bearer {key}"}


def merged(body: Mapping[str, Any], extra: Mapping[str, Any], fixed: Mapping[str, Any]) -> dict[str, Any]:
    """`body` with the connection's `extra_body` laid over it and `fixed` over both; a null takes a field away."""
    return {name: value for name, value in {**body, **extra, **fixed}.items() if value is not None}
