"""Estimates against promotion itself, played out with the lines that are guessed."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.batches import Batch
from app.core.estimate import Estimate, Terms, Written, estimate, factor
from app.core.model import Snippet
from app.core.promotion import Merge, Seed, plan_promotion
from app.core.settings import LayeredSettings

TERMS = Terms(fold_prompt=300, merge_prompt=320, speaker=4)
BATCH = Batch(turns=3, tokens=200, lines=6)
LIMITS = st.builds(
    LayeredSettings,
    snippets_per_layer=st.integers(3, 8),
    snippets_per_promotion=st.just(2) | st.just(3),
    max_layers=st.integers(1, 4),
    deepest_layer=st.sampled_from(["merge", "keep"]),
    memory_tokens=st.sampled_from([0, 300, 900]),
).filter(lambda settings: settings.snippets_per_promotion < settings.snippets_per_layer)


@dataclass
class Played:
    """Snippets that are promoted as `plan_promotion` says; `line` is the length of every line."""

    settings: LayeredSettings
    line: int
    live: list[Snippet] = field(default_factory=list)
    folds: int = 0
    merges: int = 0
    sent: int = 0

    def fold(self) -> None:
        self.sent += 300 + 200 + 6 * 4 + sum(snippet.tokens for snippet in self.live)
        self.folds += 1
        self.live.append(Snippet(self.folds, 0, self.line))
        shrinks = True
        while plan := plan_promotion(self.live, self.settings, shrink=shrinks):
            shrinks = self._promote(plan, shrinks=shrinks)

    def _promote(self, plan: Merge | Seed, *, shrinks: bool) -> bool:
        sources = (plan.snippet,) if isinstance(plan, Seed) else plan.sources
        place = self.live.index(sources[0])
        before = [s.tokens for s in self.live[:place] if s.layer >= plan.layer]
        self.live = [snippet for snippet in self.live if snippet not in sources]
        if plan.layer != sources[0].layer:
            place = sum(snippet.layer >= plan.layer for snippet in self.live)
        if isinstance(plan, Seed):
            self.live.insert(place, replace(plan.snippet, layer=plan.layer))
            return shrinks
        told = sum(source.tokens for source in sources)
        line = max(1, round(min(self.settings.snippet_tokens * 0.9, told * 0.47)))
        self.live.insert(place, Snippet(sources[0].key, plan.layer, line))
        self.merges += 1
        self.sent += 320 + told + sum(before)
        return shrinks and (not plan.for_tokens or line < told)


@given(LIMITS, st.integers(0, 60))
def test_what_is_foreseen_is_what_happens(settings: LayeredSettings, folds: int) -> None:
    """With lines as long as guessed, folds, merges and tokens are exact, whatever the limits of layers and memory."""
    played = Played(settings, line=round(200 * 0.47))
    for _ in range(folds):
        played.fold()
    foreseen = estimate([BATCH] * folds, [], settings, TERMS)
    assert foreseen == Estimate(played.folds, played.merges, played.sent)


@given(LIMITS, st.integers(1, 40), st.integers(1, 40))
def test_what_is_left_is_foreseen_from_what_there_is(settings: LayeredSettings, done: int, left: int) -> None:
    """An estimate on the way, from the live snippets, gives what is still to come."""
    played = Played(settings, line=round(200 * 0.47))
    for _ in range(done):
        played.fold()
    merges, sent = played.merges, played.sent
    depth = max(snippet.layer for snippet in played.live) + 1
    layers = [[snippet.tokens for snippet in played.live if snippet.layer == layer] for layer in range(depth)]
    for _ in range(left):
        played.fold()
    assert estimate([BATCH] * left, layers, settings, TERMS) == Estimate(
        left, played.merges - merges, played.sent - sent
    )


def test_several_calls_at_once_are_told_turns_that_are_being_folded() -> None:
    """With eight at once a prompt holds less memory and more of the turns right before it, up to passage_tokens."""
    settings = LayeredSettings(memory_tokens=0, snippets_per_layer=500)
    alone, together = (estimate([BATCH] * 200, [], settings, replace(TERMS, width=width)) for width in (1, 8))
    assert together.calls == alone.calls
    beside, passage, line = 7, 200 + 6 * 4, 94
    more = (together.input_tokens - alone.input_tokens) / 200
    assert more == pytest.approx(beside * (passage - line), rel=0.03)
    capped = estimate([BATCH] * 200, [], replace(settings, passage_tokens=200), replace(TERMS, width=8))
    assert (together.input_tokens - capped.input_tokens) / 200 == pytest.approx(beside * passage - 200, rel=0.03)


@pytest.mark.parametrize(
    ("settings", "window"), [(LayeredSettings(context_tokens=500), None), (LayeredSettings(), 2000)]
)
def test_context_is_capped(settings: LayeredSettings, window: int | None) -> None:
    """Neither context_tokens nor the model's window lets a prompt grow with the memory."""
    few, many = (estimate([BATCH] * count, [], settings, replace(TERMS, window=window)) for count in (100, 200))
    per_call = (many.input_tokens - few.input_tokens) / (many.calls - few.calls)
    assert per_call < 300 + 224 + 740


def test_late_batches_see_only_what_precedes_them() -> None:
    """Turns that come before all memory are told without it, one after the other with the lines they made."""
    late = replace(BATCH, late=True, first=True)
    found = estimate([late] * 2, [[1000]], LayeredSettings(), TERMS)
    assert found.input_tokens == 2 * (300 + 224) + 94


def test_lines_teach_how_long_lines_are() -> None:
    """A model that writes half of what was guessed is known for it after some lines, and not after one."""
    settings = LayeredSettings()
    assert factor(Written(), settings) == 1
    assert factor(Written([47], [200]), settings) == pytest.approx(0.875)
    assert factor(Written([47] * 60, [200] * 60), settings) == pytest.approx(0.5, abs=0.03)
    assert factor(Written(), settings, 0.5) == 0.5
