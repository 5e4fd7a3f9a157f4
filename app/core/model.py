"""The things decisions are made about. Frozen values; texts stay in the store, their token counts are here."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Role(StrEnum):
    """Who speaks, in the words of the chat-completions format."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class Strategy(StrEnum):
    """The kinds of memory a chat can have."""

    LAYERED = "layered"
    ROLLING = "rolling"
    SUMMARY_BUFFER = "summary_buffer"
    NONE = "none"

    @property
    def rewrites(self) -> bool:
        """Whether memory is one summary that every fold writes anew."""
        return self in (Strategy.ROLLING, Strategy.SUMMARY_BUFFER)


class Message(NamedTuple):
    """One stored message, as far as decisions look at it. A tuple: a history of 100,000 is made in a tenth of the time.

    `key` is the store's number for it, `index` its 0-based place among all messages of the chat, `tokens` its text
    and its tool calls. `blank`: neither text nor tool calls. `calls` are the ids of the tool calls it makes, `answers`
    the id of the call it answers. `revision` rises with every change of its content.
    """

    key: int
    index: int  # type: ignore[assignment]  # in place of tuple.index, which nobody asks of a message
    role: Role
    tokens: int
    blank: bool = False
    hidden: bool = False
    pinned: bool = False
    omitted: bool = False
    skipped: bool = False
    calls: tuple[str, ...] = ()
    answers: str | None = None
    revision: int = 0

    @property
    def visible(self) -> bool:
        """Neither hidden nor omitted (covered ones are not among the messages decisions see)."""
        return not (self.hidden or self.omitted)

    @property
    def closes(self) -> bool:
        """Whether a turn ends here (layered.md, Words)."""
        return self.visible and self.role is Role.ASSISTANT and not self.calls and not self.blank


@dataclass(frozen=True, slots=True)
class Turn:
    """A closed turn: its visible messages in order, pinned and blank ones included."""

    messages: tuple[Message, ...]

    @property
    def coverable(self) -> tuple[Message, ...]:
        """What a fold of this turn covers: everything not pinned; nothing if all of that is blank."""
        unpinned = tuple([message for message in self.messages if not message.pinned])
        return () if all([message.blank for message in unpinned]) else unpinned

    @property
    def tokens(self) -> int:
        return sum([message.tokens for message in self.messages])

    @property
    def skipped(self) -> bool:
        return any(message.skipped for message in self.messages)


@dataclass(frozen=True, slots=True)
class Run:
    """Uncovered turns with no covered message between them.

    `preceded` and `followed`: whether covered messages lie before and after it. `strays` are messages after its last
    turn that no reply closes because covered messages follow. `enclosed`: it lies inside one live snippet's range, so
    its turns join the leaf before them instead of folding.
    """

    turns: tuple[Turn, ...]
    strays: tuple[Message, ...] = ()
    preceded: bool = False
    followed: bool = False
    enclosed: bool = False


@dataclass(frozen=True, slots=True)
class Outline:
    """What is not covered: the chat's own system prompt, runs of closed turns, and the open turn.

    A long chat's outline may stop early: `later` is then the least number of turns that come after its last run and
    can fold.
    """

    prompt: tuple[Message, ...] = ()
    runs: tuple[Run, ...] = ()
    open: tuple[Message, ...] = ()
    later: int = 0

    @property
    def turns(self) -> tuple[Turn, ...]:
        """All uncovered closed turns, oldest first."""
        return tuple(turn for run in self.runs for turn in run.turns)


@dataclass(frozen=True, slots=True)
class Snippet:
    """One live line of memory. Sequences of them are in reading order: deepest layer first, oldest first."""

    key: int
    layer: int
    tokens: int
    revision: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a chat, by the 0-based indices of its first and its last message."""

    first_index: int
    last_index: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What a summary cost: model calls made and the tokens the servers (or our counter) counted for them."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )
