"""Writing down memory that came with a file, in the transaction that brings it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from sqlmodel import Session

from app.core.adoption import NOT_TAKEN, Placed, Repair, adopt
from app.core.ground import Ground, survey
from app.core.model import Strategy
from app.core.resolving import resolve
from app.formats.parsed import ParsedMemory, WarningLog
from app.formats.summaryception import STORE_KEY
from app.services.locating import Whereabouts, claims_of
from app.services.ports import Counter
from app.store import chats, messages, places, placing, snippets
from app.store.clock import now_ms, to_ms
from app.store.tables import Chat, Snippet

_STRATEGY = Strategy.LAYERED
_LEAF = messages.leaf_of(_STRATEGY)
_EXCERPT_CHARS = 80


@dataclass(frozen=True)
class Offer:
    """A memory on its way into a chat, with the tokens of each of its texts."""

    memory: ParsedMemory
    tokens: Sequence[int]


def weigh(count: Counter, memory: ParsedMemory) -> Offer:
    """Count before the transaction, so that other writers wait for the storing alone."""
    return Offer(memory, count.count_many([snippet.text for snippet in memory.snippets]))


@dataclass(frozen=True)
class TakenIn:
    """What came of a memory: how many snippets, and a byte per message of the chat, 1 where one of them covers it."""

    snippets: int
    covered: bytes


def take_in(session: Session, chat: Chat, offer: Offer, where: Whereabouts, log: WarningLog) -> TakenIn:
    """Store what fits. What the chat has already stays as it is.

    The rest, and everything that was done otherwise than the file says, goes into the log.
    """
    held = places.held(session, chat.key, _STRATEGY)
    ground = survey(places.spots(session, chat.key, _STRATEGY), held)
    claims, repairs = claims_of(offer.memory, where)
    numbers = [number for number, _ in claims]
    adoption = adopt([claim for _, claim in claims], ground, where.ends(offer.memory), _window(session, chat))
    repairs += [replace(repair, number=numbers[repair.number]) for repair in adoption.repairs]
    _tell(offer.memory, repairs, log)
    if adoption.placed:
        write = _Writer(session, chat, offer, alone=not held).write
        stored = {write(numbers[one.number], one).id: numbers[one.number] for one in adoption.placed}
        _note(chat, offer.memory, stored)
    return TakenIn(len(adoption.placed), _covered(ground, adoption.placed))


def _window(session: Session, chat: Chat) -> int:
    """How many turns stay verbatim; `compat` keeps to the original, which guards none."""
    layered = resolve(chats.server_settings(session), chat.settings)[0].layered
    return 0 if layered.window == "compat" else layered.verbatim_turns


def _note(chat: Chat, memory: ParsedMemory, numbers: Mapping[str, int]) -> None:
    """The chat has other memory now: what was planned does not hold, and nobody is asked about a backlog behind it.

    What the file says of the memory and of its snippets (numbers by id) beyond our own fields is kept with the chat.
    """
    chat.memory_version += 1 if chat.strategy == _STRATEGY else 0
    chat.epoch += 1
    chat.backlog_answer = chat.backlog_answer or "began"
    before = (chat.extra or {}).get(STORE_KEY, {})
    details = {snippet_id: memory.snippets[number].extra for snippet_id, number in numbers.items()}
    kept = {
        "store": before.get("store", {}) | memory.extra,
        "snippets": before.get("snippets", {}) | {name: detail for name, detail in details.items() if detail},
    }
    if any(kept.values()):
        chat.extra = {**(chat.extra or {}), STORE_KEY: kept}


class _Writer:
    """Stores snippets one after the other, each with what it covers."""

    def __init__(self, session: Session, chat: Chat, offer: Offer, *, alone: bool) -> None:
        self._session = session
        self._chat = chat
        self._offer = offer
        self._next: dict[int, int] | None = {} if alone else None

    def write(self, number: int, one: Placed) -> Snippet:
        """Store one of the memory's snippets; the next one comes after it in reading order."""
        parsed = self._offer.memory.snippets[number]
        under = places.plain_between(self._session, self._chat.key, _STRATEGY, one.first, one.last)
        layer, position = self._place(one)
        snippet = Snippet(
            chat_key=self._chat.key,
            id=str(uuid4()),
            strategy=_STRATEGY.value,
            layer=layer,
            position=position,
            kind="import",
            text=parsed.text,
            tokens=self._offer.tokens[number],
            source_tokens=sum(tokens for _, tokens in under),
            created_at=to_ms(parsed.created_at) if parsed.created_at else now_ms(),
        )
        snippets.add(self._session, snippet)
        if _LEAF is not None:
            messages.cover(self._session, [key for key, _ in under], _LEAF, snippet.key)
        return snippet

    def _place(self, one: Placed) -> tuple[int, int]:
        """Layer and position between what the chat has; where it has nothing, places are counted."""
        if self._next is None:
            return placing.place_for(self._session, self._chat.key, _STRATEGY, one.first, one.last, one.layer)
        position = self._next.get(one.layer, 0)
        self._next[one.layer] = position + 1
        return one.layer, position


def _covered(ground: Ground, placed: Iterable[Placed]) -> bytes:
    marks = bytearray(ground.total)
    for one in placed:
        marks[one.first : one.last + 1] = ground.free[one.first : one.last + 1]
    return bytes(marks)


def _tell(memory: ParsedMemory, repairs: Iterable[Repair], log: WarningLog) -> None:
    """What was lost comes first."""
    for repair in sorted(repairs, key=lambda repair: repair.code != NOT_TAKEN):
        snippet = memory.snippets[repair.number]
        name = f"Snippet {snippet.place + 1} of layer {snippet.layer}"
        if repair.code == NOT_TAKEN:
            excerpt = snippet.text[:_EXCERPT_CHARS]
            log.add(repair.code, f"{name} was not taken: {repair.detail}. Its text begins: “{excerpt}”.")
        else:
            log.add(repair.code, f"{name}: {repair.detail}.")
    ends = [max(snippet.range) for snippet in memory.snippets if snippet.range]
    through = memory.summarized_through
    if through is not None and ends and through != max(ends) and memory.snippets[-1].range:
        log.add(
            "pointer_recomputed",
            f"The memory says that it reaches to message {through} (“summarizedUpTo”), its snippets that they reach to "
            f"{max(ends)}: the snippets decide.",
        )
