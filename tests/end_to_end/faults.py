"""Everything that can go wrong with a call to a model, and what Turnfold makes of it.

One table for all: test_faults.py acts every row out, docs/faults.md shows it, tests/docs/test_faults.py compares them.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from email.utils import format_datetime
from typing import Literal

from app.core.acceptance import REFUSED
from tests.support import fake_replies as replies
from tests.support.fake_exchange import Behaviour, Exchange

Act = Behaviour | Literal["nobody listens", "no such host"]
State = Literal["ok", "failing", "cooling_down"]
Then = Literal["goes on", "cools down", "waits", "kept", "degraded"]

GROWING = (2.0, 4.0, 8.0, 16.0, 32.0)
"""The least pauses between six attempts, in seconds."""

_MONTH_S = 30 * 86_400.0


@dataclass(frozen=True, slots=True)
class Fault:
    """What a server does, call after call, and what comes of it.

    `reads` is the sentence in `last_error`, "" where nothing failed; `pauses` lie between the `calls`, in seconds;
    `state` is the connection's afterwards. `then`: the work `goes on` by itself after a minute, the connection `cools
    down` for the `rest` it asked for, in seconds, or the work `waits` for the next message; an answer is `kept`, or
    kept and marked as `degraded`. `slow`: each call ends in a time-out.
    """

    name: str
    act: Act
    reads: str = ""
    calls: int = 6
    pauses: tuple[float, ...] = GROWING
    status: int | None = None
    state: State = "failing"
    then: Then = "goes on"
    rest: float = 0
    slow: bool = False

    @property
    def passes(self) -> bool:
        """Whether another attempt is made, so that a fault which passes costs no more than that."""
        return self.calls > 1 and bool(self.pauses)

    @property
    def code(self) -> str:
        """Whether waiting helps, or a person must do something."""
        lasting = self.then == "waits" or self.status in (400, 413, 422) or self.reads.startswith("The model ")
        return "provider_rejected" if lasting else "provider_unavailable"


def _passing(status: int, what: str, step: str, state: State = "failing") -> Fault:
    """A status that is tried again."""
    return Fault(f"status {status}", replies.status(status), _answered(what, step), status=status, state=state)


def _lasting(status: int, what: str, step: str, then: Then, state: State = "ok") -> Fault:
    """A status that is not."""
    act = replies.status(status, body='{"error": "sk-secret gate"}', retry_after=5)
    return Fault(f"status {status}", act, _answered(what, step), 1, (), status, state, then)


def _answered(what: str, step: str) -> str:
    return f"Connection 'default' answered {what}: {step}."


def _asking(name: str, pauses: tuple[float, ...], **headers: str) -> Fault:
    """A server that asks for a pause that it gets, or for one that makes no sense."""
    return Fault(name, replies.status(429, **headers), _TOO_MANY, pauses=pauses, status=429)


def _resting(name: str, act: Behaviour, rest: float) -> Fault:
    """A server that wants to be left alone for longer than the longest pause."""
    return Fault(name, act, _TOO_MANY, 1, (), 429, "cooling_down", "cools down", rest)


def _line(name: str, act: Act, reads: str, *, slow: bool = False) -> Fault:
    """Something that speaks against the connection."""
    return Fault(name, act, f"Connection 'default' {reads}.", slow=slow)


def _answer(name: str, act: Behaviour, reads: str) -> Fault:
    """Something that speaks against the answer."""
    return Fault(name, act, f"The model of connection 'default' {reads}.", state="ok")


def _good(name: str, act: Behaviour, then: Then = "kept", calls: int = 1) -> Fault:
    """What only looks like a fault."""
    return Fault(name, act, calls=calls, pauses=(), state="ok", then=then)


def _dated(seconds: float) -> Behaviour:
    """A Retry-After that is a date, so many seconds after the one in the server's clock."""

    async def behave(exchange: Exchange) -> None:
        moment = exchange.now() + timedelta(seconds=seconds)
        await replies.status(429, retry_after=format_datetime(moment, usegmt=True))(exchange)

    return behave


def _told(gates: int) -> str:
    """Six tokens a gate; the passage that is asked about has fewer than sixty."""
    return " ".join(f"Anna opens gate {number}." for number in range(gates))


_TOO_MANY = _answered("429 Too Many Requests", "too many calls, or its quota is used up")
_LOOK = "look at its server, or wait"
_DOWN = _answered("503 Service Unavailable", _LOOK)
_WHAT_IT_SENDS = "check its model and what else it sends (max_tokens, temperature, extra_body)"

STATUSES = [
    _passing(408, "408 Request Timeout", "its server was too slow", "ok"),
    _passing(409, "409 Conflict", _LOOK, "ok"),
    _passing(425, "425 Too Early", _LOOK, "ok"),
    _passing(429, "429 Too Many Requests", "too many calls, or its quota is used up"),
    _passing(500, "500 Internal Server Error", _LOOK),
    _passing(502, "502 Bad Gateway", _LOOK),
    _passing(503, "503 Service Unavailable", _LOOK),
    _passing(504, "504 Gateway Timeout", _LOOK),
    _passing(529, "529", _LOOK),
    _lasting(400, "400 Bad Request", _WHAT_IT_SENDS, "goes on"),
    _lasting(413, "413 Content Too Large", "the passage is too large for its server; lower passage_tokens", "goes on"),
    _lasting(422, "422 Unprocessable Content", _WHAT_IT_SENDS, "goes on"),
    _lasting(401, "401 Unauthorized", "check its API key", "waits", "failing"),
    _lasting(402, "402 Payment Required", "its account has no credit left", "waits"),
    _lasting(403, "403 Forbidden", "its API key may not use this model; check both", "waits", "failing"),
    _lasting(404, "404 Not Found", "check its base URL and its model", "waits", "failing"),
    _lasting(405, "405 Method Not Allowed", "check its base URL", "waits"),
    replace(
        _lasting(
            307,
            "307 Temporary Redirect",
            "redirects are not followed; give the final address as its base URL",
            "waits",
        ),
        name="a redirect",
        act=replies.redirect("/v1/elsewhere"),
    ),
]

PAUSES = [
    _asking("`Retry-After: 7`", (7.0,) * 5, retry_after="7"),
    Fault("`Retry-After` with a date in 30 s", _dated(30), _TOO_MANY, pauses=(30.0,) * 5, status=429),
    _asking("`retry-after-ms: 1500`", (1.5,) * 5, retry_after_ms="1500"),
    _asking("`retry-after-ms: 1500` and `Retry-After: 600`", (1.5,) * 5, retry_after_ms="1500", retry_after="600"),
    _asking("`Retry-After: 60`", (60.0,) * 5, retry_after="60"),
    Fault("a 503 with `Retry-After: 7`", replies.status(503, retry_after="7"), _DOWN, pauses=(7.0,) * 5, status=503),
    _asking("`Retry-After: 0`", GROWING, retry_after="0"),
    _asking("`Retry-After: -5`", GROWING, retry_after="-5"),
    Fault("`Retry-After` with a date that is over", _dated(-30), _TOO_MANY, status=429),
    _asking("`Retry-After: soon`", GROWING, retry_after="soon"),
    _asking("`Retry-After: 1e30`", GROWING, retry_after="1e30"),
    _resting("`Retry-After: 61`", replies.status(429, retry_after="61"), 61),
    _resting("`Retry-After: 600`", replies.status(429, retry_after="600"), 600),
    _resting("`Retry-After` with a date in ten minutes", _dated(600), 600),
    _resting("`Retry-After: 99999999999`", replies.status(429, retry_after="99999999999"), _MONTH_S),
]

_CUT = "was cut off in the middle of a call; see its server's log"
_NO_MODEL = "sent something that is no answer of a model; check its base URL"
_REPORTED = "reported an error in place of an answer; see its server's log"
_SILENT = "gave no answer within 120 s; look at its server, or raise timeout_s"

LINES = [
    _line("nobody listens", "nobody listens", "cannot be reached; check that its server runs"),
    _line(
        "its host name is not known",
        "no such host",
        "cannot be reached, because its host name is not known; check its base URL",
    ),
    _line("the call is taken and nothing comes", replies.hang(), _SILENT, slow=True),
    _line("headers, then nothing", replies.silence_after_head(), _SILENT, slow=True),
    _line("the beginning of an answer, then nothing", replies.silence_after_head("Anna"), _SILENT, slow=True),
    _line("the connection is closed before an answer", replies.reset(), _CUT),
    _line("the connection is reset in the middle of an answer", replies.half_stream("Anna left"), _CUT),
    _line("the connection is closed in the middle of an answer", replies.closed_early("Anna left"), _CUT),
    _line("something that is no HTTP", replies.no_http(), _CUT),
    _line("broken compression", replies.status(200, body="no gzip", content_encoding="gzip"), _CUT),
    _line("an HTML page with status 200", replies.raw(b"<html>\n<p>Log in first.</p>\n</html>"), _NO_MODEL),
    _line("another service's JSON", replies.raw(b'{"object": "list"}', "application/json"), _NO_MODEL),
    _line("an error object with status 200", replies.raw(b'{"error": "busy"}', "application/json"), _REPORTED),
    _line("an error object in a stream", replies.error_in_stream("Anna left", code="overloaded"), _REPORTED),
]

_BROKE_OFF = "broke off in the middle of its answer; see its server's log"
_BLANK = "gave a blank answer; if it reasons first, switch that off or raise its max_tokens"

ANSWERS = [
    _answer("a stream without its end mark", replies.no_end_mark("Anna left Ben."), _BROKE_OFF),
    _answer("an empty body", replies.raw(b""), _BROKE_OFF),
    _answer("a line that is no JSON", replies.bad_line("Anna left"), "garbled its answer; see its server's log"),
    _answer("no choice at all", replies.nothing_chosen(), _BLANK),
    _answer("a blank answer", replies.blank(), _BLANK),
    _answer("white space", replies.answer(" \n\t \u200b "), _BLANK),
    _answer("only reasoning, in its own field", replies.answer("", reasoning="Anna left, so …"), _BLANK),
    _answer("only reasoning, in tags", replies.answer("<think>Anna left, so …</think>"), _BLANK),
    _answer("reasoning without an end", replies.open_think("Anna left, so …"), _BLANK),
    _answer("a refusal", replies.answer("I'm sorry, but I can't help with that."), REFUSED),
    _answer("a refusal in its own field", replies.declined("I'm sorry, but I can't help with that."), REFUSED),
    _answer(
        "an error text",
        replies.answer("Error: rate limit exceeded"),
        "gave an error text or a placeholder for an answer; see its server's log",
    ),
    _answer(
        "a loop",
        replies.answer("Anna walks on and on. " * 40),
        "repeated itself without end; another model or a higher temperature may do better",
    ),
    _answer(
        "a stop at the length limit",
        replies.length_stop("Anna left and"),
        "stopped at its length limit; raise its max_tokens or its context_size",
    ),
    _answer(
        "a stop by a content filter",
        replies.answer("Anna left and", finish="content_filter"),
        "was stopped by a content filter; another model may take this passage",
    ),
    _answer(
        "a tool call",
        replies.tool_call(),
        "called a tool instead of answering; take tools out of its extra_body, or choose another model",
    ),
]

GOOD = [
    _good("another content type", replies.answer("Anna left Ben.", content_type="text/html")),
    _good("one JSON body in place of a stream", replies.body("Anna left Ben.")),
    _good("the same over several lines, without a `finish_reason`", replies.body("Anna left.", finish=None, indent=2)),
    _good("a body that is compressed", replies.body("Anna left Ben.", compressed=True)),
    _good("a stream that is compressed", replies.zipped_stream("Anna left Ben.")),
    _good("reasoning before the answer", replies.answer("Anna left Ben.", reasoning="Anna left, so …")),
    _good("longer than its source, within `snippet_tokens`", replies.answer(_told(15))),
    _good("longer than its source and than `snippet_tokens`", replies.answer(_told(25)), "degraded", 2),
    _good("a ramble of 40 kB", replies.ramble(40), "degraded", 2),
]

FAULTS = [*STATUSES, *PAUSES, *LINES, *ANSWERS, *GOOD]
