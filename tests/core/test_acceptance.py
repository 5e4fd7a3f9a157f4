"""Whether an answer may become memory."""

import pytest

from app.core.acceptance import Accepted, Ending, TooLong, Unusable, Verdict, judge

STOPPED = Ending(complete=True, finish_reason="stop")


def verdict(text: str = "Anna left Ben.", ending: Ending = STOPPED, tokens: int = 10, source: int = 1000) -> Verdict:
    return judge(text, ending, tokens=tokens, limit=120, source_tokens=source)


def complaint(text: str, tokens: int = 10) -> str:
    """What is wrong with an answer, without the next step, which there must be."""
    found = verdict(text, tokens=tokens)
    assert isinstance(found, Unusable)
    what, _, step = found.reason.partition("; ")
    assert step
    return what


@pytest.mark.parametrize(
    ("tokens", "source", "expected"),
    [
        (120, 1, Accepted()),
        (121, 1000, Accepted()),
        (240, 241, Accepted()),
        (240, 240, TooLong()),
        (121, 121, TooLong()),
        (241, 10_000, TooLong()),
    ],
)
def test_the_band_of_lengths(tokens: int, source: int, expected: Verdict) -> None:
    """Up to the limit always; up to twice the limit only below the source's own length."""
    assert verdict(tokens=tokens, source=source) == expected


@pytest.mark.parametrize(
    ("ending", "accepted"),
    [
        (Ending(complete=True, finish_reason=None), True),
        (Ending(complete=True, finish_reason=""), True),
        (Ending(complete=True, finish_reason="STOP"), True),
        (Ending(complete=True, finish_reason="eos_token"), True),
        (Ending(complete=False, finish_reason=None), False),
        (Ending(complete=True, finish_reason="length"), False),
        (Ending(complete=True, finish_reason="content_filter"), False),
        (Ending(complete=True, finish_reason="tool_calls"), False),
        (Ending(complete=True, finish_reason="stop", tool_calls=True), False),
        (Ending(complete=True, finish_reason="load"), False),
    ],
)
def test_only_an_answer_that_ended_by_itself_counts(ending: Ending, accepted: bool) -> None:
    """Length stops, filters, tool calls and half streams are failed attempts."""
    assert (verdict(ending=ending) == Accepted()) is accepted


@pytest.mark.parametrize("text", ["", " ", "…", "---", "\u200b", "🙂"])
def test_an_answer_without_a_word_is_unusable(text: str) -> None:
    """Blank means: not one letter or digit."""
    assert complaint(text, tokens=0) == "gave a blank answer"


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I cannot assist with this request.",
        "I apologize, but this content is not something I can engage with.",
        "I cannot summarize this conversation.",
        "I'm unable to provide a summary of explicit material.",
        "As an AI language model, I do not read such texts.",
        "Es tut mir leid, aber ich kann dabei nicht helfen.",
        "Je suis désolé, mais je ne peux pas résumer ce passage.",
        "Lo siento, pero no puedo ayudar con eso.",
        "抱歉，我无法总结这段内容。",
        "申し訳ありませんが、その要求にはお応えできません。",
        "죄송하지만 도와드릴 수 없습니다.",
        "Извините, но я не могу помочь.",
        "ขออภัย ฉันไม่สามารถสรุปได้",
    ],
)
def test_a_refusal_is_unusable(text: str) -> None:
    """A refusal to answer at all never becomes memory, in several languages."""
    assert complaint(text) == "refused to answer"


@pytest.mark.parametrize(
    "text",
    [
        "I can't sleep, so I walk to the harbour and meet Ben.",
        "I cannot help it now, unless I lame the foot of our design.",
        "I won't answer him, nor will Ben.",
        "Anna says: I'm sorry, but I can't help you.",
        "Sorry for the delay, Ben hands Anna the key.",
        "Error-prone Ben drops the vial; 500 soldiers march on.",
        "None of the guards saw Anna leave.",
        "抱歉的安娜离开了城市。",
        "Nothing new happens.",
    ],
)
def test_a_story_about_refusing_is_memory(text: str) -> None:
    """Only an answer that itself refuses counts as a refusal."""
    assert verdict(text) == Accepted()


@pytest.mark.parametrize(
    "text",
    [
        "Error: rate limit exceeded", '{"error": {"message": "overloaded"}}', "<!DOCTYPE html><html>502</html>",
        "502 Bad Gateway", "Internal Server Error", "NONE", "null", "[object Object]", "N/A.", "No response.",
        '<tool_call> {"name": "save"} </tool_call>', "upstream connect error or disconnect",
    ],
)  # fmt: skip
def test_an_error_text_is_unusable(text: str) -> None:
    """What a proxy or a placeholder says in place of an answer is no answer."""
    assert complaint(text) == "gave an error text or a placeholder for an answer"


@pytest.mark.parametrize(
    "text",
    [
        "Anna walks on and on. " * 40,
        "哈" * 300,
        "In the morning Anna takes the old road to the mill, where Ben waits. " + "and then, " * 60,
        "and then, " * 30 + "The end.",
    ],
)
def test_a_repetition_loop_is_unusable(text: str) -> None:
    """A model that repeats itself has not summarized."""
    assert complaint(text) == "repeated itself without end"


def test_a_list_of_facts_is_no_loop() -> None:
    """Regular but different phrases are kept, numbered ones too."""
    places = ("mill", "harbour", "north gate", "old chapel", "market", "cellar", "bridge", "watchtower")
    text = " ".join(f"Quest {number}: Anna finds the {places[number % 8]} key." for number in range(40))
    assert verdict(text) == Accepted()
