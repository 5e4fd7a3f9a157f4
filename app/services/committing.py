"""Writing memory down, if what it was planned on still holds (DESIGN, decision 4)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import uuid4

from sqlmodel import Session

from app.core.folding import Fold
from app.core.model import Snippet as CoreSnippet
from app.core.model import Usage
from app.core.promotion import Merge, Seed
from app.core.settings import resolve
from app.core.summary import Summary
from app.services.reading import read_head
from app.store import chats, counting, jobs, messages, snippets
from app.store.clock import now_ms
from app.store.tables import Chat, Job, Snippet


@dataclass(frozen=True, slots=True)
class Basis:
    """What a plan was made on: the chat, its epoch and strategy, and the job that made it."""

    chat_key: int
    epoch: int
    strategy: str
    job_id: str
    owner: str


def still_ours(session: Session, basis: Basis, cost: Usage) -> tuple[Chat, Job] | None:
    """The chat and the job, unless memory was forgotten, the strategy switched or the job taken away meanwhile.

    The cost is noted whatever became of the job: it was paid.
    """
    chat = chats.get(session, basis.chat_key)
    job = jobs.by_id(session, basis.job_id)
    note_usage(chat, job, cost)
    if chat is None or job is None or not jobs.runs(job, basis.owner):
        return None
    return (chat, job) if (chat.epoch, chat.strategy) == (basis.epoch, basis.strategy) else None


def commit_fold(session: Session, basis: Basis, fold: Fold, summary: Summary, source_tokens: int) -> bool:
    """Store a snippet and ghost what it covers; False (and only the cost is noted) if the plan no longer holds."""
    ours = still_ours(session, basis, summary.usage)
    leaf = messages.leaf_of(basis.strategy)
    if ours is None or leaf is None:
        return False
    chat, job = ours
    if not messages.unchanged(session, fold.covers, leaf) or _enters_window(session, chat, fold):
        return False
    # Before the snippet, so that chat and job are written once, with it.
    _note_success(chat)
    job.done += 1
    job.total = max(job.total, job.done)
    layer, position = _place(session, basis, fold)
    snippet = _new_snippet(basis, summary, layer, position, "fold", source_tokens)
    snippets.add(session, snippet)
    messages.cover(session, [message.key for message in fold.covers], leaf, snippet.key)
    return True


def commit_merge(session: Session, basis: Basis, merge: Merge, summary: Summary, source_tokens: int) -> bool:
    """Store a merged snippet and absorb its sources; False (and only the cost is noted) if the plan fails by now."""
    ours = still_ours(session, basis, summary.usage)
    if ours is None or not _may_leave(session, ours[0], merge.sources, merge.layer):
        return False
    _note_success(ours[0])
    in_place = _place_of(session, merge) if merge.sources[0].layer == merge.layer else None
    end = snippets.next_position(session, basis.chat_key, basis.strategy, merge.layer)
    snippet = snippets.add(session, _new_snippet(basis, summary, merge.layer, end, "merge", source_tokens))
    snippets.absorb(session, merge.sources, snippet.key)
    if in_place is not None:
        snippet.position = in_place
    return True


def commit_seed(session: Session, basis: Basis, seed: Seed) -> bool:
    """Move a snippet into the layer below; False if the plan no longer holds."""
    ours = still_ours(session, basis, Usage())
    if ours is None or not _may_leave(session, ours[0], (seed.snippet,), seed.layer):
        return False
    snippet = session.get(Snippet, seed.snippet.key)
    if snippet is None:
        return False
    snippet.position = snippets.next_position(session, basis.chat_key, basis.strategy, seed.layer)
    snippet.layer, snippet.kind = seed.layer, "seed"
    return True


def note_usage(chat: Chat | None, job: Job | None, usage: Usage) -> None:
    """Count what a summary cost, used or not, on what of the two still exists."""
    if job is not None and usage != Usage():
        job.usage = jobs.add_usage(job.usage, usage)
    if chat is not None and usage != Usage():
        chat.usage = jobs.add_usage(chat.usage, usage)


def _note_success(chat: Chat) -> None:
    chat.memory_version += 1
    chat.last_error = chat.retry_at = None


def _may_leave(session: Session, chat: Chat, sources: Sequence[CoreSnippet], layer: int) -> bool:
    """Whether snippets may still go to a layer, as one if they are several: nothing overlaps or is enclosed then."""
    state = read_head(session, chat)
    return snippets.unchanged(session, sources) and may_leave(state.memory, state.apart, sources, layer)


def may_leave(live: Sequence[CoreSnippet], apart: Collection[int], sources: Sequence[CoreSnippet], layer: int) -> bool:
    """Whether `sources` are neighbours in reading order and, where they leave their layer, the oldest of it.

    One snippet alone goes to an empty layer, or to any if it has no neighbour to merge with. `apart` are the keys of
    snippets right before which uncovered turns lie (core.promotion).
    """
    keys, wanted = [snippet.key for snippet in live], [source.key for source in sources]
    start, own = keys.index(wanted[0]), sources[0].layer
    end = start + len(wanted)
    if keys[start:end] != wanted or any(source.key in apart for source in sources[1:]):
        return False
    if layer != own and start and live[start - 1].layer <= own:
        return False
    if len(sources) > 1 or all(snippet.layer != layer for snippet in live):
        return True
    return end == len(live) or live[end].layer != own or live[end].key in apart


def _enters_window(session: Session, chat: Chat, fold: Fold) -> bool:
    """Whether by now, through a setting or a deletion, the fold would take one of the newest turns."""
    _, server = chats.surroundings(session, chat.key)
    layered = resolve(server, chat.settings)[0].layered
    wanted = layered.verbatim_turns
    if layered.window == "compat" or fold.late:
        return False
    return counting.count_turns_after(session, chat.key, chat.strategy, fold.last_index, wanted) < wanted


def _place(session: Session, basis: Basis, fold: Fold) -> tuple[int, int]:
    """Layer and position: at the end of layer 0, or for a late fold before the live snippet that follows it."""
    chat_key, strategy = basis.chat_key, basis.strategy
    following = snippets.root_after(session, chat_key, strategy, fold.last_index) if fold.late else None
    if following is None:
        return 0, snippets.next_position(session, chat_key, strategy, 0)
    layer, position = following.layer, following.position
    snippets.make_room(session, chat_key, strategy, layer, position)
    return layer, position


def _place_of(session: Session, merge: Merge) -> int | None:
    first = session.get(Snippet, merge.sources[0].key)
    return first.position if first else None


def _new_snippet(basis: Basis, summary: Summary, layer: int, position: int, kind: str, source_tokens: int) -> Snippet:
    return Snippet(
        chat_key=basis.chat_key,
        id=str(uuid4()),
        strategy=basis.strategy,
        layer=layer,
        position=position,
        kind=kind,
        text=summary.text,
        tokens=summary.tokens,
        source_tokens=source_tokens,
        degraded=summary.degraded,
        connection=summary.connection,
        model=summary.model,
        usage=jobs.write_usage(summary.usage),
        created_at=now_ms(),
    )
