"""Which turns fold next (layered.md, Folding and Backlog)."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.model import Message, Outline, Run, Turn
from app.core.settings import LayeredSettings


@dataclass(frozen=True, slots=True)
class Mode:
    """How far folding goes.

    `drain`: fold while a full batch lies outside the window, without waiting for flush_turns. `partial`: fold what is
    left even if it makes no full batch.
    """

    drain: bool = False
    partial: bool = False


AUTO = Mode()
DRAIN = Mode(drain=True)
FORCE = Mode(drain=True, partial=True)


@dataclass(frozen=True, slots=True)
class Fold:
    """Consecutive turns that become one snippet.

    `clipped`: a single turn over passage_tokens has its middle cut. `late`: turns after these have folded already.
    """

    turns: tuple[Turn, ...]
    clipped: bool = False
    late: bool = False

    @property
    def last_index(self) -> int:
        """The place of the newest message in it."""
        return self.turns[-1].messages[-1].index

    @property
    def covers(self) -> tuple[Message, ...]:
        """The messages that are ghosted once the snippet is committed."""
        return tuple(message for turn in self.turns for message in turn.coverable)

    @property
    def passage(self) -> tuple[Message, ...]:
        """What the model reads: pinned messages are context, blank ones say nothing."""
        return tuple(message for turn in self.turns for message in turn.messages if not message.blank)


@dataclass(frozen=True, slots=True)
class Backlog:
    """Turns over the window, and the full batches in them."""

    turns: int
    batches: int


def plan_fold(view: Outline, settings: LayeredSettings, mode: Mode = AUTO) -> Fold | None:
    """The next fold, or None when nothing is due."""
    chain = _oldest_chain(view, settings)
    size = _batch_size(view, chain, settings, mode)
    return fit_passage(chain.turns[:size], settings.passage_tokens, late=chain.late) if size else None


def count_backlog(view: Outline, settings: LayeredSettings) -> Backlog:
    """How many turns lie over the window, at least where the outline stops early; skipped ones do not count."""
    over = max(0, len(_countable(view)) + view.later - settings.verbatim_turns)
    return Backlog(over, full_batches(over, settings))


def full_batches(turns_over: int, settings: LayeredSettings) -> int:
    """The batches in so many turns over the window; `compat` makes the last one full with turns of the window."""
    whole, rest = divmod(turns_over, settings.turns_per_batch)
    return whole + (1 if rest and settings.window == "compat" else 0)


def is_backlog(turns_over: int, settings: LayeredSettings) -> bool:
    """Whether so many turns over the window are a backlog rather than the next few folds."""
    return turns_over > most_without_backlog(settings)


def most_without_backlog(settings: LayeredSettings) -> int:
    """How many turns over the window are no backlog yet."""
    batch = settings.turns_per_batch
    return max(2 * batch, flush_turns(settings) + batch)


def most_that_matter(settings: LayeredSettings) -> int:
    """More later turns than these change no decision: whether a fold is due, and whether there is a backlog."""
    return settings.verbatim_turns + settings.flush + settings.turns_per_batch + most_without_backlog(settings) + 1


def flush_turns(settings: LayeredSettings) -> int:
    """Turns over the window at which folding starts; `compat` knows no flush."""
    return settings.turns_per_batch if settings.window == "compat" else settings.flush


def turns_over_window(view: Outline, settings: LayeredSettings) -> tuple[Turn, ...]:
    """The turns outside the newest verbatim_turns, oldest first, without skipped ones."""
    return tuple(_over_window(view, settings))


@dataclass(frozen=True, slots=True)
class _Chain:
    """Adjacent turns that may fold together. `grows`: newer turns will join it. `late`: covered turns follow."""

    turns: tuple[Turn, ...]
    grows: bool
    late: bool = False


def _countable(view: Outline) -> list[Turn]:
    turns = (turn for run in view.runs if not run.enclosed for turn in run.turns)
    return [turn for turn in turns if turn.coverable and not turn.skipped]


def _over_window(view: Outline, settings: LayeredSettings) -> list[Turn]:
    """The listed turns over the window; there may be more of them later."""
    turns = _countable(view)
    return turns[: max(0, len(turns) + view.later - settings.verbatim_turns)]


def _candidates(view: Outline, settings: LayeredSettings) -> list[Turn]:
    """`compat` takes its batch from all visible turns, as the original does; `strict` only from outside the window."""
    over = _over_window(view, settings)
    return _countable(view) if over and settings.window == "compat" else over


def _oldest_chain(view: Outline, settings: LayeredSettings) -> _Chain:
    """The oldest adjacent candidates: a snippet's range holds no turn that it does not cover."""
    wanted = {id(turn) for turn in _candidates(view, settings)}
    for run in view.runs:
        chain = _first_chain(run, wanted)
        if chain.turns:
            return chain
    return _Chain((), grows=False)


def _first_chain(run: Run, wanted: set[int]) -> _Chain:
    turns = [turn for turn in run.turns if turn.coverable]
    taken: list[Turn] = []
    for turn in turns:
        if id(turn) in wanted:
            taken.append(turn)
        elif taken:
            return _Chain(tuple(taken), grows=not turn.skipped, late=run.followed)
    return _Chain(tuple(taken), grows=not run.followed, late=run.followed)


def _batch_size(view: Outline, chain: _Chain, settings: LayeredSettings, mode: Mode) -> int:
    """How many turns of the oldest chain fold now; 0 for none."""
    full = min(settings.turns_per_batch, len(chain.turns))
    if view.later and chain.grows and full < settings.turns_per_batch:
        return 0
    if not chain.turns or settings.window == "compat":
        return full
    over = _over_window(view, settings)
    due = settings.turns_per_batch if mode.drain else settings.flush
    left_between = mode.drain and chain.late  # turns that no newer ones will ever join
    if len(over) + view.later >= due or mode.partial or left_between:
        whole = full == settings.turns_per_batch or not chain.grows or mode.partial
        return full if whole else 0
    return min(full, _over_verbatim_tokens(over, settings.verbatim_tokens))


def _over_verbatim_tokens(over: Sequence[Turn], limit: int) -> int:
    """How many of the oldest turns must go until the rest outside the window holds no more than `limit` tokens."""
    rest = sum(turn.tokens for turn in over)
    count = 0
    while limit and rest > limit:
        rest -= over[count].tokens
        count += 1
    return count


def fit_passage(turns: tuple[Turn, ...], limit: int, *, late: bool = False) -> Fold:
    """As many of these turns, at least one, as a passage of `limit` tokens holds."""
    size, tokens = 1, turns[0].tokens
    while size < len(turns) and tokens + turns[size].tokens <= limit:
        tokens += turns[size].tokens
        size += 1
    return Fold(turns[:size], clipped=tokens > limit, late=late)
