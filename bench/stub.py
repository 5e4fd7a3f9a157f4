"""A summarizer that answers at once, with lines of a set length."""

from itertools import count
from time import perf_counter

from app.core.health import Health, Pending, Trial
from app.core.model import Usage
from app.core.summary import Connection, CountTokens, Summary, SummaryRequest
from bench.prose import lines


class Stub:
    """Stands for every model. Lines are made and counted beforehand, so that a call costs nothing.

    `calls` are the moments at which it was called, in seconds; `most_prior` the most tokens of memory it was
    shown; `line_tokens` what its lines hold on average.
    """

    def __init__(self, counter: CountTokens, chars: int) -> None:
        source = lines(seed=7, chars=chars)
        self._lines = [(text, counter(text)) for text, _ in zip(source, range(64), strict=False)]
        self._tokens = dict(self._lines)
        self._number = count()
        self.line_tokens = sum(self._tokens.values()) / len(self._tokens)
        self.calls: list[float] = []
        self.most_prior = 0

    async def summarize(self, request: SummaryRequest) -> Summary:
        """The next line."""
        self.calls.append(perf_counter())
        if request.kind == "fold":
            self.most_prior = max(self.most_prior, sum(self._tokens[text] for text in request.prior))
        text, tokens = self._lines[next(self._number) % len(self._lines)]
        return Summary(text, tokens, request.connection.name, "stub", Usage(1, request.source_tokens, tokens))

    async def models(self, connection: Connection) -> list[str]:  # noqa: ARG002  # the port's signature
        """One."""
        return ["stub"]

    async def test(self, connection: Connection) -> Trial:
        """It always works."""
        return Trial(True, 0, f"{connection.name} answers.")

    def health(self, name: str) -> Health:  # noqa: ARG002  # the port's signature
        """It is always well."""
        return Health("ok")

    def healths(self) -> dict[str, Health]:
        """There is no connection to tell of."""
        return {}

    def pending(self, chat: str) -> Pending | None:  # noqa: ARG002  # the port's signature
        """It answers at once."""
        return None

    def silent(self, chat: str, seconds: float) -> None:
        """It never is."""

    def forget(self, name: str) -> None:
        """There is nothing to forget."""
