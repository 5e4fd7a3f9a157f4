"""app.core.turns: which messages make a turn."""

from app.core.model import Message, Outline, Role
from app.core.turns import outline
from tests.support.builders import call, chat, places, reply, result, said, system, turns, user, view_of


def _turns(view: Outline) -> list[list[int]]:
    return [places(turn.messages) for turn in view.turns]


def _grouped(*messages: Message) -> tuple[list[list[int]], list[int]]:
    view = view_of(chat(*messages))
    return _turns(view), places(view.open)


def test_an_empty_chat_has_no_turns() -> None:
    """Nothing said, nothing grouped."""
    assert view_of([]) == Outline()


def test_a_greeting_is_a_turn() -> None:
    """A reply that nothing precedes closes a turn of its own."""
    assert _grouped(reply(), user(), reply()) == ([[0], [1, 2]], [])


def test_several_user_lines_make_one_turn() -> None:
    """Everything since the previous turn belongs to the reply that ends it."""
    assert _grouped(user(), user(), user(), reply(), user()) == ([[0, 1, 2, 3]], [4])


def test_several_replies_are_several_turns() -> None:
    """Every reply ends a turn, with or without a user line before it."""
    assert _grouped(user(), reply(), reply()) == ([[0, 1], [2]], [])


def test_a_tool_call_does_not_end_a_turn() -> None:
    """Calls and their results stand in the turn of the text that follows them."""
    assert _grouped(user(), call("a", "b"), result("a"), result("b"), reply()) == ([[0, 1, 2, 3, 4]], [])


def test_a_pending_call_is_open() -> None:
    """A call without a text after it is in the open turn."""
    assert _grouped(*turns(1), user(), call("a")) == ([[0, 1]], [2, 3])
    assert _grouped(*turns(1), user(), call("a"), result("a")) == ([[0, 1]], [2, 3, 4])


def test_a_turn_is_open_while_its_call_is_unanswered_at_the_end_of_the_chat() -> None:
    """A text after the call does not close the turn as long as nothing follows."""
    assert _grouped(*turns(1), user(), call("a"), reply()) == ([[0, 1]], [2, 3, 4])
    assert _grouped(user(), call("a", "b"), result("a"), reply()) == ([], [0, 1, 2, 3])


def test_an_unanswered_call_further_back_closes_with_its_turn() -> None:
    """Once something follows, the call is an orphan and the turn is closed."""
    assert _grouped(user(), call("a"), reply(), user()) == ([[0, 1, 2]], [3])
    assert _grouped(user(), call("a"), reply(), user(), reply()) == ([[0, 1, 2], [3, 4]], [])


def test_blank_messages_end_no_turn_and_stand_in_one() -> None:
    """An empty reply waits for a real one, and lies in its turn."""
    assert _grouped(user(), reply(0, blank=True), user(0, blank=True), reply()) == ([[0, 1, 2, 3]], [])
    assert _grouped(user(), reply(0, blank=True)) == ([], [0, 1])


def test_hidden_and_omitted_messages_are_in_no_turn_and_end_none() -> None:
    """What is not visible is not there for grouping."""
    assert _grouped(user(), reply(hidden=True), user(), reply()) == ([[0, 2, 3]], [])
    assert _grouped(user(), reply(omitted=True), reply()) == ([[0, 2]], [])
    assert _grouped(user(hidden=True), reply(hidden=True)) == ([], [])


def test_leading_system_messages_are_the_chats_own_prompt() -> None:
    """They are in no turn."""
    view = view_of(chat(system(), system(), *turns(1), user()))
    assert (places(view.prompt), _turns(view), places(view.open)) == ([0, 1], [[2, 3]], [4])


def test_a_chat_of_system_messages_alone_has_no_turn() -> None:
    """They are all its prompt."""
    view = view_of(chat(system(), system()))
    assert (places(view.prompt), view.runs, view.open) == ([0, 1], (), ())


def test_a_system_message_in_the_middle_stands_in_its_turn() -> None:
    """After the first user or assistant message a system message is a note like any other."""
    view = view_of(chat(user(), system(), reply(), system(), user(), reply()))
    assert (view.prompt, _turns(view)) == ((), [[0, 1, 2], [3, 4, 5]])


def test_a_system_message_after_a_hidden_line_is_a_note() -> None:
    """A hidden user line is still the first user message."""
    assert view_of(chat(user(hidden=True), system(), reply())).prompt == ()


def test_a_stray_tool_result_at_the_beginning_is_in_no_turn() -> None:
    """So it is never covered, and the chat's own prompt behind it is never lost."""
    messages = chat(said(Role.TOOL), system(), *turns(2))
    assert _turns(view_of(messages)) == [[2, 3], [4, 5]]
    assert places(view_of(messages, {2, 3}).prompt) == [1]


def test_the_prompt_stays_when_everything_is_covered() -> None:
    """What stands before the first turn is never covered."""
    view = view_of(chat(system(), *turns(2)), range(1, 5))
    assert (places(view.prompt), view.runs, view.open) == ([0], (), ())


def test_a_gap_in_the_indices_parts_runs() -> None:
    """Covered messages between uncovered turns make two runs, each knowing its neighbours."""
    view = view_of(chat(*turns(6)), {0, 1, 4, 5, 6, 7})
    assert [(places(run.turns[0].messages), run.preceded, run.followed) for run in view.runs] == [
        ([2, 3], True, True),
        ([8, 9], True, False),
    ]


def test_what_a_covered_reply_once_closed_is_a_stray() -> None:
    """A visible user line whose reply is covered is in no turn, and not open."""
    view = view_of(chat(*turns(3)), {0, 1, 3})
    assert [(places(run.strays), run.turns) for run in view.runs if run.strays] == [([2], ())]
    assert _turns(view) == [[4, 5]]
    assert view.open == ()


def test_with_the_newest_messages_covered_nothing_is_open() -> None:
    """A chat whose end is covered has strays there, no open turn."""
    view = view_of(chat(*turns(1), user(), reply()), {3})
    assert (_turns(view), places(view.runs[0].strays), view.open) == ([[0, 1]], [2], ())


def test_hidden_messages_between_covered_ones_make_no_run() -> None:
    """A run has a visible message at least."""
    assert view_of(chat(user(), reply(hidden=True), reply(), *turns(1)), {0, 2}).runs[0].preceded
    assert len(view_of(chat(user(), reply(hidden=True), reply(), *turns(1)), {0, 2}).runs) == 1


def test_a_turn_that_is_all_pinned_has_nothing_coverable() -> None:
    """It is a turn, but a fold of it would cover nothing; a blank line beside the pins changes nothing."""
    pinned = view_of(chat(user(pinned=True), user(0, blank=True), reply(pinned=True))).turns[0]
    mixed = view_of(chat(user(pinned=True), user(0, blank=True), reply())).turns[0]
    assert pinned.coverable == ()
    assert places(mixed.coverable) == [1, 2]


def test_a_turn_is_skipped_with_any_of_its_messages() -> None:
    """One skipped message marks its turn."""
    assert [turn.skipped for turn in view_of(chat(user(skipped=True), reply(), *turns(1))).turns] == [True, False]


def test_a_run_inside_a_snippets_range_is_enclosed() -> None:
    """A turn that comes to lie between covered messages of one snippet belongs to that snippet."""
    view = view_of(chat(*turns(4)), {0, 1, 4, 5}, enclosed={2, 3})
    assert [run.enclosed for run in view.runs] == [True, False]


def test_the_beginning_of_a_long_chat_has_no_open_turn() -> None:
    """Where more turns follow than are listed, the last lines may belong to one of them."""
    head = outline(chat(*turns(2), user()), 5, later=20)
    assert (_turns(head), head.open, head.later) == ([[0, 1], [2, 3]], (), 20)
