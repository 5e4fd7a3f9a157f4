"""Writing memory down, if what it was planned on still holds (DESIGN, decision 4)."""

from collections.abc import Collection, Sequence
from uuid import uuid4

from sqlmodel import Session

from app.core.folding import Fold
from app.core.model import Snippet as CoreSnippet
from app.core.model import Strategy, Usage
from app.core.promotion import Merge, Seed
from app.core.resolving import resolve
from app.core.rewrite import Rewrite
from app.core.summary import Summary
from app.services.basis import Basis, note_success, still_ours
from app.services.noting import note_fold, note_progress, note_promotion, note_rewrite
from app.services.reading import read_head
from app.services.settling import note_joiners
from app.store import chats, counting, jobs, leaves, messages, placing, snippets, trees
from app.store.clock import now_ms
from app.store.messages import Leaf
from app.store.tables import Chat, Snippet


def commit_fold(session: Session, basis: Basis, fold: Fold, summary: Summary, source_tokens: int) -> bool:
    """Store a snippet and ghost what it covers; False (and only the cost is noted) if the plan no longer holds."""
    ours = still_ours(session, basis, summary.usage)
    leaf = messages.leaf_of(basis.strategy)
    if ours is None or leaf is None:
        return False
    chat, job = ours
    keys = [message.key for message in fold.covers]
    place = messages.span(session, keys)  # whatever was inserted or deleted before it has moved it
    if place is None or not messages.unchanged(session, fold.covers, leaf) or _is_barred(session, chat, leaf, *place):
        return False
    # Before the snippet, so that chat and job are written once, with it.
    note_success(chat)
    job.done += 1
    job.total = max(job.total, job.done)
    layer, position = placing.place_for(session, chat.key, basis.strategy, *place)
    snippet = snippets.add(session, _new_snippet(basis, summary, layer, position, "fold", source_tokens))
    messages.cover(session, keys, leaf, snippet.key)
    note_joiners(session, chat.key, basis.strategy, *place)
    note_fold(session, chat, job, fold, snippet)
    note_progress(session, job)
    return True


def commit_merge(session: Session, basis: Basis, merge: Merge, summary: Summary, source_tokens: int) -> bool:
    """Store a merged snippet and absorb its sources; False (and only the cost is noted) if the plan fails by now."""
    ours = still_ours(session, basis, summary.usage)
    if ours is None or not _may_leave(session, ours[0], merge.sources, merge.layer):
        return False
    chat, job = ours
    note_success(chat)
    in_place = _place_of(session, merge) if merge.sources[0].layer == merge.layer else None
    end = snippets.next_position(session, basis.chat_key, basis.strategy, merge.layer)
    snippet = snippets.add(session, _new_snippet(basis, summary, merge.layer, end, "merge", source_tokens))
    snippets.absorb(session, merge.sources, snippet.key)
    if in_place is not None:
        snippet.position = in_place
    snippet.stale = snippets.any_stale(session, merge.sources)
    session.flush()
    under = snippets.covers(session, basis.chat_key, [snippet.key]).get(snippet.key)
    if under is not None:
        note_joiners(session, basis.chat_key, basis.strategy, under.first_index, under.last_index)
    note_promotion(session, chat, job, merge.sources, snippet)
    return True


def commit_rewrite(session: Session, basis: Basis, plan: Rewrite, summary: Summary, source_tokens: int) -> bool:
    """Put a new summary in the place of the one before, which stays to be read; False (and only the cost is noted) if
    the plan no longer holds.
    """
    ours = still_ours(session, basis, summary.usage)
    leaf = messages.leaf_of(basis.strategy)
    if ours is None or leaf is None or not _follows(session, basis, plan, leaf):
        return False
    chat, job = ours
    note_success(chat)
    job.done += 1
    job.total = max(job.total, job.done)
    place = snippets.next_position(session, chat.key, basis.strategy, 0)
    kind = "rolling" if basis.strategy == Strategy.ROLLING else "buffer"
    snippet = snippets.add(session, _new_snippet(basis, summary, 0, place, kind, source_tokens))
    if plan.previous is not None:
        snippets.absorb(session, [plan.previous], snippet.key)
        snippet.stale = snippets.any_stale(session, [plan.previous])
    snippet.position = 0
    messages.cover(session, [message.key for message in plan.covers], leaf, snippet.key)
    note_rewrite(session, chat, job, plan, snippet)
    note_progress(session, job)
    return True


def _follows(session: Session, basis: Basis, plan: Rewrite, leaf: Leaf) -> bool:
    """Whether a plan takes up exactly where the summary ends that is live now, and leaves no gap."""
    live = [snippet.core for snippet in snippets.live(session, basis.chat_key, basis.strategy)]
    if live != ([plan.previous] if plan.previous else []) or not messages.unchanged(session, plan.covers, leaf):
        return False
    if trees.is_asked(session, [snippet.key for snippet in live]):
        return False  # a person wants that one made anew: what follows from its old text must not bury it
    place = messages.span(session, [message.key for message in plan.covers])
    if place is None:
        return False
    head = trees.end_of_head(session, basis.chat_key)
    waiting = trees.joiners(session, basis.chat_key, leaf, head, place[1])
    return len(waiting) == sum(not message.blank for message in plan.covers)


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
    note_promotion(session, *ours, (seed.snippet,), snippet)
    return True


def _may_leave(session: Session, chat: Chat, sources: Sequence[CoreSnippet], layer: int) -> bool:
    """Whether snippets may still go to a layer, as one if they are several: nothing overlaps or is enclosed then."""
    state = read_head(session, chat, rough=True)
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


def _is_barred(session: Session, chat: Chat, leaf: Leaf, first: int, last: int) -> bool:
    """Whether by now other snippets cover something between, or the fold would take one of the newest turns."""
    if leaves.any_covered(session, chat.key, leaf, first, last):
        return True
    _, server = chats.surroundings(session, chat.key)
    layered = resolve(server, chat.settings)[0].layered
    wanted = layered.verbatim_turns
    return layered.window != "compat" and counting.count_turns_after(session, chat.key, last, wanted) < wanted


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
