"""What frontends do with the calls that wait for them: take, hold, answer and give back (decision 29)."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from time import monotonic
from typing import Any

from sqlmodel import Session

from app.core.calling import Reply, Standing, Trouble, refusal
from app.errors import Conflict, NotFound
from app.services.bells import Bells, Ear
from app.services.ports import InThread
from app.services.reading import require_chat
from app.store import client_calls
from app.store.clock import from_ms, now_ms
from app.store.engine import Database

LOOK_S = 1.0
"""How often a frontend that waits is looked for calls that other processes put."""

_LOOK_NOTED_MS = 15_000
"""How seldom it is written down that frontends ask: each costs a commit."""

_SHOWN = ("max_tokens", "temperature", "attempt")
_CHANGED = "has changed in this moment; ask for calls again"


@dataclass(frozen=True, slots=True)
class CallView:
    """A call as it is handed out. `messages` is the whole prompt; `prompt` and `system_prompt` are its parts."""

    id: str
    chat_id: str
    connection: str
    messages: list[dict[str, str]]
    system_prompt: str
    prompt: str
    max_tokens: int
    temperature: float
    attempt: int
    created_at: datetime
    lease_until: datetime


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which calls a frontend would take: of one chat or of any, so many at once, for so long.

    `gone`: whether whoever asks has left; nothing is handed out then.
    """

    chat_id: str | None
    client: str
    limit: int
    wait_s: float
    lease_s: float
    gone: Callable[[], Awaitable[bool]]


@dataclass
class ClientCalls:
    """Hands calls out, and takes answers. Methods raise NotFound, and Conflict where a call is not to be had."""

    db: Database
    in_thread: InThread
    bells: Bells
    now: Callable[[], int] = now_ms
    is_over: bool = False
    _noted: int = field(default=0, init=False)

    async def hand_out(self, wanted: Wanted) -> list[CallView]:
        """Calls that are the client's now, as soon as there are any; none if there are none within `wait_s`."""
        until = monotonic() + wanted.wait_s
        with self.bells.free.listening() as ear:
            while True:
                ear.forget()
                held = await self.in_thread(self._hand_out, wanted)
                if held:
                    self.bells.moved.ring()
                if held or not await self._worth_waiting(wanted, ear, until - monotonic()):
                    return held

    async def renew(self, call_id: str, client: str | None, lease_s: float) -> datetime:
        """Hold a call longer; until when."""
        return from_ms(await self.in_thread(self._renew, call_id, client, round(lease_s * 1000)))

    async def release(self, call_id: str, client: str | None) -> None:
        """Give a call back unanswered: the next who asks has it."""
        await self.in_thread(self._release, call_id, client)
        self.bells.free.ring()
        self.bells.moved.ring()

    async def answer(self, call_id: str, client: str | None, said: Reply | Trouble) -> None:
        """Take an answer, or why there is none."""
        await self.in_thread(self._answer, call_id, client, said)
        self.bells.moved.ring()

    def close(self) -> None:
        """Let nobody wait any more: the server ends."""
        self.is_over = True
        self.bells.free.ring()

    async def _worth_waiting(self, wanted: Wanted, ear: Ear, seconds: float) -> bool:
        """Wait a little, and say whether to look again."""
        if seconds <= 0 or self.is_over:
            return False
        await ear.wait(min(seconds, LOOK_S))
        return not await wanted.gone()

    def _hand_out(self, wanted: Wanted) -> list[CallView]:
        now = self.now()
        with self.db.read() as session:
            key = require_chat(session, wanted.chat_id).key if wanted.chat_id is not None else None
            found = client_calls.any_free(session, key, now)
        if not found and now - self._noted < _LOOK_NOTED_MS:
            return []
        self._noted = now
        with self.db.write() as session:
            client_calls.note_look(session, now)
            held = client_calls.lease(session, key, wanted.client, wanted.limit, round(wanted.lease_s * 1000), now)
        return [_show(one) for one in held]

    def _renew(self, call_id: str, client: str | None, lease_ms: int) -> int:
        now = self.now()
        with self.db.write() as session:
            standing = _holder(session, call_id, client, now)
            until = client_calls.renew(session, call_id, standing, lease_ms, now)
        if until is None:
            raise _conflict(call_id, _CHANGED)
        return until

    def _release(self, call_id: str, client: str | None) -> None:
        now = self.now()
        with self.db.write() as session:
            standing = _holder(session, call_id, client, now)
            if standing.leased_at is not None:
                client_calls.release(session, call_id, standing)

    def _answer(self, call_id: str, client: str | None, said: Reply | Trouble) -> None:
        now = self.now()
        with self.db.write() as session:
            standing = _open(session, call_id, client, now)
            if not client_calls.answer(session, call_id, standing, asdict(said)):
                raise _conflict(call_id, _CHANGED)


def _open(session: Session, call_id: str, client: str | None, now: int) -> Standing:
    """A call that this client may answer. Raises NotFound and Conflict."""
    standing = client_calls.standing(session, call_id)
    if standing is None:
        raise NotFound(f"There is no call {call_id!r}: it was never there, or is long over.")
    why = refusal(standing, client, now)
    if why is not None:
        raise _conflict(call_id, why)
    return standing


def _holder(session: Session, call_id: str, client: str | None, now: int) -> Standing:
    """A call that this client holds, or held last. Raises NotFound and Conflict."""
    standing = _open(session, call_id, client, now)
    if standing.client is None or client not in (None, standing.client):
        raise _conflict(call_id, "was not taken by this client")
    return standing


def _conflict(call_id: str, why: str) -> Conflict:
    return Conflict(f"Call {call_id!r} {why}.")


def _show(held: client_calls.Held) -> CallView:
    asked: Mapping[str, Any] = held.prompt
    system, user = asked["system"], asked["user"]
    return CallView(
        id=held.id,
        chat_id=held.chat_id,
        connection=held.connection,
        messages=[
            *([{"role": "system", "content": system}] if system.strip() else []),
            {"role": "user", "content": user},
        ],
        system_prompt=system,
        prompt=user,
        created_at=from_ms(held.created_at),
        lease_until=from_ms(held.lease_until),
        **{name: asked[name] for name in _SHOWN},
    )
