"""A chat as a picture."""

from pydantic import Field

from app.api.schemas.common import Place, Shown
from app.api.schemas.snippets import SnippetKind
from app.core.model import Strategy
from app.core.strata import MOST_STRETCHES, State


class SnippetSketch(Shown):
    """A live snippet without its text."""

    id: str
    position: int
    kind: SnippetKind
    first_index: int | None = Field(description="Of what is under it; null where nothing is left.")
    last_index: int | None
    turns: int
    messages: int
    tokens: int
    source_tokens: int
    stale: bool
    degraded: bool
    edited: bool = Field(description="Its text is a person's.")


class LayerSketch(Shown):
    """A layer and its live snippets in reading order."""

    layer: int
    limit: int
    snippets: list[SnippetSketch]


class Stretch(Shown):
    """Neighbouring messages in one state; `mixed` where the shortest neighbours had to be joined."""

    state: State
    skipped: bool = Field(description="Their turns were chosen to stay visible.")
    first_index: int
    last_index: int
    messages: int
    turns: int = Field(description="Closed turns that end here.")
    tokens: int = Field(description="Of the texts, hidden ones too.")


class Span(Shown):
    """Messages, by first and last 0-based index."""

    first_index: int
    last_index: int


class WindowSketch(Shown):
    """The newest turns, which do not fold yet: from where, and how many. Null where there are none."""

    first_index: int | None
    turns: int


class Strata(Shown):
    """What a chat's memory stands for, and where."""

    strategy: Strategy
    memory_version: int
    messages: int
    turns: int = Field(description="Closed turns.")
    raw_tokens: int = Field(description="Tokens of all messages that are not hidden.")
    layers: list[LayerSketch] = Field(description="Deepest first.")
    stretches: list[Stretch] = Field(
        description=f"The history from index 0 on, without gap: at most {MOST_STRETCHES}.",
    )
    pinned: list[Place] = Field(description="The first 200 pinned messages.")
    window: WindowSketch
    folding: list[Span] = Field(description="While a job folds: what it has in work or takes next.")
