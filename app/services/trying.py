"""One summary, asked of one connection after another."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.core.model import Usage
from app.core.summary import Connection, Summarizer, Summary, SummaryRequest, spent_on
from app.errors import ModelError, ModelWithdrawn
from app.services.failure import both


@dataclass
class Trying:
    """`failed`: what connections cost that failed, while another is asked in their place."""

    summarizer: Summarizer
    failed: Usage = field(default_factory=Usage)

    async def summarize(self, request: SummaryRequest, others: Sequence[Connection]) -> Summary:
        """The summary, by another connection if the first one fails: then it is degraded. Raises ModelError."""
        try:
            return await self.summarizer.summarize(request)
        except ModelError as error:
            if not others or isinstance(error, ModelWithdrawn):
                raise
            first = error
        self.failed += spent_on(first)
        try:
            summary = await self.summarize(replace(request, connection=others[0]), others[1:])
        except ModelError as error:
            raise both(first, error) from None
        return replace(summary, degraded=True, usage=spent_on(first) + summary.usage)
