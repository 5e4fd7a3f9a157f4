"""Putting an answer together."""

import tracemalloc

import pytest

from app.core.acceptance import Ending
from app.llm.wire import MAX_ANSWER_CHARS, Answer, CallFailed, Piece, Reader, decode


def parse_line(line: str) -> Piece | None:
    """`:` is a comment, `{` begins a body, everything else is text."""
    return None if line[0] in "{}" else Piece() if line[0] == ":" else Piece(line)


def new_reader() -> Reader:
    return Reader(parse_line, lambda body: Piece(body, "stop"))


def test_lines_without_text_leave_nothing_behind() -> None:
    """A server that sends blank lines or comments while it thinks costs no memory, however many there are."""
    reader = new_reader()
    reader.take("Anna")
    tracemalloc.start()
    for _ in range(20_000):
        reader.take("")
        reader.take(": still here")
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 20_000
    assert reader.answer().text == "Anna"


@pytest.mark.parametrize("line", ["x" * 100, "{" * 100])
def test_an_answer_without_end_is_cut(line: str) -> None:
    """Text and what may be a body are taken up to the limit."""
    reader = new_reader()
    for _ in range(MAX_ANSWER_CHARS // 100):
        assert not reader.take(line)
    with pytest.raises(CallFailed):
        reader.take(line)


def test_the_last_word_counts() -> None:
    """Reasons and counts come from the last piece that has them, calls and completeness from any."""
    pieces = iter(
        [
            Piece("a", prompt_tokens=1, completion_tokens=0, tool_calls=True),
            Piece("b", "length", completion_tokens=2),
            Piece("c", "stop"),
            Piece(prompt_tokens=0, ended=True),
        ]
    )
    reader = Reader(lambda _line: next(pieces), lambda body: Piece(body))
    assert [reader.take("x") for _ in range(4)] == [False, False, False, True]
    assert reader.answer() == Answer("abc", Ending(True, "stop", True), 0, 2)


@pytest.mark.parametrize(("before", "kind"), [((), "connection"), (("",), "connection"), (("Anna",), "unusable")])
def test_garbage_is_the_models_only_after_a_word_of_it(before: tuple[str, ...], kind: str) -> None:
    """Where no word of an answer came before, no model is at the other end, and no passage is to blame."""

    def parse(line: str) -> Piece:
        return Piece(line) if line == "Anna" else decode(line)

    reader = Reader(parse, lambda body: Piece(body))
    for line in before:
        reader.take(line)
    with pytest.raises(CallFailed) as failed:
        reader.take("<html>")
    assert failed.value.failure.kind == kind


def test_a_body_over_several_lines_is_read_whole() -> None:
    """Lines that make sense only together go to the parser together."""
    reader = new_reader()
    for line in ("{", "", "}"):
        reader.take(line)
    assert reader.answer() == Answer("{\n}", Ending(True, "stop"))
