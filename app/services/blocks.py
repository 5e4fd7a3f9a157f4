"""The memory block: the live snippets as they stand in a prompt. Made once per version of a memory.

Layered memory stands in its injection template. The one summary of the other memories stands in our own wrapper, behind
the same label: their settings have no template.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock

from sqlmodel import Session

from app.core.context import share_of_memory
from app.core.model import Strategy
from app.core.settings import LayeredSettings
from app.core.summary import CountTokens
from app.services.counters import ChatCounters
from app.services.prompts import PromptLibrary
from app.services.reading import ChatState
from app.store import snippets
from app.store.snippets import LiveSnippet

_KEPT = 256
_OURS = LayeredSettings()


@dataclass(frozen=True, slots=True)
class Block:
    """The memory as text, its tokens, and how many snippets are in it; `trimmed` if there are more, `kept` then are the
    keys of those in it.
    """

    text: str
    tokens: int
    snippets: int
    trimmed: bool = False
    kept: tuple[int, ...] = ()


NOTHING = Block("", 0, 0)


class Blocks:
    """Renders memory blocks. The same version and template give the same bytes, so the newest are remembered."""

    def __init__(self, prompts: PromptLibrary, counters: ChatCounters) -> None:
        self._prompts = prompts
        self._counters = counters
        self._made: OrderedDict[tuple[object, ...], Block] = OrderedDict()
        self._lock = Lock()

    def of(self, session: Session, state: ChatState, limit: int | None = None) -> Block:
        """The block of a chat's memory; nothing where no memory is sent. Over `limit` tokens only a part of it, but one
        summary is sent whole: what is cut of it would be lost.
        """
        chat = state.chat
        if state.settings.replays_all or chat.strategy == Strategy.NONE:
            return NOTHING
        wrapped, counted = _wrapper(state).injection_template, state.settings.connection
        name = (chat.key, chat.epoch, chat.strategy, chat.memory_version, wrapped, counted)
        block = self._remembered(session, state, name, None)
        if limit is None or block.tokens <= limit or chat.strategy != Strategy.LAYERED:
            return block
        return self._remembered(session, state, (*name, limit), limit)

    def beside(self, session: Session, state: ChatState, more: str) -> Block:
        """The block with a summary behind what is remembered that no other prompt has."""
        live = snippets.live(session, state.chat.key, state.chat.strategy)
        text = self._prompts.memory_block(_wrapper(state), "\n".join([*(snippet.text for snippet in live), more]))
        return Block(text, self._counters.counter_for(session, state.settings)(text), len(live) + 1)

    def _remembered(self, session: Session, state: ChatState, name: tuple[object, ...], limit: int | None) -> Block:
        if state.supposed is not None:  # the chat's version does not tell of changes of dormant memory
            return self._make(session, state, limit)
        with self._lock:
            block = self._made.get(name)
        if block is None:
            block = self._make(session, state, limit)
            with self._lock:
                self._made[name] = block
                if len(self._made) > _KEPT:
                    self._made.popitem(last=False)
        return block

    def _make(self, session: Session, state: ChatState, limit: int | None) -> Block:
        live = state.supposed
        if live is None:
            live = snippets.live(session, state.chat.key, state.chat.strategy)
        count = self._counters.counter_for(session, state.settings)
        block = self._render(state, live, count)
        if limit is None:
            return block
        # The wrapper and the line breaks cost tokens too; what they take is known from the whole block.
        room = limit - (block.tokens - sum(snippet.core.tokens for snippet in live))
        kept = {snippet.key for snippet in share_of_memory([snippet.core for snippet in live], max(0, room))}
        part = self._render(state, [snippet for snippet in live if snippet.core.key in kept], count)
        return replace(part, trimmed=True, kept=tuple(kept))

    def _render(self, state: ChatState, live: Sequence[LiveSnippet], count: CountTokens) -> Block:
        text = self._prompts.memory_block(_wrapper(state), "\n".join(snippet.text for snippet in live))
        return Block(text, count(text) if text else 0, len(live))


def _wrapper(state: ChatState) -> LayeredSettings:
    """The settings whose template goes around the memory."""
    return state.settings.layered if state.chat.strategy == Strategy.LAYERED else _OURS
