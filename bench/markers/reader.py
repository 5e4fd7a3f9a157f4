"""A model that is honest and simple: it knows what its prompt says, writes what is new, and notes what it left out."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bench.markers.story import facts_in

NOTHING_NEW = "nothing new"
_PRIOR = re.compile(r"<prior_context>\n(.*?)\n</prior_context>", re.DOTALL)
_GIVEN = re.compile(r"<(passage|memory_lines)>\n(.*?)\n</\1>", re.DOTALL)
_LIMIT = re.compile(r"at most (\d+) tokens")


@dataclass(frozen=True, slots=True)
class Reading:
    """One answer. `given` are the facts of its passage or of the lines it merged; of these, `known` are left out
    because the prior context says them, and `dropped` because they did not fit.
    """

    merges: bool
    given: frozenset[int]
    known: frozenset[int]
    dropped: frozenset[int]
    text: str


class Reader:
    """Answers the prompts that come with the program, and keeps a log of it.

    What is too much is dropped by a fixed rule that knows nothing of age: every second fact matters more than its
    neighbours, every fourth more again, and so on; what matters least goes first, and of equals the one told later.
    """

    def __init__(self, count: Callable[[str], int]) -> None:
        """`count` gives the tokens of a text."""
        self.log: list[Reading] = []
        self._count = count

    def answer(self, prompt: str) -> str:
        """One line for a passage, or for lines of memory. From one thread at a time."""
        prior, given, limit = _PRIOR.search(prompt), _GIVEN.search(prompt), _LIMIT.search(prompt)
        if prior is None or given is None or limit is None:
            raise ValueError("this is no prompt of ours")
        held, facts = facts_in(prior[1]), facts_in(given[2])
        fresh = {number: text for number, text in facts.items() if number not in held}
        kept = self._fitting(fresh, int(limit[1]))
        text = _line(fresh[number] for number in fresh if number in kept)
        self.log.append(
            Reading(
                merges=given[1] == "memory_lines",
                given=frozenset(facts),
                known=frozenset(facts) - frozenset(fresh),
                dropped=frozenset(fresh) - kept,
                text=text,
            )
        )
        return text

    def _fitting(self, fresh: dict[int, str], limit: int) -> frozenset[int]:
        kept: frozenset[int] = frozenset()
        # A number's highest power of two is how much it matters.
        for number in sorted(fresh, key=lambda number: -(number & -number)):
            wider = kept | {number}
            if self._count(_line(fresh[number] for number in fresh if number in wider)) <= limit:
                kept = wider
        return kept


def _line(facts: Iterable[str]) -> str:
    return "; ".join(facts) or NOTHING_NEW
