"""A story in SillyTavern: what reaches the model is what the server says, and the user's chat stays as it was."""

import json
from typing import Any

import pytest

from tests.support.service import Service
from tests.support.tavern import VERSIONS, both_versions
from tests.support.tavern_page import TavernPage

TURNS = {VERSIONS[0]: 40}  # as many as promote twice
SOME = 12  # in other versions
BEGINNING = "[Start a new Chat]"  # SillyTavern's own line between a prompt's frame and the history
SYNCED = """async () => {
    const { settled } = await import('/scripts/extensions/third-party/turnfold/sync.js');
    return settled(10_000);
}"""
KNOWS = """async version => {
    const { session } = await import('/scripts/extensions/third-party/turnfold/session.js');
    return session.memory.version === version;
}"""
STREAM = "on => { SillyTavern.getContext().chatCompletionSettings.stream_openai = on; }"


@pytest.fixture(scope="module", autouse=True)
def small_windows(turnfold: Service) -> None:
    """So small that forty turns promote."""
    small = {"verbatim_turns": 3, "turns_per_batch": 2, "snippets_per_layer": 4, "snippets_per_promotion": 2}
    assert turnfold.patch("/settings", {"layered": {**small, "flush_turns": 3}}).is_success


def lines(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Who says what."""
    return [(message["role"], message["content"]) for message in messages]


def history(prompt: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The part of SillyTavern's prompt that is the chat."""
    said = lines(prompt)
    return said[said.index(("system", BEGINNING)) + 1 :]


def frame(prompt: list[dict[str, Any]]) -> list[str]:
    """What stands before the chat."""
    said = lines(prompt)
    return [content for _, content in said[: said.index(("system", BEGINNING))]]


def known(tavern: TavernPage, turnfold: Service) -> dict[str, Any]:
    """The server's projection, once it has nothing more to do and the page knows its memory."""
    assert tavern.js(SYNCED)
    turnfold.settled(tavern.chat_id)
    projection: dict[str, Any] = turnfold.get(f"/chats/{tavern.chat_id}/projection").json()
    tavern.until(KNOWS, projection["memory"]["version"])
    return projection


def said_in(projection: dict[str, Any]) -> list[tuple[str, str]]:
    """The messages of a projection but for the memory."""
    return [(role, content) for role, content in lines(projection["messages"]) if role != "system"]


def told_as_the_server_says(tavern: TavernPage, turnfold: Service, text: str) -> dict[str, Any]:
    """Send a message; the model must get what the server had projected, and the message. Gives that projection."""
    projection = known(tavern, turnfold)
    tavern.send(text)
    prompt = tavern.prompt()
    assert history(prompt) == [*said_in(projection), ("user", text)]
    memory = projection["memory"]["text"]
    assert not memory or frame(prompt)[1] == memory
    return projection


@both_versions
def test_a_story(tavern: TavernPage, turnfold: Service, version: str) -> None:
    """At each turn of a story, streamed or not, the model gets the projection's messages and the memory after the main
    prompt; somebody else's quiet prompt gets the whole chat without it; and the chat's file gains ids and no more.
    """
    said = [tavern.texts[0]]
    turns = TURNS.get(version, SOME)
    for turn in range(turns):
        tavern.js(STREAM, turn >= turns // 2)
        projection = told_as_the_server_says(tavern, turnfold, f"Mira tries door {turn}.")
        said += [f"Mira tries door {turn}.", tavern.texts[-1]]
    assert len(projection["messages"]) < 12
    assert len(turnfold.status(tavern.chat_id)["layers"]) > 1 or version not in TURNS
    quiet_prompts_are_left_alone(tavern, said)
    file_is_as_it_was(tavern, said)


def quiet_prompts_are_left_alone(tavern: TavernPage, said: list[str]) -> None:
    tavern.js(STREAM, False)
    tavern.command("/gen Say something.")
    prompt = tavern.prompt()
    assert [content for _, content in history(prompt)][: len(said)] == said
    assert "<memory" not in json.dumps(prompt)


def file_is_as_it_was(tavern: TavernPage, said: list[str]) -> None:
    header, *stored = tavern.file()
    ids = [message["extra"].pop("turnfold") for message in stored]
    assert all(set(one) == {"id"} for one in ids)
    assert len({one["id"] for one in ids}) == len(said)
    assert [message["mes"] for message in stored] == said
    assert not any(message.get("is_system") for message in stored)
    for info in [one for message in stored for one in message.get("swipe_info", [])]:
        info["extra"].pop("turnfold", None)  # SillyTavern's own copy of a message's extra
    assert "turnfold" not in json.dumps([header, *stored])
