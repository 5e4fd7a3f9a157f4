"""What a change of a message does to the memory over it (layered.md, Edits, swipes, deletions, branches)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Marks:
    """What keeps a message out of memory."""

    hidden: bool = False
    pinned: bool = False
    omitted: bool = False
    blank: bool = False

    @property
    def plain(self) -> bool:
        """Whether a snippet may cover it."""
        return not (self.hidden or self.pinned or self.omitted)

    @property
    def speaks(self) -> bool:
        """Whether memory should tell of it."""
        return self.plain and not self.blank


@dataclass(frozen=True, slots=True)
class Effect:
    """`leaves`: no snippet covers it any more. `stales`: the snippet that covered it is out of date. `arrives`: it may
    come to lie inside a snippet's range.
    """

    leaves: bool = False
    stales: bool = False
    arrives: bool = False


def effect_of_change(before: Marks, after: Marks, *, covered: bool, rewritten: bool) -> Effect:
    """Of an edit that leaves the message in its place; `rewritten`: what it says, or who says it, is different.

    Hiding a covered message takes it out as a deletion does. Pinning takes it out and leaves the snippet fresh: what
    it says is still true. What was hidden, pinned or blank and is no more comes in as an insertion does, and so does an
    uncovered message that says something else: it may have joined a leaf.
    """
    if covered:
        out = not after.plain
        return Effect(leaves=out, stales=rewritten or after.hidden or after.omitted)
    return Effect(arrives=after.speaks and (rewritten or not before.speaks))


def effect_of_removal(*, covered: bool) -> Effect:
    """Of a deletion."""
    return Effect(leaves=covered, stales=covered)
