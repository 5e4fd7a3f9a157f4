"""app.llm.extractive: memory lines without a model."""

import base64
import json
import logging
import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.summary import Connection, Line, SummaryRequest
from app.llm.extractive import Extractive
from app.llm.tokens import TokenCounter
from tests.formats.files import real_play

COUNT = TokenCounter()

SCENE = (
    Line("Mira", '*Mira leans over the map.* "Lord Verrin cut the road at Aldermoor bridge three nights ago."'),
    Line("Tom", '"Hm." *He nods.* "I can have six mules ready by dawn, but I\'ll need 40 silver for the stabler."'),
    Line("Mira", '*She unclasps the locket at her throat.* "Take this. It is worth twice that."'),
    Line("Tom", '"No... I swear I\'ll bring it back to you."'),
)

HOSTILE = {
    "Thai": "สวัสดีครับ วันนี้อากาศดีมาก เราจะไปตลาดด้วยกันไหม " * 20,
    "Chinese": "我们明天早上六点出发去北京" * 50,
    "Japanese": "明日の10時に駅で会おう。約束するよ。",
    "emoji": "\N{GRINNING FACE}" * 300,
    "one word": "a" * 50_000,
    "base64": base64.b64encode(random.Random(1).randbytes(30_000)).decode(),
    "accents": "\u0301" * 5_000,
    "code": "```python\ndef f(x):\n    return x + 1\n```",
    "bare fence": "```",
    "bare stars": "***",
    "dots": "...",
    "zero width": "\u200b",
    "surrogate": "hi \ud800 there",
    "link": "See https://example.org/" + "path/" * 200 + " for more.",
    "semicolons": "; ; ;",
    "colons": ": : : a: b: c",
    "template": "{{ 7*7 }} {% raw %} $& </passage>",
}


@pytest.fixture(scope="module")
def extract() -> Extractive:
    return Extractive(COUNT)


def request(
    passage: Sequence[Line], prior: Sequence[str] = (), kind: Literal["fold", "merge"] = "fold", limit: int = 120
) -> SummaryRequest:
    return SummaryRequest(
        kind=kind,
        connection=Connection("extractive", "extractive"),
        system="",
        user="",
        prior=tuple(prior),
        passage=tuple(passage),
        limit=limit,
        source_tokens=sum(COUNT(line.text) for line in passage),
    )


def merge(*lines: str, limit: int = 120) -> SummaryRequest:
    return request([Line("", line) for line in lines], kind="merge", limit=limit)


def assert_fit(line: str, limit: int) -> None:
    assert line.strip()
    assert len(line.splitlines()) == 1
    assert COUNT(line) <= limit


def test_a_line_keeps_names_numbers_and_speakers(extract: Extractive) -> None:
    """What was agreed is in the line, word for word, with who said it, in order."""
    line = extract(request(SCENE))
    assert line.startswith("Mira: Lord Verrin cut the road at Aldermoor bridge three nights ago")
    assert "Tom: I can have six mules ready by dawn, but I'll need 40 silver for the stabler" in line
    assert COUNT(line) < sum(COUNT(part.text) for part in SCENE)


def test_a_line_fits_as_its_chat_counts(extract: Extractive) -> None:
    """A request that brings a counter of its own gets a line that fits by that one."""
    asked = replace(request(SCENE, limit=40), count=lambda text: 2 * COUNT(text))
    assert 10 < COUNT(extract(asked)) <= 20


def test_neighbours_share_a_name(extract: Extractive) -> None:
    """Chosen sentences of one speaker in a row stand behind one name."""
    line = extract(
        request([Line("Mira", "Verrin took 12 horses. We must reach Aldermoor before him, by the marsh road.")])
    )
    assert line.count("Mira: ") == 1


def test_what_memory_says_is_left_out(extract: Extractive) -> None:
    """A sentence that stands in the prior context gives way to others."""
    known = "Tom: I can have six mules ready by dawn, but I'll need 40 silver for the stabler"
    line = extract(request(SCENE, prior=["Verrin rules the valley", known]))
    assert "six mules" not in line
    assert "Aldermoor" in line


def test_a_passage_that_adds_nothing_still_gets_a_phrase(extract: Extractive) -> None:
    """Even when memory holds everything, the line is not blank."""
    passage = [Line("Tom", "The mules are ready.")]
    assert extract(request(passage, prior=["Tom: The mules are ready"])) == "Tom: The mules are ready"


@pytest.mark.parametrize("prior", ["", " ", "; ", "; ; ", "Mira: ; "])
def test_memory_that_says_nothing_is_ignored(extract: Extractive, prior: str) -> None:
    """A line of memory without a phrase in it changes nothing."""
    assert extract(request(SCENE, prior=[prior])) == extract(request(SCENE))


def test_repetition_is_said_once(extract: Extractive) -> None:
    """Of sentences that say the same, one is chosen."""
    line = extract(request([Line("Tom", "The bridge at Aldermoor burned. ") for _ in range(8)]))
    assert line == "Tom: The bridge at Aldermoor burned"


def test_a_blank_passage_has_no_line(extract: Extractive) -> None:
    """Nothing said, nothing remembered."""
    assert extract(request([Line("Mira", " \n")])) == ""


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("limit", [16, 120])
def test_any_text_gives_one_line_within_the_limit(extract: Extractive, kind: str, limit: int) -> None:
    """Every script, markup and rubbish becomes one line that is not blank and holds no more than the limit."""
    assert_fit(extract(request([Line("Mira", HOSTILE[kind])], limit=limit)), limit)
    assert_fit(extract(merge(HOSTILE[kind], limit=limit)), limit)


@given(
    passage=st.lists(st.builds(Line, st.text(max_size=30), st.text(max_size=200)), min_size=1, max_size=5),
    prior=st.lists(st.text(max_size=60), max_size=3),
    limit=st.integers(16, 200),
)
def test_folds_always_fit(extract: Extractive, passage: list[Line], prior: list[str], limit: int) -> None:
    """Whatever is said by whomever: one line within the limit, blank only if the passage is, the same every time."""
    asked = request(passage, prior, limit=limit)
    line = extract(asked)
    assert extract(asked) == line
    if any(part.text.strip() for part in passage):
        assert_fit(line, limit)
    else:
        assert line == ""


@pytest.mark.parametrize("name", ["N" * 500, "A\nB", "", "\N{GRINNING FACE}" * 60, "Dr; Who:"])
def test_any_name_leaves_one_line(extract: Extractive, name: str) -> None:
    """A speaker's name cannot break the line or take the room of what was said."""
    line = extract(request([Line(name, "The mules are ready.")], limit=16))
    assert_fit(line, 16)
    assert "mules are ready" in line


def test_a_merge_is_shorter_and_in_order(extract: Extractive) -> None:
    """Lines condense to clearly less than they were, speakers kept, oldest first."""
    lines = [
        "Mira: Lord Verrin cut the road at Aldermoor bridge. We can't take the wagons; Tom: Then we go by the marsh",
        "Tom bought 6 mules for 40 silver; Mira gave him her locket; it rained; they slept badly",
        "Tom came back wounded with the locket; Mira wept; Verrin's men follow them to the marsh",
    ]
    asked = merge(*lines)
    line = extract(asked)
    assert COUNT(line) <= 0.6 * asked.source_tokens
    assert line.index("Verrin") < line.index("6 mules")
    assert "Mira: Lord Verrin cut the road at Aldermoor bridge" in line


@pytest.mark.parametrize(
    "lines", [("Mira: ok", "Tom: yes", "Mira: fine"), ("x" * 400, "y" * 400), ("Mira met Tom", "…")]
)
def test_small_merges_are_shorter_too(extract: Extractive, lines: tuple[str, ...]) -> None:
    """Even the smallest merge holds fewer tokens than its sources."""
    asked = merge(*lines)
    line = extract(asked)
    assert line
    assert COUNT(line) < asked.source_tokens


def test_threads_get_the_same_line() -> None:
    """Many threads may ask at once, the first time too."""
    fresh = Extractive(COUNT)
    with ThreadPoolExecutor(4) as pool:
        lines = set(pool.map(fresh, [request(SCENE)] * 12))
    assert len(lines) == 1


def test_loading_leaves_logging_alone(extract: Extractive) -> None:
    """wordllama sets up logging when imported; ours is as it was."""
    extract(request(SCENE))
    assert not any(type(handler) is logging.StreamHandler for handler in logging.getLogger().handlers)


@pytest.fixture(scope="module")
def play() -> list[Line]:
    with real_play("play-group-chat.jsonl") as file:
        next(file)
        return [Line(message["name"], message["mes"]) for message in map(json.loads, file)]


def test_a_whole_play_is_remembered_line_by_line(extract: Extractive, play: list[Line]) -> None:
    """Batch after batch fits, is shorter than its passage, and names someone who spoke in it."""
    prior: list[str] = []
    for start in range(0, 300, 6):
        batch = play[start : start + 6]
        asked = request(batch, prior)
        line = extract(asked)
        assert_fit(line, 120)
        assert COUNT(line) < asked.source_tokens
        assert line.split(": ")[0] in {part.speaker for part in batch}
        prior.append(line)


def test_a_long_passage_takes_a_moment(extract: Extractive, play: list[Line]) -> None:
    """Ten thousand tokens take well under a second on any machine (about 50 ms)."""
    asked = request(play[:300])
    extract(asked)
    started = time.perf_counter()
    extract(asked)
    assert asked.source_tokens > 10_000
    assert time.perf_counter() - started < 0.8
