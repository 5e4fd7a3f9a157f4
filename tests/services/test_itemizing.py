"""A prompt piece by piece: all of it, in order, and what its pieces cost is what the prompt costs."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.model import Role
from app.services.projection_query import ProjectionQuery
from app.services.projection_view import ProjectionView
from app.services.recording import Draft
from tests.support.chained import Chained
from tests.support.table import Table, laid

Pieces = Sequence[Mapping[str, Any]]

COUNTS_AS = {"pinned": "system", "opening": "system", "frame": "current"}
ROLES = {"u": Role.USER, "a": Role.ASSISTANT, "s": Role.SYSTEM, "t": Role.TOOL}


def _call(name: str) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": "look", "arguments": '{"where": "north"}'}}


def _line(id: str, **more: Any) -> Draft:
    calls = [_call(name) for name in more.pop("calls", ())] or None
    return Draft(ROLES[id[0]], more.pop("content", f"Line {id}."), id=id, tool_calls=calls, **more)


STORY = [
    *(_line("s1", content="The harbour, at night."), _line("s2", content="It rains.")),
    *(_line("a1"), _line("u2", name="Mira"), _line("a2", name="Anna"), _line("u3", pinned=True), _line("a3")),
    *(_line("u4"), _line("a4", pinned=True), _line("u5", hidden=True), _line("u6"), _line("a6"), _line("u7")),
    *(_line("a7", content=None, calls=["c1", "c2"]), _line("t1", tool_call_id="c1"), _line("a8", content="Wait.")),
    *(_line("u8"), _line("t2", tool_call_id="c2"), _line("t3", tool_call_id="c2"), _line("a9"), _line("s3")),
    *(_line("u10"), _line("a10", content="Well,", calls=["c3"])),
]
CURRENT = [
    {"role": "tool", "content": "A gate.", "tool_call_id": "c3"},
    {"role": "user", "content": "And then?", "name": "Mira"},
    {"role": "user", "content": " "},
    {"role": "assistant", "content": None, "tool_calls": [_call("c4"), _call("c5")]},
    {"role": "tool", "content": "Nothing.", "tool_call_id": "c5"},
    {"role": "tool", "content": "A wall.", "tool_call_id": "c4"},
]
FRAMES = st.fixed_dictionaries(
    {
        "template": st.sampled_from(["Rain. {{user_message}}", "{{rain}}"]),
        "position": st.sampled_from(["replace", "before_user", "before_system", "after_user", "after_system"]),
    }
)
PLACEMENTS = ["system_end", "system_message", "user_message", *(f"in_chat:{depth}" for depth in (0, 2, 5, 99))]
REQUESTS = st.fixed_dictionaries(
    {
        "format": st.sampled_from(["openai", "anthropic", "text"]),
        "memory_placement": st.sampled_from(PLACEMENTS),
        "names": st.sampled_from(["auto", "none", "field", "prefix"]),
        "tool_history": st.sampled_from(["pair", "omit"]),
        "system_prompt": st.sampled_from([None, " ", "Speak as Tom."]),
        "context_size": st.one_of(st.none(), st.integers(40, 600)),
        "omit_authors": st.sampled_from([None, ["Anna"]]),
        "frame": st.one_of(st.none(), FRAMES),
        "current": st.lists(st.sampled_from(CURRENT), max_size=4),
        "tools": st.sampled_from([(), ({"name": "look"},)]),
        "view": st.sampled_from([None, "v"]),
    }
)


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


def _prompt(table: Table, **asked: Any) -> ProjectionView:
    return table.services.projecting.project("c", ProjectionQuery(**asked, explain=True))


def _sums(pieces: Pieces) -> Counter[str]:
    found: Counter[str] = Counter()  # by the field of `tokens`
    for piece in pieces:
        part = str(piece["part"])
        found[COUNTS_AS.get(part, part)] += piece["tokens"]
    return found


def _joined(pieces: Pieces, placement: str) -> list[Mapping[str, Any]]:
    """The pieces with those of the one system message, and results of the same call, put together."""
    found: list[Any] = []
    for piece in pieces:
        heads = piece["part"] == "system" or (piece["part"] == "memory" and placement == "system_end")
        same = piece.get("tool_call_id") is not None and piece["tool_call_id"] == found[-1].get("tool_call_id")
        if found and (same or (heads and found[-1]["part"] == "system")):
            texts = [text for text in (found[-1]["content"], piece["content"]) if text]
            found[-1] = {**found[-1], "content": "\n\n".join(texts)}
        else:
            found.append(piece)
    return found


def _anthropic_texts(prompt: ProjectionView) -> Iterable[str]:
    for content in (prompt.system or "", *(message["content"] for message in prompt.messages)):
        blocks = [{"text": content}] if isinstance(content, str) else content
        yield from (block.get("text") or block.get("content") or "" for block in blocks)


def _assert_whole(prompt: ProjectionView, format: str, placement: str) -> None:
    """The pieces say what the prompt says, in the same order."""
    assert prompt.sent is not None
    joined = _joined(prompt.sent, placement)
    if format == "openai":
        said = [(message["role"], message["content"]) for message in prompt.messages]
        assert [(piece["role"], piece["content"]) for piece in joined] == said
    elif format == "text":
        plain = _joined([{**piece, "tool_call_id": None} for piece in prompt.sent], placement)
        assert "\n".join(piece["content"] for piece in plain) == prompt.text
    else:
        texts = [piece["content"] for piece in prompt.sent]
        assert "\n\n".join(filter(None, texts)) == "\n\n".join(filter(None, _anthropic_texts(prompt)))


@pytest.mark.parametrize("strategy", ["layered", "rolling", "summary_buffer", "none"])
async def test_the_sums_are_the_tokens(table: Table, strategy: str) -> None:
    """To the token by part, whatever is asked for, and the pieces are the whole prompt in its order."""
    Chained(table, strategy)
    await table.services.recording.append("c", STORY, "wait", 20)
    if strategy != "none":
        table.services.steering.summarize("c")
        await table.settled()
        assert _prompt(table).tokens.memory
    table.services.viewing.put("c", "v", {"frame": {"template": "Fog.", "position": "after_user"}})
    stored = {one.id: one for one in table.services.recording.page("c", state="all", after=-1, limit=100)}

    @settings(max_examples=40, deadline=None)
    @given(asked=REQUESTS)
    def check(asked: dict[str, Any]) -> None:
        found = _prompt(table, **asked)
        assert found.sent is not None
        tokens = {name: getattr(found.tokens, name) for name in ("system", "memory", "history", "current")}
        assert {name: _sums(found.sent)[name] for name in tokens} == tokens
        _assert_whole(found, asked["format"], asked["memory_placement"])
        for piece in found.sent:
            if piece["part"] in ("history", "pinned") and "tool_calls" not in piece:
                message = stored[piece["message_id"]]
                known = (message.index, message.tokens + 8, message.name)
                assert (piece["index"], piece["tokens"], piece["name"]) == known

    check()


def _told(prompt: ProjectionView) -> list[tuple[Any, ...]]:
    return [(piece["part"], piece["message_id"], piece["tokens"]) for piece in prompt.sent or ()]


async def test_where_the_tokens_of_a_shared_message_count(table: Table) -> None:
    """The first of its pieces has the 8; where the memory is alone in the system message, a piece without text."""
    Chained(table)
    await table.services.recording.append("c", STORY[:2], "none", 0)
    await table.say(1, 2, 3)
    memory = _prompt(table).memory.tokens
    known = {one.id: one.tokens for one in table.services.recording.page("c", state="all", after=-1, limit=9)}
    own = [("system", "s1", known["s1"] + 8), ("system", "s2", known["s2"])]
    assert _told(_prompt(table))[:3] == [*own, ("memory", None, memory)]
    asked = [("system", None, 3 + 8), ("system", "s1", known["s1"]), own[1], ("memory", None, memory)]
    assert _told(_prompt(table, system_prompt="Be Tom."))[:4] == asked
    for message_id in ("s1", "s2"):
        table.services.editing.delete("c", message_id)
    assert _told(_prompt(table))[:2] == [("system", None, 8), ("memory", None, memory)]
    assert (_prompt(table).sent or [{}])[0]["content"] == ""
    apart = _told(_prompt(table, memory_placement="in_chat:0"))
    assert apart == [
        ("history", "u3", known["u3"] + 8),
        ("history", "a3", known["a3"] + 8),
        ("memory", None, memory + 8),
    ]


@pytest.mark.parametrize("position", ["replace", "before_system"])
async def test_a_frame_around_a_stored_line(table: Table, position: str) -> None:
    """It is a piece of its own, which costs what it adds; in a line's place it is that line still, by its name."""
    table.services.keeping.put("c", {})
    await table.services.recording.append("c", [_line("u1", name="Mira")], "none", 0)
    frame = {"template": "Rain, {{user_message}}", "position": position}
    found = _prompt(table, frame=frame, current=[CURRENT[1]] if position != "replace" else [])
    assert found.sent is not None
    if position == "replace":
        [piece] = found.sent
        assert (piece["part"], piece["message_id"], piece["name"]) == ("frame", "u1", "Mira")
        assert (piece["content"], piece["tokens"]) == ("Rain, Line u1.", found.tokens.current)
    else:
        assert [piece["part"] for piece in found.sent] == ["current", "frame", "current"]
        assert [piece["message_id"] for piece in found.sent] == ["u1", None, None]
        assert [piece["name"] for piece in found.sent] == ["Mira", None, "Mira"]


async def test_an_opening_is_a_piece(table: Table) -> None:
    """Where a prompt in Anthropic's format begins with it, and only there."""
    table.services.keeping.put("c", {})
    await table.services.recording.append("c", [_line("a1")], "none", 0)
    found = _prompt(table, format="anthropic", system_prompt="Be Tom.")
    assert [part for part, *_ in _told(found)] == ["system", "opening", "history"]
    assert sum(tokens for _, _, tokens in _told(found)[:2]) == found.tokens.system
    assert [part for part, *_ in _told(_prompt(table))] == ["history"]


async def test_nobody_who_does_not_ask_is_told(table: Table) -> None:
    """Without `explain` there are no pieces, and all else is the same."""
    table.services.keeping.put("c", {})
    plain = table.services.projecting.project("c", ProjectionQuery())
    assert plain.sent is None
    assert _prompt(table) == replace(plain, sent=[])
