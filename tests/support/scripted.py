"""Models with a memory: what they are asked is kept, what they answer is scripted."""

import asyncio
from collections import deque
from collections.abc import Callable

from app.core.health import Health, Pending, Trial
from app.core.model import Usage
from app.core.summary import Connection, Summary, SummaryRequest, spent_on
from app.errors import ModelError

Answer = str | ModelError | Callable[[SummaryRequest], str]


class ScriptedModels:
    """Answers in the order scripted, then with `default` or a line that numbers its call; may be held until it is let
    go. An answer that is a function may raise a ModelError.
    """

    def __init__(self) -> None:
        self.requests: list[SummaryRequest] = []
        self.cut = 0
        self.under_way: list[str] = []
        self.silences: list[str] = []
        self.default: Answer | None = None
        self._script: deque[Answer] = deque()
        self._arrival = asyncio.Event()
        self._gate = asyncio.Event()
        self._gate.set()

    def script(self, *answers: Answer) -> None:
        """What the next calls answer."""
        self._script.extend(answers)

    def forget_script(self) -> None:
        """Answer by itself again."""
        self._script.clear()

    def hold(self) -> None:
        """Let calls arrive, but answer none."""
        self._gate.clear()

    def let_go(self) -> None:
        """Answer again."""
        self._gate.set()

    async def arrived(self, calls: int) -> None:
        """Wait until so many calls have been made."""
        async with asyncio.timeout(20):
            while len(self.requests) < calls:
                self._arrival.clear()
                await self._arrival.wait()

    async def summarize(self, request: SummaryRequest) -> Summary:
        self.requests.append(request)
        self._arrival.set()
        number = len(self.requests)
        self.under_way.append(request.chat)
        try:
            await self._gate.wait()
            await self.before_answer(number)
        except asyncio.CancelledError:
            self.cut += 1
            _pay(request, Usage(1))
            raise
        finally:
            self.under_way.remove(request.chat)
        answer = self._script.popleft() if self._script else self.default or f"Line {number} of the story."
        if isinstance(answer, ModelError):
            _pay(request, spent_on(answer))
            raise answer
        text, cost = answer if isinstance(answer, str) else answer(request), Usage(1, 100, 10)
        _pay(request, cost)
        return Summary(text, len(text.split()), request.connection.name, "scripted", cost)

    async def before_answer(self, number: int) -> None:
        """What a call waits for besides; for those who decide it call by call."""

    async def models(self, connection: Connection) -> list[str]:
        return ["scripted"]

    async def test(self, connection: Connection) -> Trial:
        return Trial(True, 1, f"{connection.name} answers.")

    def health(self, name: str) -> Health:
        return Health("ok")

    def healths(self) -> dict[str, Health]:
        return {request.connection.name: Health("ok") for request in self.requests}

    def pending(self, chat: str) -> Pending | None:
        return Pending(0, 1) if chat in self.under_way else None

    def silent(self, chat: str, seconds: float) -> None:
        self.silences.append(chat)

    def forget(self, name: str) -> None:
        pass


class HeldModels(ScriptedModels):
    """Each call is answered when a test says so: numbers count from 1, in the order they arrived."""

    def __init__(self) -> None:
        super().__init__()
        self._answered: set[int] = set()
        self._said = asyncio.Condition()

    async def answer(self, *numbers: int) -> None:
        """Let these calls be answered, those that have not arrived too."""
        async with self._said:
            self._answered.update(numbers)
            self._said.notify_all()

    async def before_answer(self, number: int) -> None:
        async with self._said:
            await self._said.wait_for(lambda: number in self._answered)


def _pay(request: SummaryRequest, cost: Usage) -> None:
    if request.paid is not None:
        request.paid(cost)
