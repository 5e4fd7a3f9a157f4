"""The parts of a prompt, put in their order (rolling-and-buffer.md, Projection)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core.placement import Placement, Slot, place
from app.core.tool_pairs import Coming
from app.formats.prompt_formats import Said


@dataclass(frozen=True, slots=True)
class Framed:
    """A current turn with a frame: which of its messages the frame's text is, None where that is empty, and which
    message of the turn each one was without it; None for one that the frame added.
    """

    place: int | None
    origins: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a prompt is made of: `heads` are the texts of the one system message, without the memory. `framed`: what of
    the current turn is its own, where a frame stands around it.
    """

    heads: tuple[str, ...]
    memory: str
    placement: Placement
    past: Sequence[Said]
    current: Sequence[Said]
    framed: Framed | None = None

    def in_order(self) -> list[Said]:
        """The system message, the past and the current turn, the memory in its place."""
        memory = [Said("user" if self.placement.where == "user_message" else "system", self.memory)]
        inside = [] if self.placement.apart else [self.memory]
        texts = [text for text in (*self.heads, *inside) if text]
        system = [Said("system", "\n\n".join(texts))] if texts else []
        rest, at = [*self.past, *self.current], self.memory_place()
        return [*system, *rest] if at is None else [*system, *rest[:at], *memory, *rest[at:]]

    def memory_place(self) -> int | None:
        """How many messages of the past and the current turn stand before the memory; None where it has no message."""
        if not (self.memory and self.placement.apart):
            return None
        return place([*_slots(self.past, current=False), *_slots(self.current, current=True)], self.placement)


def without_orphans(current: Sequence[Mapping[str, Any]], calls: Collection[str]) -> list[Mapping[str, Any]]:
    """A request's messages but for results that answer neither one of its own calls before them nor one of `calls`."""
    known = set(calls)
    kept = []
    for message in current:
        known.update(str(call.get("id")) for call in message.get("tool_calls") or ())
        if message["role"] != "tool" or message.get("tool_call_id") in known:
            kept.append(message)
    return kept


def coming(current: Sequence[Mapping[str, Any]]) -> Coming:
    """What a request's messages say to the calls of the stored ones; a result answers the request's own call first."""
    own: set[str] = set()
    answers: set[str] = set()
    for message in current:
        own.update(str(call.get("id")) for call in message.get("tool_calls") or ())
        if message["role"] == "tool":
            answers.add(str(message.get("tool_call_id")))
            answers -= own
    return Coming(frozenset(answers), any(_says_more(message) for message in current))


def _says_more(message: Mapping[str, Any]) -> bool:
    return message["role"] != "tool" and bool(message.get("tool_calls") or (message.get("content") or "").strip())


def _slots(said: Iterable[Said], *, current: bool) -> Iterable[Slot]:
    for one in said:
        calls = tuple(str(call.get("id")) for call in one.tool_calls or ())
        yield Slot(one.role == "system", calls, one.tool_call_id if one.role == "tool" else None, current)
