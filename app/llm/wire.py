"""What all model servers have in common on the wire: a call, the pieces of an answer, and how they come together."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from app.core.acceptance import Ending
from app.core.retry import Failure
from app.core.summary import Connection

P = TypeVar("P", bound="Piece | None")

# Far more than any summary; reasoning inside the answer included.
MAX_ANSWER_CHARS = 400_000
DEFAULT_TEMPERATURE = 0.3
_NO_ANSWER = Failure("connection", reason="sent something that is no answer of a model; check its base URL")


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
    """A model's answer as it came, with the server's own token counts and the model's name if it sent them."""

    text: str
    ending: Ending
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model: str | None = None


class Reader:
    """Puts an answer together line by line.

    `parse_line` returns None for a line that only makes sense with the others (a JSON body over several lines, or
    none at all); these go to `parse_body` together, at the end. Nothing else of a line is held but its text.
    """

    def __init__(self, parse_line: Callable[[str], Piece | None], parse_body: Callable[[str], Piece]) -> None:
        self._parse_line = parse_line
        self._parse_body = parse_body
        self._text = StringIO()
        self._others = StringIO()
        self._size = 0
        self._ending = Ending(complete=False)
        self._prompt_tokens: int | None = None
        self._completion_tokens: int | None = None

    def take(self, line: str) -> bool:
        """Takes the next line; True once the answer is whole. Raises CallFailed."""
        line = line.strip(" \t\r\n\ufeff")
        if not line:
            return False
        piece = self._parsed(self._parse_line, line)
        self._size += len(line if piece is None else piece.text)
        if self._size > MAX_ANSWER_CHARS:
            raise endless()
        if piece is None:
            self._others.write(f"{line}\n")
            return False
        self._add(piece)
        return piece.ended

    def answer(self) -> Answer:
        """What came until now. Raises CallFailed if part of it cannot be read."""
        others = self._others.getvalue()
        if others:
            self._add(self._parsed(self._parse_body, others.removesuffix("\n")))
            self._others = StringIO()
        return Answer(self._text.getvalue(), self._ending, self._prompt_tokens, self._completion_tokens)

    def _parsed(self, parse: Callable[[str], P], text: str) -> P:
        """Garbage after a good beginning is the model's; where nothing else came, no model answered at all."""
        try:
            return parse(text)
        except CallFailed as failed:
            if self._text.tell() and failed.failure == _NO_ANSWER:
                raise unusable("garbled its answer; see its server's log") from None
            raise

    def _add(self, piece: Piece) -> None:
        self._text.write(piece.text)
        ending = self._ending
        self._ending = Ending(
            complete=ending.complete or piece.complete or bool(piece.finish_reason),
            finish_reason=piece.finish_reason or ending.finish_reason,
            tool_calls=ending.tool_calls or piece.tool_calls,
        )
        if piece.prompt_tokens is not None:
            self._prompt_tokens = piece.prompt_tokens
        if piece.completion_tokens is not None:
            self._completion_tokens = piece.completion_tokens


class WireFormat(Protocol):
    """What the module of a wire format offers; all of it is pure."""

    def build_request(self, connection: Connection, ask: Ask) -> HttpCall: ...

    def models_request(self, connection: Connection) -> HttpCall: ...

    def parse_models(self, text: str) -> list[str]: ...

    def reader(self) -> Reader: ...


def unusable(reason: str) -> CallFailed:
    """The model answered, but with nothing that can be used."""
    return CallFailed(Failure("unusable", reason=reason))


def no_answer() -> CallFailed:
    """What came is not from a model: a page of a gateway, another service, another format."""
    return CallFailed(_NO_ANSWER)


def disconnected(reason: str) -> CallFailed:
    """The connection did not do its work, whatever was asked."""
    return CallFailed(Failure("connection", reason=reason))


def endless() -> CallFailed:
    """More came than any summary is long."""
    return unusable("went on answering without end; set its max_tokens, or check its server's chat template")


def wrong_settings(reason: str) -> CallFailed:
    """The call cannot even be made."""
    return CallFailed(Failure("settings", reason=reason))


def error_in_answer(error: object) -> CallFailed:
    """An error object inside an answer with status 200. Its code decides as a status would; its text is not kept."""
    code = mapping(error).get("code") or mapping(error).get("status")
    status = int(code) if isinstance(code, int | str) and str(code).isdecimal() and len(str(code)) == 3 else 0
    if 400 <= status <= 599:
        return CallFailed(Failure("status", status))
    return disconnected("reported an error in place of an answer; see its server's log")


def decode(text: str) -> Any:
    """The JSON value in `text`. Raises CallFailed, also for JSON nested too deep to be read."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise no_answer() from None


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
