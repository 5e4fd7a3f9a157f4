"""A model server that knows whose calls it answers, how many of one chat at once, and what each answer was made from.

Prompts are PROMPTS, so that what was asked can be told from what came before it; messages are `words`.
"""

import asyncio
import random
import re
from asyncio import StreamReader
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from tests.support.fake_exchange import Behaviour, Exchange, Request
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import answer, half_stream, no_end_mark, reset, status

_STORY = "Sum up this story:"
PROMPTS = {
    "system_prompt": "You sum up stories.",
    "user_prompt": f"So far:\n{{{{context_str}}}}\n{_STORY}\n{{{{story_txt}}}}",
    "merge_prompt": f"So far:\n{{{{context_str}}}}\n{_STORY}\n{{{{story_txt}}}}",
}
_SAID = re.compile(r"\b\w+ says w\d+\.")
_TOLD = re.compile(r"\b\w+ came to t\d+\.")


def words(chat: str, number: int) -> str:
    """What the messages of a chat say; no two of them the same."""
    return f"{chat} says w{number}."


@dataclass(frozen=True)
class Temper:
    """How a model server behaves: how long it takes, in seconds, and how often something goes wrong."""

    fastest_s: float = 0.0
    slowest_s: float = 0.0
    faults: float = 0.0


class WatchfulModel(FakeModel):
    """See the module. `made`: what each answer was made from, as tests/support/provenance.py wants it. `overlaps`: the
    chats that had two calls open at once.
    """

    def __init__(self, temper: Temper = Temper(), seed: int = 0) -> None:
        super().__init__(self._sum_up)
        self.temper = temper
        self.made: dict[str, tuple[str, list[str]]] = {}
        self.overlaps: set[str] = set()
        self._random = random.Random(seed)
        self._numbers = count(1)
        self._open_calls: dict[Exchange, str] = {}

    def __enter__(self) -> "WatchfulModel":
        super().__enter__()
        return self

    def open_calls(self, chat: str) -> int:
        """How many calls of a chat wait for their answer."""
        return list(self._open_calls.values()).count(chat)

    def _sum_up(self, request: Request) -> str:
        asked = request.user.rpartition(_STORY)[2]
        said, told = _SAID.findall(asked), _TOLD.findall(asked)
        text = f"{_chat_of(request)} came to t{next(self._numbers)}."
        self.made[text] = ("merge", told) if told else ("fold", said)
        return text

    def _next(self, request: Request) -> Behaviour:
        inner = super()._next(request)
        if request.method == "GET":
            return inner
        if self._random.random() < self.temper.faults:
            inner = self._random.choice(_FAULTS)()
        seconds = self._random.uniform(self.temper.fastest_s, self.temper.slowest_s)

        async def behave(exchange: Exchange) -> None:
            await asyncio.sleep(seconds)
            self._open_calls.pop(exchange, None)  # whoever gets the answer may ask again at once
            await inner(exchange)

        return behave

    async def _until_gone(self, reader: StreamReader, exchange: Exchange, behaviour: Behaviour) -> None:
        chat = _chat_of(exchange.request)
        if self.open_calls(chat):
            self.overlaps.add(chat)
        self._open_calls[exchange] = chat
        try:
            await super()._until_gone(reader, exchange, behaviour)
        finally:
            self._open_calls.pop(exchange, None)


_FAULTS: tuple[Callable[[], Behaviour], ...] = (
    reset,
    lambda: status(500),
    lambda: status(503, retry_after=0),
    lambda: status(429),
    lambda: status(400),
    lambda: half_stream("It came to"),
    lambda: no_end_mark("It came to"),
    lambda: answer(""),
)


def _chat_of(request: Request) -> str:
    found = _SAID.search(request.user) or _TOLD.search(request.user)
    return found[0].split(" ")[0] if found else ""
