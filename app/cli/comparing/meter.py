"""Counting what each chat asks of the summarizer, whoever that is."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Self

from app.assembly import Models
from app.core.health import Health, Pending, Trial
from app.core.model import Usage
from app.core.summary import Connection, CountTokens, Summary, SummaryRequest, spent_on
from app.errors import ModelError


class Meter:
    """Stands before what speaks to models; `spent` is what each chat asked for, by the chat's id.

    The built-in summarizer asks nobody and counts nothing; here it counts as the model whose place it takes: a call a
    summary, with the tokens that a model would have read and written.
    """

    _models: Models

    def __init__(self, count: CountTokens) -> None:
        self._count = count
        self.spent: dict[str, Usage] = defaultdict(Usage)

    def before(self, models: Models) -> Self:
        """Take its place there."""
        self._models = models
        return self

    async def summarize(self, request: SummaryRequest) -> Summary:
        """As Summarizer promises."""
        read = self._count(request.system) + self._count(request.user)
        try:
            summary = await self._models.summarize(request)
        except ModelError as error:
            known = spent_on(error)
            self.spent[request.chat] += known if known.prompt_tokens else Usage(error.calls, read * error.calls)
            raise
        self.spent[request.chat] += summary.usage if summary.usage.calls else Usage(1, read, summary.tokens)
        return summary

    async def models(self, connection: Connection) -> list[str]:
        """The models a server offers."""
        return await self._models.models(connection)

    async def test(self, connection: Connection) -> Trial:
        """Ask for one word."""
        return await self._models.test(connection)

    def health(self, name: str) -> Health:
        """How a connection fares."""
        return self._models.health(name)

    def healths(self) -> Mapping[str, Health]:
        """How all of them fare."""
        return self._models.healths()

    def pending(self, chat: str) -> Pending | None:
        """How a chat's summary fares."""
        return self._models.pending(chat)

    def silent(self, chat: str, seconds: float) -> None:
        """A chat's summary is given up."""
        self._models.silent(chat, seconds)

    def forget(self, name: str) -> None:
        """A connection was changed."""
        self._models.forget(name)
