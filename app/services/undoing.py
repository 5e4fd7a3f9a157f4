"""Taking back what a person did to snippets, newest first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlmodel import Session

from app.core.model import Message as CoreMessage
from app.core.model import Strategy
from app.core.retirement import turns_to_uncover
from app.errors import Conflict
from app.services.noting import note_memory
from app.services.ports import Runner
from app.services.reading import read_state, require_chat
from app.services.revising import note_new_text, queue_healing
from app.services.settling import fall_back, note_joiners
from app.store import messages, placing, snippets, trees, versions
from app.store.clock import now_ms
from app.store.engine import Database
from app.store.kept_tables import SnippetVersion, UndoStep
from app.store.messages import Leaf
from app.store.tables import Chat, Snippet


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back: an edit, delete, manual (a snippet written by hand) or regenerate, and of which snippet."""

    kind: str
    snippet_id: str


class _TooLate(Exception):
    """A step that can never be taken back any more, and why."""

    def __init__(self, step_key: int, detail: str) -> None:
        super().__init__(detail)
        self.step_key, self.detail = step_key, detail


@dataclass(frozen=True)
class Undoing:
    """Takes steps back."""

    db: Database
    runner: Runner

    def undo(self, chat_id: str) -> Undone:
        """Take back the last step that a person made on the present memory.

        Raises NotFound, and Conflict if there is none or if it cannot be taken back; one that never can be any more
        is forgotten, so that the step before it can be taken back next.
        """
        try:
            undone, job_id = self._take_back(chat_id)
        except _TooLate as late:
            with self.db.write() as session:
                versions.drop_step(session, late.step_key)
            raise Conflict(f"{late.detail} Undo again to take back what was done before it.") from None
        if job_id is not None:
            self.runner.poke(job_id)
        return undone

    def _take_back(self, chat_id: str) -> tuple[Undone, str | None]:
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            while step := versions.newest_step(session, chat.key, chat.strategy):
                snippet = session.get_one(Snippet, step.snippet_key)
                done = _INVERSES[step.kind](session, chat, step, snippet)
                kind = step.kind
                versions.drop_step(session, step.key)
                if done:
                    note_memory(session, chat, "undo")
                    return Undone(kind, snippet.id), queue_healing(session, chat)
        raise Conflict("There is nothing left to undo: no edit, deletion, snippet by hand or regeneration.")


def _restore_text(session: Session, chat: Chat, step: UndoStep, snippet: Snippet) -> bool:
    """Bring the text from before an edit or a regeneration back; False if the snippet is gone."""
    earlier = session.get(SnippetVersion, step.version_key) if step.version_key is not None else None
    if earlier is None or not trees.stands(session, snippet):
        return False
    if snippet.state != "live" and Strategy(snippet.strategy).rewrites:
        raise _TooLate(step.key, f"Summary {snippet.id!r} has gone into a newer one since.")
    changed_since = snippet.stale or versions.stale_since(session, earlier)
    versions.keep(session, snippet, "undo")
    snippet.text, snippet.tokens = earlier.text, earlier.tokens
    snippet.edited, snippet.stale, snippet.degraded = earlier.edited, changed_since, earlier.degraded
    snippet.connection, snippet.model = earlier.connection, earlier.model
    snippet.edited_at = now_ms() if earlier.edited else None
    note_new_text(session, chat, snippet)
    return True


def _unwrite(session: Session, chat: Chat, step: UndoStep, snippet: Snippet) -> bool:
    """Take a snippet back that was written by hand; False if it is gone."""
    if snippet.state == "absorbed" and trees.stands(session, snippet):
        raise _TooLate(step.key, f"Snippet {snippet.id!r} has been merged into another one since it was written.")
    if snippet.state != "live":
        return False
    trees.release(session, chat.key, snippet)
    chat.memory_version += 1
    return True


def _put_back(session: Session, chat: Chat, step: UndoStep, root: Snippet) -> bool:
    """Bring a deleted snippet back over what is left of its messages; False if nothing is."""
    if Strategy(root.strategy).rewrites:
        return _put_back_summary(session, chat, step, root)
    leaf = messages.leaf_of(root.strategy)
    then = {int(key): {message: revision for message, revision in found} for key, found in (step.covered or {}).items()}
    now = messages.by_keys(session, [key for found in then.values() for key in found])
    plain = [message for message in now.values() if message.visible and not message.pinned]
    if root.state != "deleted" or leaf is None or all(message.blank for message in plain):
        return False
    first, last = min(message.index for message in plain), max(message.index for message in plain)
    _make_way(session, chat, step, leaf, first, last)
    session.flush()
    root.layer, root.position = placing.place_for(session, chat.key, root.strategy, first, last, root.layer)
    root.state = "live"
    session.flush()
    kept = {message.key for message in plain}
    for key, found in then.items():
        messages.cover(session, [message for message in found if message in kept], leaf, key)
    _settle(session, chat, then, now)
    note_joiners(session, chat.key, root.strategy, first, last)
    _require_window(session, chat, root)
    chat.memory_version += 1
    return True


def _put_back_summary(session: Session, chat: Chat, step: UndoStep, summary: Snippet) -> bool:
    """Bring a summary back that is written anew with every fold, in the place of whatever went on from the one before
    it since; False if nothing is left under it. One that what it tells of has changed under would have to give way.
    """
    then = {int(key): found for key, found in (step.covered or {}).items()}
    own = dict(then.pop(summary.key, []))
    now = messages.by_keys(session, list(own))
    plain = [message for message in now.values() if message.visible and not message.pinned]
    if summary.state != "deleted" or all(message.blank for message in plain):
        return False
    if any(_differs(now.get(key), revision) for key, revision in own.items()):
        raise _TooLate(step.key, f"What summary {summary.id!r} tells of has changed since.")
    before = _return_to(session, chat, step, next(iter(then), None))
    _require_no_gap(session, chat, step, plain)
    if before is not None:
        before.state, before.parent_key = "absorbed", summary.key
        session.flush()
    summary.state, summary.layer, summary.position = "live", 0, 0
    session.flush()
    leaf = messages.leaf_of(summary.strategy)
    if leaf is not None:
        messages.cover(session, [message.key for message in plain], leaf, summary.key)
    chat.memory_version += 1
    return True


def _return_to(session: Session, chat: Chat, step: UndoStep, key: int | None) -> Snippet | None:
    """Let a summary, or none, stand as it did when the next one was deleted; a person's own words do not give way."""
    chain = trees.chain(session, chat.key, chat.strategy)
    keys = [one.key for one in chain]
    if key is not None and key not in keys:
        raise _TooLate(step.key, "The summary that the deleted one went on from is gone.")
    count = keys.index(key) if key is not None else len(keys)
    if any(one.edited for one in chain[:count]):
        raise _TooLate(step.key, f"What the deleted summary covered is under summary {chain[0].id!r} now.")
    fall_back(session, chat.key, chain, count)
    return chain[count] if count < len(chain) else None


def _require_no_gap(session: Session, chat: Chat, step: UndoStep, plain: Sequence[CoreMessage]) -> None:
    """One summary covers the oldest messages without a gap, and nothing came between them since."""
    leaf = messages.leaf_of(chat.strategy)
    last = max(message.index for message in plain)
    head = trees.end_of_head(session, chat.key)
    waiting = trees.joiners(session, chat.key, leaf, head, last) if leaf is not None else []
    if waiting != sorted(message.index for message in plain if not message.blank):
        raise _TooLate(step.key, "Other messages stand among those that the deleted summary covered.")


def _make_way(session: Session, chat: Chat, step: UndoStep, leaf: Leaf, first: int, last: int) -> None:
    """Let go what was folded again since. A person's own words do not give way, nor does what merged more than this."""
    for root in trees.roots_between(session, chat.key, leaf, first, last):
        under = snippets.covers(session, chat.key, [root.key])[root.key]
        reaches_out = under.first_index < first or under.last_index > last
        if trees.holds_own_words(session, root.key) or (reaches_out and trees.parts(session, root.key)):
            raise _TooLate(step.key, f"What the deleted snippet covered is under snippet {root.id!r} now.")
        trees.release(session, chat.key, root)
    before = snippets.root_before(session, chat.key, chat.strategy, first)
    after = snippets.root_after(session, chat.key, chat.strategy, last)
    if before is not None and before is after:
        raise _TooLate(step.key, f"What the deleted snippet covered lies inside snippet {before.id!r} now.")


def _settle(
    session: Session, chat: Chat, then: Mapping[int, Mapping[int, int]], now: Mapping[int, CoreMessage]
) -> None:
    """Mark what is not as it was when the snippet was deleted, and let leaves go under which nothing is left."""
    changed = [key for key, found in then.items() if any(_differs(now.get(k), was) for k, was in found.items())]
    stale = trees.upward(session, changed)
    trees.mark_stale(session, stale - trees.drop_empty(session, chat.key, then))


def _differs(message: CoreMessage | None, revision: int) -> bool:
    """Pinning a message takes it out and leaves its snippet fresh (layered.md, Edits …)."""
    if message is None or not message.visible:
        return True
    return message.revision != revision and not message.pinned


def _require_window(session: Session, chat: Chat, root: Snippet) -> None:
    session.flush()
    state = read_state(session, chat)
    layered = state.settings.layered
    if turns_to_uncover(state.view, layered):
        raise Conflict(
            f"With snippet {root.id!r} back, fewer than half of the newest {layered.verbatim_turns} turns would be"
            " verbatim. Undo it once there are more, or lower `verbatim_turns`."
        )


_INVERSES: Mapping[str, Callable[[Session, Chat, UndoStep, Snippet], bool]] = {
    "edit": _restore_text,
    "regenerate": _restore_text,
    "manual": _unwrite,
    "delete": _put_back,
}
