"""What a summarizer is asked and what it gives back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from app.core.model import Usage
from app.errors import ModelError

Provider = Literal["extractive", "openai", "ollama", "client"]


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach a model. `api_key` never shows in a repr; `timeout_s` bounds one attempt, in seconds."""

    name: str
    provider: Provider
    base_url: str | None = None
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    context_size: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout_s: float = 120.0
    concurrency: int = 4
    extra_body: Mapping[str, Any] = field(default_factory=dict, repr=False)


def counted_as(provider: str, model: str | None) -> str | None:
    """The name of the model whose tokens are counted: None where there is no model, "" where none is named.

    The extractive summarizer may be given the name of a model that does nothing but count.
    """
    return model or (None if provider == "extractive" else "")


@dataclass(frozen=True, slots=True)
class Line:
    """One message of a passage: who said it, and what."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """One summary to be made.

    `system` and `user` are the rendered prompts for a model. `prior` (texts of the snippets before the passage, in
    reading order) and `passage` are the same material as data, for the extractive summarizer; a merge has one line
    without a speaker per source snippet. `previous` is the one summary that this one takes the place of, "" if it is
    the first of its kind, None where each passage has a summary of its own. `limit` is snippet_tokens or
    max_summary_tokens; `source_tokens` what the passage holds.
    `strip_patterns` are literal strings taken out of the answer. `clipped`: the passage had its middle cut. `chat` is
    whose summary it is (calls of one connection are shared out between chats), `batch` names it in logs.
    `count`: how the chat counts tokens, which `limit` and `source_tokens` are in; None leaves that to the summarizer.
    `paid` is told what each call cost as soon as that is known, so that one who cuts it can tell what was spent.
    `trial`: only a person who tries prompts waits for it, and wants to see what the model makes of them.
    """

    kind: Literal["fold", "merge"]
    connection: Connection
    system: str
    user: str
    prior: tuple[str, ...]
    passage: tuple[Line, ...]
    limit: int
    source_tokens: int
    strip_patterns: tuple[str, ...] = ()
    clipped: bool = False
    chat: str = ""
    batch: str = ""
    previous: str | None = None
    count: "CountTokens | None" = field(default=None, repr=False, compare=False)
    paid: Callable[[Usage], None] | None = field(default=None, repr=False, compare=False)
    trial: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """A text fit to become memory: one line, cleaned. `degraded` as in layered.md; `usage` counts failed calls too."""

    text: str
    tokens: int
    connection: str
    model: str | None
    usage: Usage
    degraded: bool = False


@dataclass(slots=True)
class Spending:
    """What a request has cost until now; `add` is what it takes as its `paid`."""

    usage: Usage = field(default_factory=Usage)

    def add(self, cost: Usage) -> None:
        """So much more was spent."""
        self.usage += cost


def spent_on(error: ModelError) -> Usage:
    """What was paid although no summary came of it: refused answers cost what good ones do."""
    return Usage(error.calls, error.prompt_tokens, error.completion_tokens)


class CountTokens(Protocol):
    """Counts the tokens of one text."""

    def __call__(self, text: str, /) -> int: ...


class Counter(CountTokens, Protocol):
    """Counts tokens, one text or many."""

    def count_many(self, texts: Sequence[str]) -> list[int]: ...


class Summarizer(Protocol):
    """Makes summaries, however many attempts that takes."""

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Raises ModelUnavailable, ModelRejected or ModelUnusable; cancelling it cuts the HTTP call."""
        ...
