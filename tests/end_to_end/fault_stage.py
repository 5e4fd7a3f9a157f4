"""A whole server with a scripted model server beside it, where the pauses between attempts take no time."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.core.retry import RetryPolicy
from app.llm.caller import Caller
from app.llm.extractive import Extractive
from app.llm.http import new_client
from tests.support.fake_model import FakeModel
from tests.support.fake_time import FakeTime
from tests.support.parts import counter
from tests.support.service import Service, running

COOLDOWN_S = 60.0


class SteadyTime(FakeTime):
    """Begins now, so that what is to go on by itself a minute later does not while a test runs. While `held`, sleepers
    do not wake.
    """

    def __init__(self) -> None:
        super().__init__()
        self.moment = datetime.now(UTC).replace(microsecond=0)
        self.held = False

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        while self.held:  # noqa: ASYNC110  # another thread lets go
            await asyncio.sleep(0.01)
        self.pass_by(seconds)


@dataclass(frozen=True)
class Stage:
    """The server, its models' server, the clock of its calls, and a port where nobody listens."""

    service: Service
    model: FakeModel
    time: SteadyTime
    dead_port: int

    def connect(self, name: str, provider: str, base_url: str | None = None, **fields: Any) -> None:
        """Store a connection; to the scripted model server, unless it says otherwise."""
        body = {"provider": provider, "base_url": base_url or self.model.base_url, "model": "fake-small", **fields}
        answer = self.service.put(f"/connections/{name}", body)
        assert answer.is_success, answer.text

    def open_chat(self, chat: str, connection: str, **settings: Any) -> None:
        """A chat that will fold with its next turn, the thirteenth."""
        answer = self.service.put(f"/chats/{chat}", {"settings": {"connection": connection, **settings}})
        assert answer.is_success, answer.text
        self.service.say(chat, *range(1, 13), fold="none")

    def last_job(self, chat: str) -> dict[str, Any]:
        """The newest job of a chat."""
        found: dict[str, Any] = self.service.get(f"/jobs?chat_id={chat}&limit=1").json()["items"][0]
        return found

    def until(self, moment: str) -> float:
        """Seconds from now until a moment that the API tells."""
        return (datetime.fromisoformat(moment) - self.time.now()).total_seconds()


@contextmanager
def staged(folder: Path, attempts: int = 6) -> Iterator[Stage]:
    """Serve until the block ends."""
    time = SteadyTime()
    client = new_client()
    caller = Caller(
        client=client,
        count=counter(),
        extract=Extractive(counter()),
        policy=RetryPolicy(attempts),
        cooldown_s=COOLDOWN_S,
        clock=time.now,
        sleep=time.sleep,
        random=lambda: 0.0,
    )
    with closing(socket.socket()) as dead, FakeModel(now=time.now) as model:
        dead.bind(("127.0.0.1", 0))  # and never listens
        with running(folder, models=caller, breaker_cooldown_s=COOLDOWN_S) as service:
            yield Stage(service, model, time, dead.getsockname()[1])
        asyncio.run(client.aclose())
