"""Dropping old turns in steps, so that a prompt cache keeps its prefix (rolling-and-buffer.md, Projection)."""

from collections.abc import Sequence

from app.core.errors import BudgetError

MESSAGE_OVERHEAD = 8
"""Tokens a message costs besides its text."""


def resolve_budget(context_size: int | None, max_tokens: int | None) -> int | None:
    """Tokens the prompt may hold: context_size less what the answer needs; None when no window is known.

    Raises BudgetError when the two do not fit together.
    """
    if context_size is None:
        if max_tokens is not None:
            raise BudgetError("max_tokens needs a context_size beside it.")
        return None
    answer = min(1024, context_size // 4) if max_tokens is None else max_tokens
    if not 1 <= answer < context_size:
        raise BudgetError(f"max_tokens must be at least 1 and less than context_size ({context_size}).")
    return context_size - answer


def replay(turns: Sequence[int], currents: Sequence[int], fixed: int, budget: int) -> int:
    """The number of oldest turns that are dropped, found by playing the chat again from the first turn on.

    `turns` are costs in tokens, `currents[k]` the cost of what was current while k turns were past (one more than
    turns), `fixed` what every prompt holds. Over budget, whole oldest turns go until 75 % of it is left over.
    """
    start = history = 0
    for past, current in enumerate(currents):
        if past:
            history += turns[past - 1]
        if fixed + current + history > budget:
            while start < past and 4 * (fixed + current + history) > 3 * budget:
                history -= turns[start]
                start += 1
    return start
