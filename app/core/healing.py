"""Which snippet is made anew next (layered.md, Edits, swipes, deletions, branches)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from app.core.model import Message, Snippet

ATTEMPTS = 3
"""Making a snippet anew that failed so often waits for the next change under it, or for a request."""


def is_hopeless(failures: int) -> bool:
    """Whether to wait after so many failures."""
    return failures >= ATTEMPTS


@dataclass(frozen=True, slots=True)
class Worn:
    """A snippet that is stale, or that a person asked to have made anew.

    `parent` is the key of what absorbed it, `first_index` where the messages under it begin. `edited`: its text is a
    person's, and is not replaced unasked.
    """

    key: int
    parent: int | None
    first_index: int
    stale: bool = True
    asked: bool = False
    edited: bool = False
    failures: int = 0

    @property
    def hopeless(self) -> bool:
        """Whether it has failed so often that it waits."""
        return is_hopeless(self.failures)

    @property
    def heals(self) -> bool:
        """Whether it is made anew unasked, sooner or later."""
        return self.stale and not self.edited


@dataclass(frozen=True, slots=True)
class Remake:
    """A snippet that is made anew: a leaf from the messages under it, a merged one from its parts, oldest first.

    `passage` is what the model reads for a leaf, pinned messages included; `covers` what is under it afterwards.
    """

    snippet: Snippet
    passage: tuple[Message, ...] = ()
    covers: tuple[Message, ...] = ()
    parts: tuple[Snippet, ...] = ()
    clipped: bool = False


def next_remake(worn: Sequence[Worn], *, unasked: bool, asked: bool = True) -> Worn | None:
    """The next one, from the leaf upward, oldest first.

    `asked`: those that a person asked for; `unasked`: those that are only stale. A merged snippet waits for its parts,
    even for those that wait themselves: made from their old texts it would be no better. What a person asked for waits
    only for parts that can be made.
    """
    unsound = {one.parent for one in worn if one.heals}
    able = {
        one.key
        for one in worn
        if _wanted(one, unasked=unasked, asked=asked) and ((asked and one.asked) or one.key not in unsound)
    }
    sooner = _above(able, {one.key: one.parent for one in worn})
    ready = [one for one in worn if one.key in able - sooner]
    return min(ready, key=lambda one: (one.first_index, one.key), default=None)


def _above(keys: Collection[int], parents: Mapping[int, int | None]) -> set[int]:
    """Whatever absorbed these, through whatever layers."""
    found: set[int] = set()
    for key in keys:
        parent = parents.get(key)
        while parent is not None and parent not in found:
            found.add(parent)
            parent = parents.get(parent)
    return found


def _wanted(one: Worn, *, unasked: bool, asked: bool) -> bool:
    return not one.hopeless and ((asked and one.asked) or (unasked and one.heals))
