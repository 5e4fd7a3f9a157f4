"""The memory block: the live snippets as they stand in a prompt. Made once per version of a memory."""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from sqlmodel import Session

from app.core.model import Strategy
from app.core.summary import CountTokens
from app.services.prompts import PromptLibrary
from app.services.reading import ChatState
from app.store import snippets

_KEPT = 256


@dataclass(frozen=True, slots=True)
class Block:
    """The memory as text, its tokens, and how many snippets are in it."""

    text: str
    tokens: int
    snippets: int


NOTHING = Block("", 0, 0)


class Blocks:
    """Renders memory blocks. The same version and template give the same bytes, so the newest are remembered."""

    def __init__(self, prompts: PromptLibrary, count: CountTokens) -> None:
        self._prompts = prompts
        self._count = count
        self._made: OrderedDict[tuple[object, ...], Block] = OrderedDict()
        self._lock = Lock()

    def of(self, session: Session, state: ChatState) -> Block:
        """The block of a chat's memory; nothing where no memory is sent."""
        chat = state.chat
        if state.settings.replays_all or chat.strategy == Strategy.NONE:
            return NOTHING
        template = state.settings.layered.injection_template
        name = (chat.key, chat.epoch, chat.strategy, chat.memory_version, template)
        with self._lock:
            block = self._made.get(name)
        return block or self._make(session, state, name)

    def _make(self, session: Session, state: ChatState, name: tuple[object, ...]) -> Block:
        live = snippets.live(session, state.chat.key, state.chat.strategy)
        text = self._prompts.memory_block(state.settings.layered, "\n".join(snippet.text for snippet in live))
        block = Block(text, self._count(text), len(live))
        with self._lock:
            self._made[name] = block
            if len(self._made) > _KEPT:
                self._made.popitem(last=False)
        return block
