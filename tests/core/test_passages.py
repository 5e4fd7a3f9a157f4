"""app.core.passages: the turns that prompts are tried on."""

from app.core.model import Message, Role
from app.core.passages import as_fold, as_rewrite, spoken, turns_within
from app.core.settings import LayeredSettings
from app.core.turns import outline

HISTORY = [
    Message(key, key, Role.USER if key % 2 == 0 else Role.ASSISTANT, tokens=100, hidden=key in (4, 5), pinned=key == 6)
    for key in range(11)
]
VIEW = outline(HISTORY, len(HISTORY))


def test_any_message_of_a_turn_names_it() -> None:
    """Hidden messages and the open turn name none."""
    found = {index: [turn.messages[0].index for turn in turns_within(VIEW, index, index)] for index in range(12)}
    expected = {index: [index - index % 2] for index in range(10)} | {4: [], 5: [], 10: [], 11: []}
    assert found == expected


def test_as_many_turns_as_fit_are_taken_and_one_at_least() -> None:
    """The oldest; one that is too long is clipped. A pinned message is told."""
    turns = turns_within(VIEW, 0, 10)
    assert [len(as_fold(turns, LayeredSettings(passage_tokens=limit)).turns) for limit in (100, 200, 599)] == [1, 1, 2]
    assert as_fold(turns, LayeredSettings(passage_tokens=199)).clipped
    plans = [as_rewrite(turns, room, lambda turn: turn.tokens, 7) for room in (100, 200, 599, 9000)]
    assert [(len(plan.turns), plan.clipped, plan.folded) for plan in plans] == [
        (1, True, 7),
        (1, False, 7),
        (2, False, 7),
        (4, False, 7),
    ]
    assert [message.index for message in spoken(turns)] == [0, 1, 2, 3, 6, 7, 8, 9]
