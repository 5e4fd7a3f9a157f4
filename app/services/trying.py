"""One summary, asked of one connection after another."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.core.summary import Connection, Summarizer, Summary, SummaryRequest, spent_on
from app.errors import ModelError, ModelWithdrawn
from app.services.failure import both


@dataclass(frozen=True)
class Trying:
    """Asks for one summary."""

    summarizer: Summarizer

    async def summarize(self, request: SummaryRequest, others: Sequence[Connection]) -> Summary:
        """The summary, by another connection if the first one fails: then it is degraded. Raises ModelError."""
        try:
            return await self.summarizer.summarize(request)
        except ModelError as error:
            if not others or isinstance(error, ModelWithdrawn):
                raise
            first = error
        try:
            summary = await self.summarize(replace(request, connection=others[0]), others[1:])
        except ModelError as error:
            raise both(first, error) from None
        return replace(summary, degraded=True, usage=spent_on(first) + summary.usage)
