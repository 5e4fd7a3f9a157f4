"""Where a view's window begins: it is kept between requests and only moves on (rolling-and-buffer.md, Projection)."""

from collections.abc import Sequence


def advance(turns: Sequence[int], current: int, fixed: int, budget: int, start: int) -> int:
    """The index of the first turn that is sent; the caller keeps it for the next prompt of the same view.

    `turns` are the costs in tokens of the visible closed turns from the first uncovered one on, `current` what the
    current turn costs, `fixed` what every prompt holds, `start` where the window began. Over budget, whole oldest turns
    go until 75 % of it is left over; at exactly the budget none does. It never moves back: between folds, turns only
    join at the end. With len(turns) there is no history.
    """
    start = min(max(start, 0), len(turns))
    total = fixed + current + sum(turns[start:])
    if total <= budget:
        return start
    while start < len(turns) and 4 * total > 3 * budget:
        total -= turns[start]
        start += 1
    return start
