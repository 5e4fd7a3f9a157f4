"""A prompt while it is made: planned with `app.core.projection`, filled with texts, and planned again where it turns
out to say more than was counted.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlmodel import Session

from app.core.notices import notices
from app.core.placement import Placement, parse_placement
from app.core.prefix import Beginning, line_of
from app.core.projection import Choice, Costs, Projection, open_calls, project
from app.core.trim import MESSAGE_OVERHEAD
from app.core.window import Window
from app.formats.prompt_formats import OPENING, Said, needs_opening
from app.services.blocks import Block, Blocks
from app.services.budgeting import Budget, Budgeting, Tally, costs_of
from app.services.framing import apply_frame
from app.services.projection_query import ProjectionQuery
from app.services.prompt_parts import Framed, Parts, coming, without_orphans
from app.services.reading import ChatState
from app.services.viewing import coverage_of
from app.services.voicing import Voices, omitted, voices
from app.store import messages
from app.store.messages import Content


@dataclass(frozen=True, slots=True)
class Sketch:
    """All that a prompt is planned from. `torn`: the request brought results without a call, which are left out."""

    state: ChatState
    query: ProjectionQuery
    budget: Budget
    block: Block
    placement: Placement
    choice: Choice
    costs: Costs
    tally: Tally
    torn: bool

    def plan(self) -> Projection:
        """Which messages are sent."""
        state = self.state
        return project(state.view, state.uncovered, state.total, self.costs, self.budget.tokens, self.choice)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A prompt: what it was planned from, the plan, its texts and who says them."""

    sketch: Sketch
    plan: Projection
    parts: Parts
    voices: Voices

    def beginning(self, *, whole: bool) -> Beginning:
        """What a prompt cache can keep of it; with `whole`, each message of the past too, up to a memory among them.

        Options that change how all messages look count with the system's part.
        """
        parts, state, plan = self.parts, self.sketch.state, self.plan
        newest, start = state.last_covered, plan.first_index or 0
        depth, lines = self._before_memory(), [line_of(said._asdict()) for said in parts.past] if whole else []
        return Beginning(
            system=json.dumps([*parts.heads, *self._looks()]),
            memory=f"{parts.placement} {parts.memory}" if depth is None else "",
            covered=0 if newest is None else newest + 1,
            dropped=plan.window.before,
            changes=state.chat.changes,
            past=lines[:depth],
            first=next((message.key for message in plan.history if message.index >= start), 0),
            behind=[] if depth is None else lines[depth:],
        )

    def _looks(self) -> list[object]:
        """What decides how the messages look, and which."""
        query, chat, voices = self.sketch.query, self.sketch.state.chat, self.voices
        named = voices.names == "prefix" or voices.format == "text" or query.omit_authors
        names = [chat.user_name, chat.character_name] if named else []
        authors = sorted(query.omit_authors or ())
        return [voices.format, voices.names, self.sketch.choice.tool_history, authors, list(query.tools), *names]

    def _before_memory(self) -> int | None:
        """How many messages of the past stand before a memory that moves on with them; None where it stands in front.

        Anthropic's format puts what only system messages precede into the system's part.
        """
        parts, joined = self.parts, self.voices.format == "anthropic"
        if parts.placement.where != "in_chat" or not parts.memory:
            return None
        behind = parts.in_order()[bool(parts.heads) :]
        at = next((place for place, said in enumerate(behind) if said.content == parts.memory), 0)
        in_front = not at or (joined and all(said.role == "system" for said in behind[:at]))
        return None if in_front else min(at, len(parts.past))


@dataclass(frozen=True)
class Drawing:
    """Makes prompts."""

    blocks: Blocks
    budgeting: Budgeting

    def draw(
        self, session: Session, state: ChatState, query: ProjectionQuery, window: Window | None, more: str = ""
    ) -> Drawn:
        """The prompt of a chat; `window` is what its view kept, `more` a summary for this prompt alone.

        Raises InvalidRequest.
        """
        tally, who = self.budgeting.tally(session, state), voices(session, state, query)
        query = _without_blanks(query)
        block = self.blocks.beside(session, state, more) if more else None
        sketch = self._sketch(session, state, query, window, tally, block)
        drawn = self._filled(session, sketch, who)
        if who.format == "anthropic" and needs_opening(drawn.parts.in_order()):
            opening = tally.repeated(OPENING) + MESSAGE_OVERHEAD
            costs = replace(sketch.costs, system=sketch.costs.system + opening)
            drawn = self._filled(session, replace(sketch, costs=costs), who)
            if not needs_opening(drawn.parts.in_order()):
                # The line itself pushed out what called for it, so it is not sent.
                drawn = replace(drawn, plan=_cheaper(drawn.plan, opening))
        return drawn

    def _sketch(
        self,
        session: Session,
        state: ChatState,
        query: ProjectionQuery,
        window: Window | None,
        tally: Tally,
        block: Block | None,
    ) -> Sketch:
        budget = self.budgeting.budget(session, state, query)
        block = block or self.blocks.of(session, state, budget.share(state.settings.memory_share))
        placement = parse_placement(query.memory_placement or state.settings.placement(state.chat.strategy))
        choice = Choice(
            omitted=omitted(session, state, query.omit_authors),
            tool_history=query.tool_history or "pair",
            window=window.mark_now(coverage_of(state)) if window else None,
            coming=coming(query.current),
        )
        current = without_orphans(query.current, open_calls(state.view, state.uncovered, choice))
        asked = replace(query, current=current) if len(current) < len(query.current) else query
        costs = costs_of(state, asked, choice, block, placement, tally)
        return Sketch(state, asked, budget, block, placement, choice, costs, tally, asked is not query)

    def _filled(self, session: Session, sketch: Sketch, who: Voices) -> Drawn:
        plan = sketch.plan()
        texts = messages.contents(session, [m.key for m in (*plan.prompt, *plan.history, *plan.current)])
        current, framed = _current(sketch, plan, texts), None
        said = [who.said(Content(**message)) for message in current]
        if sketch.query.frame:
            bare, before = sketch, plan
            sketch, said, framed = _framed(bare, current, who)
            plan = sketch.plan()
            texts |= messages.contents(session, [m.key for m in plan.history if m.key not in texts])
            if len(plan.current) < len(before.current):
                # What the frame costs pushed out the call that a result of the current turn answers.
                sketch, said, framed = _framed(bare, _current(bare, plan, texts), who)
        heads = (sketch.query.system_prompt, *(texts[m.key].content for m in plan.prompt if m.key in texts))
        past = who.stored(plan.history, texts)
        parts = Parts(tuple(text for text in heads if text), sketch.block.text, sketch.placement, past, said, framed)
        return Drawn(sketch, plan, parts, who)


def _current(sketch: Sketch, plan: Projection, texts: Mapping[int, Content]) -> list[dict[str, Any]]:
    """The current turn: what is stored of it, then what the request brings."""
    stored = [texts[message.key] for message in plan.current if message.key in texts]
    return [one._asdict() for one in (*stored, *(_content(message) for message in sketch.query.current))]


def _framed(sketch: Sketch, current: Sequence[Mapping[str, Any]], who: Voices) -> tuple[Sketch, list[Said], Framed]:
    """The current turn with the frame around its user message, which costs what it adds."""
    framed = apply_frame(sketch.query.read_frame(), current)
    added = [message for message in framed if message not in current]
    gone = [message for message in current if message not in framed]
    # What the frame adds is nobody's line and bears no name; what it replaces is still its speaker's.
    alone = added if not gone else []
    origins = _origins(framed, added, inserted=bool(alone))
    framed = [message for message in framed if not _is_blank(message)]
    more = sketch.tally.messages(framed) - sketch.tally.messages(current)
    costs = replace(sketch.costs, current=sketch.costs.current + more)
    said = [Said(m["role"], m["content"]) if m in alone else who.said(_content(m)) for m in framed]
    return replace(sketch, costs=costs), said, origins


def _origins(framed: Sequence[Mapping[str, Any]], added: Sequence[Mapping[str, Any]], *, inserted: bool) -> Framed:
    """Which messages these are, those left out that are blank."""
    at = framed.index(added[0]) if added else None
    kept = [place for place, message in enumerate(framed) if not _is_blank(message)]
    if at is None:
        return Framed(None, tuple(kept))
    origins = [place - (inserted and place > at) if place != at or not inserted else None for place in kept]
    return Framed(kept.index(at), tuple(origins))


def _without_blanks(query: ProjectionQuery) -> ProjectionQuery:
    """The request without what says nothing, as a stored message that says nothing is not sent; a frame may still
    stand around a user's line.
    """
    prompt = query.system_prompt if (query.system_prompt or "").strip() else None
    said = [m for m in query.current if not _is_blank(m) or (query.frame and m["role"] == "user")]
    if prompt is query.system_prompt and len(said) == len(query.current):
        return query
    return replace(query, system_prompt=prompt, current=said)


def _is_blank(message: Mapping[str, Any]) -> bool:
    blank = not message.get("tool_calls") and not (message.get("content") or "").strip()
    return blank and message["role"] != "tool"


def _cheaper(plan: Projection, by: int) -> Projection:
    """A plan whose system part costs less than was thought."""
    tokens = replace(plan.tokens, system=plan.tokens.system - by)
    return replace(plan, tokens=tokens, warnings=notices(tokens, {part.reason for part in plan.left_out}))


def _content(message: Mapping[str, Any]) -> Content:
    optional = ("name", "content", "tool_calls", "tool_call_id")
    return Content(message["role"], *(message.get(field) for field in optional))
