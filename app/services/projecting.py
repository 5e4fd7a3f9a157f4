"""The prompt as it stands, as it is answered."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlmodel import Session

from app.core.model import Strategy
from app.core.notices import trigger_above_budget
from app.core.prefix import Prefix, changed_by, following, parse_prefix
from app.core.window import Window
from app.errors import InvalidRequest
from app.formats.prompt_formats import write_prompt
from app.services.blocks import Block
from app.services.drawing import Drawing, Drawn
from app.services.itemizing import itemize
from app.services.projection_query import NOTHING_BEFORE, Beforehand, ProjectionQuery, under_view
from app.services.projection_view import (
    WARNINGS,
    MemoryView,
    ProjectionView,
    WarningView,
    tokens_view,
    window_view,
)
from app.services.reading import ChatState, Place, look_at, read_history, through
from app.services.rewriting import report
from app.services.supposing import suppose
from app.services.viewing import coverage_of, keep_window, read_view
from app.store import counting, history, messages, snippets
from app.store.engine import Database


@dataclass(frozen=True)
class Projecting:
    """Reads prompts."""

    db: Database
    drawing: Drawing

    def project(
        self, chat_id: str, query: ProjectionQuery, *, keep: bool = False, before: Beforehand = NOTHING_BEFORE
    ) -> ProjectionView:
        """The prompt of a chat. With `keep`, as of a POST, its view's window moves on; else it is only read. A strategy
        that is not the chat's own is for reading alone.

        Raises NotFound, and InvalidRequest when the sizes do not fit together.
        """
        known = _read_prefix(query.known_prefix)
        with self.db.read() as session:
            chat = look_at(session, chat_id)
            view = read_view(session, chat, query.view) if query.view is not None else None
            query = under_view(query, view.options) if view else query
            other = query.strategy if query.strategy != chat.strategy else None
            state = suppose(session, chat, other) if other else read_history(session, chat, for_prompt=True)
            window = (view.window or Window(coverage_of(state))) if view else None
            drawn = self.drawing.draw(session, state, query, window, before.summary)
            covered = _through(session, state, drawn.sketch.block)
            skipped = before.skipped or _skipped(session, state)
            stored = _exposed(session, state)
            sent = itemize(session, drawn) if query.explain else None
        beginning = drawn.beginning(whole=view is not None)
        last = window.prefix if window else None
        prefix = following(last, beginning) if last else beginning.prefix()
        if view and keep:
            keep_window(self.db, view, Window(coverage_of(state), drawn.plan.window, prefix))
        earlier = last if known is None or str(known) == str(last) else known
        cause = changed_by(earlier, beginning) if earlier and str(known) != str(prefix) else None
        shown = _shown(drawn, covered, replace(before, skipped=skipped), str(prefix), cause)
        return shown if stored is None and sent is None else replace(shown, stored_messages=stored, sent=sent)


def _shown(
    drawn: Drawn, covered: Place | None, before: Beforehand, prefix_hash: str, cause: str | None
) -> ProjectionView:
    sketch, plan = drawn.sketch, drawn.plan
    prompt = write_prompt(drawn.parts.in_order(), drawn.voices.format)
    block = sketch.block
    return ProjectionView(
        messages=prompt.messages,
        system=prompt.system,
        text=prompt.text,
        memory=MemoryView(block.text, sketch.state.chat.memory_version, block.tokens, block.snippets, covered),
        window=window_view(plan),
        tokens=tokens_view(plan),
        prefix_hash=prefix_hash,
        prefix_changed_by=cause,
        left_out=plan.left_out,
        warnings=[*(WarningView(code, WARNINGS[code]) for code in _warned(drawn)), *before.warnings],
        skipped=before.skipped,
        error=before.error,
    )


def _through(session: Session, state: ChatState, block: Block) -> Place | None:
    """The newest message that the memory in the prompt tells of."""
    if not block.text:
        return None
    if not block.trimmed:
        return through(session, state)
    newest = max(under.last_index for under in snippets.covers(session, state.chat.key, block.kept).values())
    return Place(messages.id_at(session, state.chat.key, newest), newest)


def _skipped(session: Session, state: ChatState) -> dict[str, Any] | None:
    """Why rolling memory folds nothing now, if it is what is sent and does not."""
    if state.chat.strategy != Strategy.ROLLING or state.settings.replays_all:
        return None
    covered = state.last_covered is not None
    folded = counting.count_covered_turns(session, state.chat.key, state.chat.strategy) if covered else 0
    found = report(replace(state, folded=folded))
    return asdict(found) if found else None


def _exposed(session: Session, state: ChatState) -> list[dict[str, Any]] | None:
    """The stored messages that no summary covers, where a summary buffer shows them (`expose_messages_output`)."""
    if state.chat.strategy != Strategy.SUMMARY_BUFFER or not state.settings.summary_buffer.expose_messages_output:
        return None
    found = history.chosen(session, [message.key for message in state.uncovered if message.visible])
    found = sorted(found, key=lambda row: int(row["position"]))
    return [{name: row[name] for name in ("id", "role", "name", "content")} for row in found]


def _warned(drawn: Drawn) -> Iterable[str]:
    sketch, plan = drawn.sketch, drawn.plan
    yield from plan.warnings
    if sketch.torn and "orphaned_tool_messages" not in plan.warnings:
        yield "orphaned_tool_messages"
    if sketch.block.trimmed:
        yield "memory_trimmed"
    state = sketch.state
    rolls = state.chat.strategy == Strategy.ROLLING and not state.settings.replays_all
    if rolls and trigger_above_budget(state.settings.rolling, plan.tokens, plan.turns):
        yield "trigger_above_budget"
    yield from sketch.budget.warnings


def _read_prefix(text: str | None) -> Prefix | None:
    found = parse_prefix(text) if text is not None else None
    if text is not None and found is None:
        detail = "known_prefix must be the prefix_hash of an earlier projection."
        raise InvalidRequest(detail, [{"loc": ["known_prefix"], "msg": detail}])
    return found
