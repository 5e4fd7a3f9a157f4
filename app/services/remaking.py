"""Making snippets anew: those whose messages changed, and those a person asked for (layered.md, Edits …)."""

from collections.abc import Sequence

from sqlmodel import Session

from app.core.healing import Remake, Worn, is_hopeless, next_remake
from app.core.model import Message as CoreMessage
from app.core.model import Strategy
from app.core.summary import Summary
from app.services.basis import Basis, note_success, still_ours
from app.services.noting import note_memory, note_progress
from app.services.reading import ChatState
from app.store import jobs, leaves, messages, snippets, trees, versions
from app.store.snippets import LiveSnippet
from app.store.tables import Snippet


def plan_remake(session: Session, state: ChatState, *, unasked: bool, asked: bool = True) -> Remake | None:
    """The next snippet to make anew, with what it is made from; None if none is due."""
    worn = read_worn(session, state)
    found = next_remake(worn, unasked=unasked, asked=asked) if worn else None
    snippet = session.get(Snippet, found.key) if found else None
    return read_remake(session, snippet, state.settings.layered.passage_tokens) if snippet else None


def is_remake_due(session: Session, state: ChatState, *, unasked: bool = True, asked: bool = False) -> bool:
    """Whether a snippet is to be made anew: one that is only stale, or one that a person asked for."""
    return next_remake(read_worn(session, state), unasked=unasked, asked=asked) is not None


def read_worn(session: Session, state: ChatState) -> list[Worn]:
    """The snippets of the present strategy that are stale or asked for, live or absorbed."""
    found = trees.worn(session, state.chat.key, state.chat.strategy)
    if found and Strategy(state.chat.strategy).rewrites:
        unsent = _below_own(session, state)
        found = [one for one in found if one.asked or one.key not in unsent]
    covers = snippets.covers(session, state.chat.key, [one.key for one in found]) if found else {}
    return [
        Worn(
            key=one.key,
            parent=one.parent_key,
            first_index=covers[one.key].first_index,
            stale=one.stale,
            asked=one.asked,
            edited=one.edited,
            failures=one.failures,
        )
        for one in found
        if one.key in covers
    ]


def _below_own(session: Session, state: ChatState) -> set[int]:
    """The summaries before a person's text in the chain: what is sent does not go on from them, so that no call is
    spent on them until it does.
    """
    chain = trees.chain(session, state.chat.key, state.chat.strategy)
    own = next((place for place, one in enumerate(chain) if one.edited), len(chain))
    return {one.key for one in chain[own + 1 :]}


def read_remake(session: Session, snippet: Snippet, passage_tokens: int) -> Remake:
    """What a snippet is to be made from now: its parts, or the messages under it and those that joined them."""
    core = snippets.as_core(snippet)
    below = [] if Strategy(snippet.strategy).rewrites else trees.parts(session, snippet.key)
    if below:
        return Remake(core, parts=tuple(snippets.as_core(part) for part in below))
    found = _under(session, snippet)
    passage = tuple(message for message in found if not message.blank)
    covers = tuple(message for message in found if not message.pinned)
    return Remake(core, passage, covers, clipped=sum(message.tokens for message in passage) > passage_tokens)


def _under(session: Session, leaf: Snippet) -> Sequence[CoreMessage]:
    """The visible messages from a leaf's first to the next one that another leaf covers, if one snippet holds both;
    and the beginning of its first turn, if that came back without a leaf before it.
    """
    covered = snippets.covers(session, leaf.chat_key, [leaf.key]).get(leaf.key)
    column = messages.leaf_of(leaf.strategy)
    if covered is None or column is None:
        return ()
    if Strategy(leaf.strategy).rewrites:
        before = [part.key for part in trees.parts(session, leaf.key)]
        told = snippets.covers(session, leaf.chat_key, before).get(before[-1]) if before else None
        first = told.last_index + 1 if told else trees.end_of_head(session, leaf.chat_key)
        return messages.under(session, leaf.chat_key, column, leaf.key, first, covered.last_index)
    begin = trees.start_of_turn(session, leaf.chat_key, leaf.strategy, covered.first_index)
    end = covered.last_index
    following = leaves.leaf_after(session, leaf.chat_key, leaf.strategy, end)
    if following is not None and snippets.root_of(session, following) is snippets.root_of(session, leaf.key):
        next_one = snippets.covers(session, leaf.chat_key, [following])[following]
        end = next_one.first_index - 1
    return messages.under(session, leaf.chat_key, column, leaf.key, begin, end)


def preceding(session: Session, state: ChatState, key: int) -> list[LiveSnippet]:
    """What comes before a snippet in the story: the live snippets before the one it is under, then what that absorbed
    before it. Re-making a snippet sees only what precedes it.
    """
    older: list[LiveSnippet] = []
    snippet = session.get(Snippet, key)
    while snippet is not None and snippet.parent_key is not None:
        siblings = trees.parts(session, snippet.parent_key)
        before = siblings[: [sibling.key for sibling in siblings].index(snippet.key)]
        older = [snippets.as_live(sibling) for sibling in before] + older
        snippet = session.get(Snippet, snippet.parent_key)
    keys = [live.core.key for live in state.live]
    place = keys.index(snippet.key) if snippet is not None and snippet.key in keys else 0
    return state.live[:place] + older


def commit_remake(session: Session, basis: Basis, remake: Remake, summary: Summary, source_tokens: int) -> bool:
    """Put the new text in place of the old one, which is kept; False (and only the cost is noted) if what the snippet
    is made from, or the snippet itself, has changed meanwhile.
    """
    ours = still_ours(session, basis, summary.usage)
    snippet = session.get(Snippet, remake.snippet.key)
    if ours is None or snippet is None or not _holds(session, snippet, remake):
        return False
    chat, job = ours
    note_success(chat, changed=snippet.state == "live" and snippet.text != summary.text)
    job.done += 1
    job.total = max(job.total, job.done)
    why = "regenerate" if snippet.asked else "heal"
    version = versions.keep(session, snippet, why)
    if snippet.asked:
        versions.note_step(session, chat.key, why, snippet.key, version)
    _renew(session, snippet, summary, source_tokens)
    column = messages.leaf_of(snippet.strategy)
    if column is not None and remake.covers:
        messages.cover(session, [message.key for message in remake.covers], column, snippet.key)
    if snippet.parent_key is not None:
        trees.mark_stale(session, [snippet.parent_key])
    note_memory(session, chat, why, job)
    note_progress(session, job)
    return True


def note_failure(session: Session, remake: Remake) -> None:
    """Count a failed attempt; what was asked for is given up after three."""
    snippet = session.get(Snippet, remake.snippet.key)
    if snippet is not None:
        snippet.failures += 1
        snippet.asked = snippet.asked and not is_hopeless(snippet.failures)


def _holds(session: Session, snippet: Snippet, remake: Remake) -> bool:
    if snippet.state not in ("live", "absorbed") or snippet.revision != remake.snippet.revision:
        return False
    now = read_remake(session, snippet, 0)
    return _traits(now) == _traits(remake)


def _traits(remake: Remake) -> tuple[object, ...]:
    """What must be the same: messages may have moved to other places meanwhile, and parts to other layers."""
    return (
        tuple((message.key, message.revision, message.pinned) for message in (*remake.passage, *remake.covers)),
        tuple((part.key, part.revision) for part in remake.parts),
    )


def _renew(session: Session, snippet: Snippet, summary: Summary, source_tokens: int) -> None:
    snippet.text, snippet.tokens = summary.text, summary.tokens
    snippet.source_tokens = source_tokens
    snippet.connection, snippet.model = summary.connection, summary.model
    snippet.usage = jobs.add_usage(snippet.usage or {}, summary.usage)
    snippet.degraded = summary.degraded
    snippet.revision += 1
    snippet.edited = snippet.asked = False
    snippet.failures = 0
    # Made from a part that is itself out of date it is so too, unless that part's text is a person's and stays.
    snippet.stale = any(part.stale and not part.edited for part in trees.parts(session, snippet.key))
    snippet.edited_at = None
    session.flush()
