"""The `client` provider: the frontend's own model answers, however long that takes (decision 29)."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from app.core import calling
from app.core.acceptance import Ending
from app.core.calling import Prompt, Reply, Trouble
from app.core.health import Trial
from app.core.retry import RETRIED_STATUSES, Failure
from app.core.summary import Connection, SummaryRequest
from app.errors import ModelWithdrawn
from app.llm.wire import DEFAULT_TEMPERATURE, MAX_ANSWER_CHARS, Answer, Ask, CallFailed, endless

PROVIDER = "client"
SEEN_S = 90.0
"""A frontend that asked for calls so many seconds ago counts as there: longer than the longest wait for calls."""

_MOST_SAID = 300
_KEYLIKE = re.compile(r"[\w./+=-]{24,}")
_HOW = "open SillyTavern with the Turnfold extension, or another frontend that answers prompts, and choose it there"


class Frontends(Protocol):
    """Where calls wait for a frontend."""

    async def ask(self, prompt: Prompt, taken: Callable[[], None]) -> Reply | Trouble | calling.Ending:
        """What one says; `taken` is called when one begins. Cancelling it takes the call away."""
        ...

    async def last_look(self) -> datetime | None:
        """When one last asked for calls."""
        ...


async def ask(
    frontends: Frontends, request: SummaryRequest, ask: Ask, attempt: int, taken: Callable[[], None]
) -> Answer:
    """One answer. Raises CallFailed, and ModelWithdrawn where the connection or settings were changed meanwhile."""
    connection = request.connection
    prompt = Prompt(
        chat=request.chat,
        connection=connection.name,
        system=ask.system,
        user=ask.user,
        max_tokens=ask.max_tokens,
        temperature=DEFAULT_TEMPERATURE if connection.temperature is None else connection.temperature,
        attempt=attempt,
        timeout_s=connection.timeout_s,
    )
    said = await frontends.ask(prompt, taken)
    if isinstance(said, Reply):
        return _answer(said)
    if isinstance(said, Trouble):
        raise _failed(said)
    if said == "timed_out":
        reason = f"was taken by a frontend that gave no answer within {connection.timeout_s:g} s; raise timeout_s"
        raise CallFailed(Failure("timeout", reason=reason))
    raise ModelWithdrawn(f"What was asked of connection {connection.name!r} was changed.", connection=connection.name)


async def trial(frontends: Frontends, connection: Connection, now: datetime) -> Trial:
    """Whether a frontend is there that answers; no model is called."""
    seen = await frontends.last_look()
    name = f"Connection {connection.name!r}"
    if seen is None or (now - seen).total_seconds() > SEEN_S:
        since = f"since {seen:%H:%M} UTC" if seen else "yet"
        return Trial(False, 0, f"{name} waits for a frontend, and none has asked for prompts {since}: {_HOW}.")
    return Trial(True, 0, f"{name} is answered by a frontend that asked for prompts at {seen:%H:%M:%S} UTC.")


def _answer(said: Reply) -> Answer:
    if len(said.text) > MAX_ANSWER_CHARS:
        raise endless()
    ending = Ending(complete=True, finish_reason=said.finish_reason)
    return Answer(said.text, ending, said.prompt_tokens, said.completion_tokens, said.model)


def _failed(trouble: Trouble) -> CallFailed:
    said = _quoted(trouble.message)
    if trouble.status in RETRIED_STATUSES or 400 <= (trouble.status or 0) < 500:
        return CallFailed(Failure("status", trouble.status, trouble.retry_after_s, said))
    if trouble.status is not None:  # such as 52x of a proxy before the model: it may be back any moment
        said = f"{trouble.status}: {said}"
    reason = f"reported an error: {said}" if said else "reported an error without a word"
    return CallFailed(Failure("connection", retry_after=trouble.retry_after_s, reason=reason))


def _quoted(message: str) -> str:
    """A frontend's own words on one line, clipped, without what may be a key."""
    line = _KEYLIKE.sub("…", " ".join("".join(c if c.isprintable() else " " for c in message).split()))
    return (line if len(line) <= _MOST_SAID else f"{line[: _MOST_SAID - 1]}…").rstrip(" .")
