"""Which stored message is which message of a frontend's whole history (http-api.md, Sync)."""

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from app.core.subsequences import CommonSubsequence, common_ends, rising


@dataclass(frozen=True, slots=True)
class Said:
    """A message as far as it can be recognized.

    A stored one has an `id`; ids are unique on each side. `text` is whatever makes two contents comparable, tool calls
    included.
    """

    id: str | None
    role: str
    name: str | None
    text: Hashable


@dataclass(frozen=True, slots=True)
class Alignment:
    """`pairs` are places (stored, given) of the same message, ascending on both sides; `deleted` are the stored places
    without a given one, `inserted` the given places without a stored one, both ascending.

    Whether the message of a pair was edited shows in its contents.
    """

    pairs: tuple[tuple[int, int], ...]
    deleted: tuple[int, ...]
    inserted: tuple[int, ...]

    @property
    def appends(self) -> bool:
        """Whether nothing goes, and what comes in stands behind all that stays."""
        last = self.pairs[-1][1] if self.pairs else -1
        return not self.deleted and (not self.inserted or self.inserted[0] > last)


def align(stored: Sequence[Said], given: Sequence[Said], common: CommonSubsequence) -> Alignment:
    """Find out which stored message is which given one.

    Messages with an id that both sides know are the same, whatever they say. As many of them as possible stay; one
    that moved past these is a deletion and an insertion, and nothing else is taken for it. Every rule after that
    works between two messages that are matched already: the same role, name and content; the same role and content
    where the frontend sends no name; and, as edits, the same role.
    """
    known = _known(stored, given)
    pairs = [known[place] for place in rising([old for old, _ in known])]
    old = _without(range(len(stored)), {place for place, _ in known})
    new = _without(range(len(given)), {place for _, place in known})
    for rule in _rules(given):
        found = list(_found(_Side(stored, old), _Side(given, new), pairs, rule, common))
        pairs = sorted(chain(pairs, found))
        old = _without(old, {place for place, _ in found})
        new = _without(new, {place for _, place in found})
    return Alignment(
        tuple(pairs),
        tuple(_without(range(len(stored)), {place for place, _ in pairs})),
        tuple(_without(range(len(given)), {place for _, place in pairs})),
    )


_Key = Callable[[Said], Hashable]
"""What must be equal in two messages; None: this message takes no part."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """What makes a stored and a given message one; `earliest`: of equals, the first of both sides belong together."""

    old: _Key
    new: _Key
    earliest: bool = False


@dataclass(frozen=True, slots=True)
class _Side:
    """All messages of a side, and the places of those that nothing is matched with yet."""

    messages: Sequence[Said]
    free: Sequence[int]

    def keyed(self, key: _Key) -> tuple[list[int], list[Hashable]]:
        """The places of the free messages that take part, and their keys."""
        keys = [(place, key(self.messages[place])) for place in self.free]
        return [place for place, found in keys if found is not None], [found for _, found in keys if found is not None]


def _rules(given: Sequence[Said]) -> Iterator[_Rule]:
    """A frontend that never sends a name leaves all of them unknown: telling the nameless apart would only mislead."""
    if any(message.name is not None for message in given):
        yield _Rule(_speech, _speech)
    yield _Rule(_words, _words_if_nameless)
    yield _Rule(_role, _role, earliest=True)


def _speech(message: Said) -> Hashable:
    return message.role, message.name, message.text


def _words(message: Said) -> Hashable:
    return message.role, message.text


def _words_if_nameless(message: Said) -> Hashable:
    return _words(message) if message.name is None else None


def _role(message: Said) -> Hashable:
    return message.role


def _known(stored: Sequence[Said], given: Sequence[Said]) -> list[tuple[int, int]]:
    """Places of messages with the same id, in the order of the given ones."""
    places = {message.id: place for place, message in enumerate(stored) if message.id is not None}
    return [(places[message.id], place) for place, message in enumerate(given) if message.id in places]


def _without(places: Iterable[int], taken: Collection[int]) -> list[int]:
    return [place for place in places if place not in taken]


def _found(
    old: _Side, new: _Side, pairs: Sequence[tuple[int, int]], rule: _Rule, common: CommonSubsequence
) -> Iterator[tuple[int, int]]:
    """What a rule matches between neighbouring pairs."""
    old_places, old_keys = old.keyed(rule.old)
    new_places, new_keys = new.keyed(rule.new)
    for left, right in _gaps(old_places, new_places, pairs):
        for i, j in _same(old_keys[left], new_keys[right], rule, common):
            yield old_places[left.start + i], new_places[right.start + j]


def _gaps(old: Sequence[int], new: Sequence[int], pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[slice, slice]]:
    """What of both sides' places lies before, between and after pairs, where that is something on both sides."""
    if not (old and new):
        return
    left = right = 0
    for old_end, new_end in chain(pairs, [(old[-1] + 1, new[-1] + 1)]):
        left_end, right_end = bisect_left(old, old_end, left), bisect_left(new, new_end, right)
        if left < left_end and right < right_end:
            yield slice(left, left_end), slice(right, right_end)
        left, right = left_end, right_end


def _same(
    old: Sequence[Hashable], new: Sequence[Hashable], rule: _Rule, common: CommonSubsequence
) -> Iterable[tuple[int, int]]:
    pairs = _common(old, new, common)
    if not rule.earliest:
        return pairs
    wanted = [old[i] for i, _ in pairs]
    return zip(_first_places(old, wanted), _first_places(new, wanted), strict=True)


def _common(old: Sequence[Hashable], new: Sequence[Hashable], common: CommonSubsequence) -> Iterator[tuple[int, int]]:
    """Places of a longest common subsequence. Only what differs at both ends and occurs on both sides is searched."""
    head, tail = common_ends(old, new)
    yield from zip(range(head), range(head), strict=True)
    left, right = range(head, len(old) - tail), range(head, len(new) - tail)
    shared = {old[i] for i in left} & {new[j] for j in right}
    if shared:
        numbers = {key: number for number, key in enumerate(shared)}
        left_kept, right_kept = [i for i in left if old[i] in numbers], [j for j in right if new[j] in numbers]
        for i, j in common([numbers[old[i]] for i in left_kept], [numbers[new[j]] for j in right_kept]):
            yield left_kept[i], right_kept[j]
    yield from zip(range(left.stop, len(old)), range(right.stop, len(new)), strict=True)


def _first_places(keys: Sequence[Hashable], wanted: Iterable[Hashable]) -> list[int]:
    """Where a subsequence stands, each of its items as early as possible."""
    places = iter(range(len(keys)))
    return [next(place for place in places if keys[place] == key) for key in wanted]
