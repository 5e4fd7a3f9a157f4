"""Coming from Summaryception: what it remembers of a chat, its settings and its connection are taken over, if asked."""

import json
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Locator

from tests.support import summaryception as old
from tests.support.service import Service
from tests.support.tavern import both_versions
from tests.support.tavern_page import TavernPage

SECONDS = 30_000
OURS = ("turnfold", "sc_ghosted")
BY_ITSELF = ("is_system", "swipes", "swipe_id", "swipe_info")  # what SillyTavern adds when it shows a message
RUNNING = """() => {
    const script = document.createElement('script');
    const src = '/scripts/extensions/third-party/Summaryception/index.js';
    Object.assign(script, { type: 'text/plain', id: 'their-script', src });
    document.body.append(script);
}"""

OWN_MODEL = """() => {
    SillyTavern.getContext().extensionSettings.turnfold.source = { kind: 'main', profile: '' };
}"""


@pytest.fixture
def chat(tavern: TavernPage) -> str:
    """A chat that Summaryception has made a memory of, in its file."""
    return _seed(tavern, *old.short())


def _seed(tavern: TavernPage, lines: list[dict[str, Any]], store: dict[str, Any]) -> str:
    _configure(tavern, {})
    return tavern.tavern.seed_chat("Seraphina", f"an old story {uuid4()}", lines, _metadata(store))


def _metadata(store: dict[str, Any]) -> dict[str, Any]:
    return {"integrity": str(uuid4()), "summaryception": store, "note_prompt": ""}


def _configure(tavern: TavernPage, theirs: dict[str, Any]) -> None:
    tavern.js("theirs => { SillyTavern.getContext().extensionSettings.summaryception = theirs; }", theirs)


def _offer(tavern: TavernPage) -> Locator:
    dialog = tavern.page.locator("dialog[open] .turnfold-takeover")
    dialog.wait_for(timeout=SECONDS)
    return dialog


def _choose(tavern: TavernPage, choice: str) -> None:
    _offer(tavern).locator(f'[data-choice="{choice}"]').click()


def _without_marks(message: dict[str, Any]) -> dict[str, Any]:
    extra = {name: value for name, value in message.get("extra", {}).items() if name not in OURS}
    rest = {name: value for name, value in message.items() if name not in BY_ITSELF}
    return {**rest, "extra": extra}


@both_versions
def test_taken_over(tavern: TavernPage, turnfold: Service) -> None:
    """Its snippets are ours, what they cover is shown and ghosted, and the model gets what the server projects."""
    chat = _seed(tavern, old.messages(), old.store())
    tavern.open_chat(chat)
    before = tavern.tavern.file(chat)
    _choose(tavern, "taken")
    told = f"{old.SNIPPETS} snippets taken over. {len(old.GHOSTED)} messages"
    tavern.page.locator(".toast-message").get_by_text(told).wait_for(timeout=SECONDS)
    status = turnfold.settled(tavern.chat_id)
    assert sum(layer["snippets"] for layer in status["layers"]) == old.SNIPPETS
    hidden = [place for place, message in enumerate(tavern.chat) if message["is_system"]]
    assert hidden == [*old.USER_HIDDEN, old.COMMENT]
    after = tavern.tavern.file(chat)
    assert [_without_marks(one) for one in after[1:]] == [_without_marks(one) for one in before[1:]]
    assert "sc_ghosted" not in json.dumps(after)
    assert after[0]["chat_metadata"]["summaryception"] == old.store()
    tavern.send("Where were we?")
    _sent_as_projected(tavern, turnfold)


def _sent_as_projected(tavern: TavernPage, turnfold: Service) -> None:
    sent = [one["content"] for one in tavern.prompt()]
    projected = turnfold.get(f"/chats/{tavern.chat_id}/projection").json()["messages"]
    story = [one["content"] for one in projected if one["content"].startswith("Line ")]
    assert [text for text in sent if text.startswith("Line ")] == story
    assert len(story) == old.TOTAL - old.THROUGH - 1
    assert any("Batch 0." in text and "Batch 163." in text for text in sent)


def test_begin_anew(tavern: TavernPage, turnfold: Service, chat: str) -> None:
    """What was hidden is shown and nothing of the old memory is there; the backlog's question comes next."""
    tavern.open_chat(chat)
    _choose(tavern, "anew")
    question = tavern.page.locator("dialog[open] [data-choice=all]")
    question.wait_for(timeout=SECONDS)
    assert [place for place, message in enumerate(tavern.chat) if message["is_system"]] == [7]
    status = turnfold.status(tavern.chat_id)
    assert (status["layers"], status["paused"], status["backlog"]["choice_needed"]) == ([], False, True)
    _close(tavern)


def test_left_to_it(tavern: TavernPage, turnfold: Service, chat: str) -> None:
    """The chat stays as it is, and Turnfold adds nothing to it; it is not asked about again."""
    tavern.open_chat(chat)
    _choose(tavern, "left")
    tavern.until("() => SillyTavern.getContext().chatMetadata.turnfold?.summaryception === 'left'")
    before = tavern.chat
    assert turnfold.status(tavern.chat_id)["enabled"] is False
    tavern.send("And then?")
    assert tavern.chat[: len(before)] == before
    assert not any("Batch" in one["content"] for one in tavern.prompt())
    tavern.new_chat()
    tavern.open_chat(chat)
    _ready(tavern)
    assert tavern.page.locator("dialog[open]").count() == 0


def test_not_now(tavern: TavernPage, turnfold: Service, chat: str) -> None:
    """Nothing folds, however little a question is needed for that otherwise, until it is asked again and answered."""
    turnfold.patch("/settings", {"on_backlog": "all"})
    try:
        tavern.open_chat(chat)
        _offer(tavern)
        _close(tavern)
        tavern.send("Later.")
        status = turnfold.status(tavern.chat_id)
        assert (status["paused"], status["job"], status["layers"]) == (True, None, [])
        tavern.new_chat()
        tavern.open_chat(chat)
        _offer(tavern)
        _close(tavern)
    finally:
        turnfold.patch("/settings", {"on_backlog": None})


def test_settings_come_along(tavern: TavernPage, turnfold: Service, chat: str) -> None:
    """Settings that differ are listed, what is out of range is said, and what stays ticked is set; so is who writes."""
    _configure(tavern, SETTINGS)
    tavern.js(RUNNING)
    try:
        tavern.open_chat(chat)
        offer = _offer(tavern)
        assert "It says 20; 1 to 10 can be set." in offer.inner_text()
        assert "sk-secret" not in offer.inner_html()
        offer.locator('[data-item="turnsPerSummary"]').uncheck()
        _choose(tavern, "taken")
        tavern.until("() => SillyTavern.getContext().chatMetadata.turnfold?.summaryception === 'taken'", seconds=30)
        found = turnfold.get("/settings").json()
        assert found["settings"] == {
            "connection": "summaryception",
            "layered": {"verbatim_turns": 12, "max_layers": 10},
        }
        connection = turnfold.get("/connections/summaryception").json()
        assert (connection["model"], connection["has_api_key"], connection["max_tokens"]) == ("tiny", True, 300)
        assert tavern.js("SillyTavern.getContext().extensionSettings.summaryception.enabled") is False
        assert turnfold.settled(tavern.chat_id)["paused"] is False
    finally:
        tavern.js("document.getElementById('their-script').remove()")
        turnfold.patch("/settings", {"connection": None, "layered": None})
        turnfold.http.delete("/v1/connections/summaryception")


SETTINGS = {
    **{"enabled": True, "verbatimTurns": 12, "turnsPerSummary": 4, "maxLayers": 20, "promptPreset": "narrative"},
    **{"connectionSource": "openai", "openaiUrl": "http://127.0.0.1:9/v1", "openaiModel": "tiny"},
    **{"openaiKey": "sk-secret", "openaiMaxTokens": 300},
}


@pytest.mark.parametrize(
    ("theirs", "source", "scope"),
    [
        ({"connectionSource": "default"}, {"kind": "main", "profile": ""}, "all"),
        ({"connectionSource": "profile", "connectionProfileId": "p1"}, {"kind": "profile", "profile": "p1"}, "chat"),
    ],
    ids=["main", "profile"],
)
def test_who_writes_comes_along(
    tavern: TavernPage, turnfold: Service, chat: str, theirs: dict[str, Any], source: dict[str, str], scope: str
) -> None:
    """SillyTavern's connection is used as it is there, for all chats or for this one, and this page knows its part."""
    turnfold.put("/connections/SillyTavern", {"provider": "client", "timeout_s": 900, "context_size": 7000})
    _configure(tavern, theirs)
    try:
        tavern.open_chat(chat)
        offer = _offer(tavern)
        assert "These settings then hold for" in offer.inner_text()
        offer.get_by_label("all chats" if scope == "all" else "this chat alone").check()
        _choose(tavern, "taken")
        tavern.until("() => SillyTavern.getContext().chatMetadata.turnfold?.summaryception === 'taken'", seconds=30)
        kept = turnfold.get("/connections/SillyTavern").json()
        assert (kept["timeout_s"], kept["context_size"]) == (900, 7000)
        assert tavern.js("SillyTavern.getContext().extensionSettings.turnfold.source") == source
        assert turnfold.status(tavern.chat_id)["connection"]["name"] == "SillyTavern"
        everywhere = turnfold.get("/settings").json()["settings"].get("connection")
        assert everywhere == ("SillyTavern" if scope == "all" else None)
    finally:
        turnfold.patch("/settings", {"connection": None})
        tavern.js(
            "() => { SillyTavern.getContext().extensionSettings.turnfold.source = { kind: 'main', profile: '' }; }"
        )


def test_fork_with_ids(tavern: TavernPage, turnfold: Service) -> None:
    """A fork's own ids for messages are understood."""
    tavern.open_chat(_seed(tavern, *old.fork_with_ids(41)))
    _choose(tavern, "taken")
    tavern.until("() => !SillyTavern.getContext().chat.some((one) => one.is_system)", seconds=30)
    covers = [one["covers"] for one in turnfold.get(f"/chats/{tavern.chat_id}/snippets").json()["items"]]
    assert [(one["first_index"], one["last_index"]) for one in covers] == [(0, 5), (6, 11)]


def test_fork_with_banks(tavern: TavernPage, turnfold: Service) -> None:
    """Of a fork's several memories the active one is taken, and the other one is named."""
    tavern.open_chat(_seed(tavern, *old.fork_with_banks(41)))
    assert "2 banks" in _offer(tavern).inner_text()
    _choose(tavern, "taken")
    told = tavern.page.locator("dialog[open]").get_by_text("several banks. That of “Tom” was not taken")
    told.wait_for(timeout=SECONDS)
    _close(tavern)
    [snippet] = turnfold.get(f"/chats/{tavern.chat_id}/snippets").json()["items"]
    assert snippet["text"] == "As Mira saw it."


def test_what_no_snippet_covers(tavern: TavernPage) -> None:
    """Messages that were hidden without a snippet over them are shown only if one says so."""
    lines, store = old.short()
    for one in lines[11:15]:
        one.update(is_system=True, extra={"sc_ghosted": True})
    tavern.open_chat(_seed(tavern, lines, store))
    _choose(tavern, "taken")
    show = tavern.page.locator("dialog[open] [data-choice=show]")
    show.wait_for(timeout=SECONDS)
    assert [place for place, one in enumerate(tavern.chat) if one["is_system"]] == [7, 11, 12, 13, 14]
    show.click()
    tavern.until("() => SillyTavern.getContext().chat.filter((one) => one.is_system).length === 1")
    assert tavern.chat[7]["is_system"]


def _ready(tavern: TavernPage) -> None:
    """The chat that is open is synced."""
    tavern.until(
        "async () => (await import('/scripts/extensions/third-party/turnfold/session.js')).session.phase === 'ready'"
    )


def _close(tavern: TavernPage) -> None:
    tavern.page.locator("dialog[open] .popup-button-ok").click()
    tavern.until("() => !document.querySelector('dialog[open]')")
