"""app.core.comparison: what strategies come to over a chat, and what they will ask of a model."""

from dataclasses import replace

import pytest

from app.core.comparison import Account, Moment, TurnCost, account, foresee_calls
from app.core.settings import BufferSettings, ChatSettings, LayeredSettings, RollingSettings

FIRST = Moment(turn=1, sent=10, memory=0, verbatim=0, dropped=0, counted=8, reused=0, calls=0, summarizing=0)


def test_moments_are_added_up() -> None:
    """Sums over all turns, the reusable share over all prompts but the first, and the state of the last one."""
    second = Moment(2, sent=30, memory=5, verbatim=1, dropped=0, counted=20, reused=8, calls=1, summarizing=90)
    third = Moment(3, sent=20, memory=6, verbatim=0, dropped=1, counted=20, reused=10, calls=2, summarizing=50)
    assert account("rolling", [FIRST, second, third]) == Account(
        strategy="rolling",
        median_sent=20,
        peak_sent=30,
        total_sent=60,
        calls=3,
        summarizing=140,
        reusable=18 / 40,
        verbatim=0,
        in_memory=1,
        dropped=1,
    )


def test_a_greeting_asks_nobody() -> None:
    """A turn without a prompt counts for no median and is no prompt to be used again, yet its folds are paid for."""
    greeting = replace(FIRST, sent=0, counted=0, calls=1, summarizing=7)
    told = account("none", [greeting, replace(FIRST, turn=2, verbatim=1)])
    assert (told.median_sent, told.total_sent, told.reusable, told.calls) == (10, 10, 0.0, 1)


def test_a_chat_of_one_greeting() -> None:
    """Nothing was sent, and that is said."""
    told = account("none", [replace(FIRST, sent=0, counted=0)])
    assert (told.median_sent, told.peak_sent) == (0, 0)


def turns(number: int, tokens: int = 200, messages: int = 2) -> list[TurnCost]:
    return [TurnCost(tokens, messages)] * number


@pytest.mark.parametrize(("number", "calls"), [(12, 0), (13, 1), (1000, 330 + 124)])
def test_layered_calls(number: int, calls: int) -> None:
    """A call a batch, and the merges that follow, as the table of docs/concepts.md has them."""
    assert foresee_calls("layered", turns(number), ChatSettings()) == calls


@pytest.mark.parametrize(("number", "calls"), [(8, 0), (9, 1), (14, 1), (15, 2), (27, 4)])
def test_rolling_calls_by_tokens(number: int, calls: int) -> None:
    """Turns of 200 tokens fold at turns 9, 15, 21 and 27 (worked example F1)."""
    assert foresee_calls("rolling", turns(number), ChatSettings()) == calls


@pytest.mark.parametrize(("number", "calls"), [(6, 0), (7, 1), (11, 2)])
def test_rolling_calls_by_turns(number: int, calls: int) -> None:
    """A trigger of four turns fires at turns 7 and 11 (worked example F3)."""
    settings = ChatSettings(rolling=RollingSettings(trigger_tokens=0, trigger_turns=4))
    assert foresee_calls("rolling", turns(number), settings) == calls


@pytest.mark.parametrize(("number", "calls"), [(10, 0), (11, 1), (17, 1), (18, 2)])
def test_buffer_calls(number: int, calls: int) -> None:
    """Twenty messages and six kept: a call before the answers of turns 11 and 18 (worked example M1)."""
    assert foresee_calls("summary_buffer", turns(number), ChatSettings()) == calls


def test_buffer_calls_when_exceeded() -> None:
    """With `exceed` the twentieth message is not enough (worked example M2)."""
    settings = ChatSettings(summary_buffer=BufferSettings(compare="exceed"))
    assert [foresee_calls("summary_buffer", turns(number), settings) for number in (11, 12, 20)] == [0, 1, 2]


def test_no_memory_asks_nobody() -> None:
    """The strategy `none` makes no call, whatever the settings."""
    assert foresee_calls("none", turns(500), ChatSettings(layered=LayeredSettings(verbatim_turns=1))) == 0
