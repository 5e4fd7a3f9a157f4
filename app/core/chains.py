"""What must hold of memory that is one summary, written anew with every fold: one is live at most, and it and its
predecessors cover the oldest messages, each those that follow the ones before it, without a gap.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from app.core.facts import FallBack, Finding, StoredMessage, StoredSnippet, Uncover, count, listed
from app.core.invariants import remakes
from app.core.lineage import check_parents, roots_of
from app.core.model import Role


def examine_chain(
    messages: Iterable[StoredMessage], snippets: Sequence[StoredSnippet], strategy: str, *, present: bool = True
) -> list[Finding]:
    """What is wrong with the summaries of a strategy that keeps one; nothing if all is well.

    The messages' `leaf` is this strategy's. What is wrong with the messages themselves, app.core.invariants tells.
    """
    mended, parents = check_parents(snippets)
    roots = roots_of(mended)
    chat = sorted(messages, key=lambda message: (message.position, message.key))
    dead = [one for one in chat if one.leaf is not None and roots.get(one.leaf) is None]
    chain = _Chain({one.key: one for one in mended if roots[one.key] is not None}, _own(chat))
    kept = chain.kept(_sound(chat, chain))
    return [
        *parents,
        *_stranded(dead, strategy),
        *_broken(chain, kept, strategy),
        *(remakes([one for one in mended if one.key in kept and one.state == "live"]) if present else ()),
    ]


@dataclass(frozen=True)
class _Chain:
    """The summaries that are live or went into a live one, and how many messages each covers itself."""

    standing: Mapping[int, StoredSnippet]
    own: Mapping[int, int]

    def above(self, key: int) -> list[int]:
        """What a summary went into, nearest first."""
        found: list[int] = []
        parent = self.standing[key].parent
        while parent is not None and parent in self.standing:
            found.append(parent)
            parent = self.standing[parent].parent
        return found

    def below(self, key: int) -> list[int]:
        """What went into a summary one by one, nearest first."""
        found: list[int] = []
        parts = self._parts(key)
        while len(parts) == 1:
            found += parts
            parts = self._parts(parts[0])
        return found

    def kept(self, sound: Sequence[int]) -> list[int]:
        """The summaries that may stay, the newest first, if these cover what they must; those with nothing of their own
        (all of it is pinned by now) stay among them.
        """
        if not sound:
            return []
        way = [sound[0], *self.above(sound[0])]
        end = way.index(sound[-1]) + 1
        end += len(list(takewhile(lambda key: not self.own.get(key), way[end:])))
        return [*reversed(way[:end]), *self.below(sound[0])]

    def _parts(self, key: int) -> list[int]:
        return [one.key for one in self.standing.values() if one.parent == key]


def _own(chat: Iterable[StoredMessage]) -> Counter[int]:
    return Counter(one.leaf for one in chat if one.leaf is not None and not one.empty)


def _sound(chat: Sequence[StoredMessage], chain: _Chain) -> list[int]:
    """The summaries that cover the oldest messages one after another, each going on from the one before."""
    spoken = (place for place, one in enumerate(chat) if one.role in (Role.USER, Role.ASSISTANT))
    begin = next(spoken, len(chat))
    amiss = {one.leaf for place, one in enumerate(chat) if one.hidden or one.omitted or place < begin}
    telling = [one for one in chat[begin:] if not (one.hidden or one.omitted or one.pinned or one.empty)]
    covered = takewhile(lambda one: one.leaf in chain.standing and one.leaf not in amiss, telling)
    found: list[int] = []
    for key, run in groupby(covered, key=lambda one: one.leaf):
        if key is None or (found and key not in chain.above(found[-1])) or sum(1 for _ in run) != chain.own[key]:
            break
        found.append(key)
    return found


def _stranded(dead: Sequence[StoredMessage], strategy: str) -> list[Finding]:
    if not dead:
        return []
    detail = (
        f"{count(len(dead), 'message')} under a summary of {strategy} that is not in the prompt"
        f" (index {listed(one.position for one in dead)}), so that neither is sent. They become visible."
    )
    return [Finding("leaf_dead", detail, Uncover(tuple(one.key for one in dead), (), strategy))]


def _broken(chain: _Chain, kept: Sequence[int], strategy: str) -> list[Finding]:
    gone = [one for one in chain.standing.values() if one.key not in kept]
    if not gone and _stands(chain, kept):
        return []
    detail = (
        f"The summaries of {strategy} do not follow each other without a gap from the chat's beginning"
        f" ({_named(gone)}). The newest one that does stands again; what it does not cover is visible again and folds"
        " anew."
    )
    fix = FallBack(strategy, tuple(one.key for one in gone), kept[0] if kept else None)
    return [Finding("summary_broken", detail, fix)]


def _stands(chain: _Chain, kept: Sequence[int]) -> bool:
    """Whether the newest that may stay is the live one, in the one place there is."""
    newest = chain.standing[kept[0]] if kept else None
    return newest is None or (newest.state, newest.layer, newest.position) == ("live", 0, 0)


def _named(gone: Collection[StoredSnippet]) -> str:
    return f"{listed(one.id for one in gone)} cannot stay" if gone else "the live one stands in another place"
