"""A prompt piece by piece: what each says, where it comes from, and what of the prompt's tokens it takes.

The tokens of the pieces of each part add up to that part of `tokens`: system, pinned and opening to the system's, frame
and current to the current turn's. The 8 tokens of a message that is made of several pieces are the first one's; where
the memory is all that stands in the system message, they are those of a system piece without text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlmodel import Session

from app.core.blocks import cost
from app.core.model import Message
from app.core.trim import MESSAGE_OVERHEAD
from app.formats.prompt_formats import OPENING, Said, needs_opening, sent_order, system_end, text_line
from app.services.drawing import Drawn
from app.store import messages

Part = Literal["system", "pinned", "memory", "history", "frame", "current", "opening"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece as it is said. `message` if it is stored, else `name` is what the request calls its speaker."""

    part: Part
    said: Said
    tokens: int
    message: Message | None = None
    name: str | None = None


def itemize(session: Session, drawn: Drawn) -> list[dict[str, Any]]:
    """The pieces of a prompt in the order in which its format says them, shaped as `sent` of docs/projection.md."""
    plan, labelled = drawn.plan, drawn.voices.format == "text"
    names = messages.named(session, [m.key for m in (*plan.prompt, *plan.history, *plan.current)])
    return [_shown(piece, names, labelled=labelled) for piece in _as_written(session, drawn)]


def _shown(piece: Piece, names: Mapping[int, tuple[str, str | None]], *, labelled: bool) -> dict[str, Any]:
    said, message = piece.said, piece.message
    message_id, name = names.get(message.key, (None, None)) if message else (None, piece.name)
    optional = {"tool_calls": said.tool_calls or None, "tool_call_id": said.tool_call_id}
    return {
        "part": piece.part,
        "role": said.role,
        "name": name,
        "content": text_line(said) if labelled else said.content,
        "message_id": message_id,
        "index": message.index if message else None,
        "tokens": piece.tokens,
        **{field: value for field, value in optional.items() if value is not None},
    }


def _as_written(session: Session, drawn: Drawn) -> list[Piece]:
    """The pieces as the format has them: an opening where one is needed, results behind their calls."""
    opening = _opening(drawn)
    pieces = _in_order(drawn, _heads(session, drawn, sum(piece.tokens for piece in opening)))
    end = system_end([piece.said for piece in pieces])
    pieces = [*pieces[:end], *opening, *pieces[end:]]
    if drawn.voices.format == "text":
        return pieces
    return [pieces[place] for places in sent_order([piece.said for piece in pieces]) for place in places]


def _in_order(drawn: Drawn, heads: Sequence[Piece]) -> list[Piece]:
    """As `Parts.in_order`."""
    parts, at = drawn.parts, drawn.parts.memory_place()
    role = "user" if parts.placement.where == "user_message" else "system"
    memory = [Piece("memory", Said(role, parts.memory), drawn.plan.tokens.memory)] if parts.memory else []
    rest = [*_past(drawn), *_current(drawn)]
    return [*heads, *memory, *rest] if at is None else [*heads, *rest[:at], *memory, *rest[at:]]


def _opening(drawn: Drawn) -> list[Piece]:
    if drawn.voices.format != "anthropic" or not needs_opening(drawn.parts.in_order()):
        return []
    tokens = drawn.sketch.tally.repeated(OPENING) + MESSAGE_OVERHEAD
    return [Piece("opening", Said("user", OPENING), tokens)]


def _heads(session: Session, drawn: Drawn, opening: int) -> list[Piece]:
    """The texts of the system message; `opening`: what else costs tokens of the system's."""
    plan, prompt = drawn.plan, drawn.sketch.query.system_prompt
    found = [Piece("system", Said("system", prompt), drawn.sketch.tally.repeated(prompt))] if prompt else []
    texts = messages.contents(session, [message.key for message in plan.prompt])
    found += [Piece("system", Said("system", texts[m.key].content), m.tokens, m) for m in plan.prompt if m.key in texts]
    found = [piece for piece in found if piece.said.content]
    overhead = plan.tokens.system - cost(plan.early) - opening - sum(piece.tokens for piece in found)
    if not found:
        return [Piece("system", Said("system", ""), overhead)] if overhead else []
    return [replace(found[0], tokens=found[0].tokens + overhead), *found[1:]]


def _past(drawn: Drawn) -> list[Piece]:
    early = {message.key for message in drawn.plan.early}
    return [
        Piece("pinned" if message.key in early else "history", said, cost([message]), message)
        for message, said in zip(drawn.plan.history, drawn.parts.past, strict=True)
    ]


def _current(drawn: Drawn) -> list[Piece]:
    """The current turn; what a frame costs is the rest of it."""
    stored, brought = drawn.plan.current, drawn.sketch.query.current
    tally, parts = drawn.sketch.tally, drawn.parts
    turn: list[tuple[int, Message | None, str | None]] = [(cost([message]), message, None) for message in stored]
    turn += [(tally.messages([message]), None, message.get("name")) for message in brought]
    framed = parts.framed
    origins = framed.origins if framed else range(len(turn))
    pieces = []
    for said, origin in zip(parts.current, origins, strict=True):
        tokens, message, name = turn[origin] if origin is not None else (0, None, None)
        pieces.append(Piece("current", said, tokens, message, name))
    if framed is None or framed.place is None:
        return pieces
    rest = drawn.plan.tokens.current - sum(p.tokens for place, p in enumerate(pieces) if place != framed.place)
    pieces[framed.place] = replace(pieces[framed.place], part="frame", tokens=rest)
    return pieces
