"""The memory is in SillyTavern's prompt, what it stands for is not, and neither ever waits for the server."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

import pytest

from tests.support.service import Service
from tests.support.tavern import both_versions
from tests.support.tavern_page import TavernPage
from tests.support.tavern_traffic import EXTENSION, Traffic, sent


@pytest.fixture
def traffic(tavern: TavernPage, turnfold: Service) -> Traffic:
    """The page's requests, in a chat some of which is folded."""
    turnfold.patch("/settings", {"on_backlog": "all", "layered": {"verbatim_turns": 1, "turns_per_batch": 1}})
    watched = Traffic(tavern, turnfold)
    tavern.js(_STORY)
    tavern.command("/sendas name=Seraphina The tide is out.")
    assert watched.is_equal()
    turnfold.settled(tavern.chat_id)
    watched.ghosted(4)
    return watched


REGENERATE = """async () => {
    const { chat } = SillyTavern.getContext();
    const before = chat.at(-1).mes;
    jQuery('#option_regenerate').trigger('click');
    const isDone = () => !tavernTest.busy() && !chat.at(-1).is_user && chat.at(-1).mes !== before;
    await tavernTest.until('another reply', isDone);
}"""
_STORY = """() => {
    const { chat } = SillyTavern.getContext();
    const said = (mes, is_user) => ({ name: is_user ? 'User' : 'Seraphina', is_user, mes, extra: {} });
    for (const word of ['lantern', 'harbour', 'bridge']) {
        chat.push(said(`Where is the ${word}?`, true), said(`The ${word} is far away.`, false));
    }
    chat.push(said('And the tide?', true));
}"""


@both_versions
def test_in_the_prompt(tavern: TavernPage, traffic: Traffic, turnfold: Service) -> None:
    """What is sent is the memory as the server renders it, once, and what the server's own prompt has."""
    turnfold.post(f"/chats/{tavern.chat_id}/pause")
    memory = turnfold.get(f"/chats/{tavern.chat_id}/preview").json()["text"]
    replies: list[Callable[[], str]] = [
        lambda: tavern.send("What now?"),
        tavern.swipe,
        lambda: str(tavern.js(REGENERATE)),
    ]
    for generate in replies:
        generate()
        prompt = [one["content"] for one in tavern.prompt()]
        assert prompt.count(memory) == 1
        visible = [one["content"] for one in traffic.history() if not one["ghosted"]]
        assert [one["content"] for one in tavern.prompt() if one["role"] != "system"] == visible[:-1]
    assert tavern.js("SillyTavern.getContext().substituteParams('{{turnfold_memory}}')") == traffic.memory()["text"]
    assert traffic.is_equal()


PLACED = """async (placement) => {
    const { settings } = await import('/scripts/extensions/third-party/turnfold/settings.js');
    settings().placement = placement;
    (await import('/scripts/extensions/third-party/turnfold/prompt.js')).place();
}"""
MAIN = """text => {
    const { prompts } = SillyTavern.getContext().chatCompletionSettings;
    const main = prompts.find((one) => one.identifier === 'main');
    const before = main.content;
    main.content = text;
    return before;
}"""


@both_versions
def test_placed(tavern: TavernPage, traffic: Traffic, turnfold: Service) -> None:
    """The memory stands where the settings say, in the role that they say, once: after or before the main prompt, in
    the chat at a depth, or only where a prompt has the macro.
    """
    turnfold.post(f"/chats/{tavern.chat_id}/pause")
    memory = traffic.up_to_date()
    before = tavern.js(MAIN, "You are Seraphina.")

    def roles(text: str, **placement: int) -> list[tuple[str, str]]:
        tavern.js(PLACED, {"depth": 4, "role": 0, **placement})
        tavern.send(text)
        return [(one["role"], one["content"]) for one in tavern.prompt()]

    try:
        assert roles("One.", position=0)[:2] == [("system", "You are Seraphina."), ("system", memory)]
        assert roles("Two.", position=2)[:2] == [("system", memory), ("system", "You are Seraphina.")]
        said = roles("Three.", position=1, depth=1, role=1)
        assert (said.count(("user", memory)), said[-2:]) == (1, [("user", memory), ("user", "Three.")])
        tavern.js(MAIN, "Know this: {{turnfold_memory}}")
        said = roles("Four.", position=-1)
        assert said[0] == ("system", f"Know this: {memory}")
        assert sum(memory in content for _, content in said) == 1
    finally:
        tavern.js(MAIN, before)
        tavern.js(PLACED, {"position": 0, "depth": 4, "role": 0})


TEXT_API = """async url => {
    const { textCompletionSettings: text, powerUserSettings: power } = SillyTavern.getContext();
    const { textgen_types } = await import('/scripts/textgen-settings.js');
    text.type = textgen_types.GENERIC;
    text.server_urls = { ...text.server_urls, [text.type]: url };
    power.instruct.enabled = false;
    jQuery('#main_api').val('textgenerationwebui').trigger('change');
    (await import('/script.js')).setOnlineStatus('fake-small');
}"""


def test_placed_in_a_text_completion(tavern: TavernPage, traffic: Traffic) -> None:
    """A text completion has the memory once, before the chat, and not the messages that it stands for."""
    memory = traffic.up_to_date()
    tavern.js(TEXT_API, tavern.model.base_url)
    try:
        tavern.send("Where now?")
        sent = tavern.model.calls[-1].body["prompt"]
    finally:
        tavern.js("jQuery('#main_api').val('openai').trigger('change')")
        tavern.js("tavernTest.ready()")
    assert sent.count(memory) == 1
    assert sent.index(memory) < sent.index("The tide is out.") < sent.index("Where now?")
    assert "Where is the lantern?" not in sent


@both_versions
@pytest.mark.usefixtures("traffic")
def test_quiet(tavern: TavernPage) -> None:
    """A quiet prompt has the chat as it is, and no memory; the next reply has it again."""
    tavern.js("SillyTavern.getContext().generateQuietPrompt({ quietPrompt: 'Describe the place.' })")
    assert "The lantern is far away." in sent(tavern)
    assert "conversation_summary" not in sent(tavern)
    tavern.send("What now?")
    assert "Where is the lantern?" not in [one["content"] for one in tavern.prompt()]
    assert "conversation_summary" in sent(tavern)


def test_left_at_once(tavern: TavernPage, traffic: Traffic) -> None:
    """In another chat nothing of the memory is left, even if it was being asked for."""
    tavern.js(f"async () => {{ void (await import('{EXTENSION}/memory.js')).refresh(); }}")
    tavern.new_chat()
    tavern.send("Hello.")
    assert "conversation_summary" not in sent(tavern)
    assert traffic.memory()["text"] == ""


def test_away(tavern: TavernPage, traffic: Traffic) -> None:
    """Without the server the known memory is used, even by a page that never saw it; one toast tells of it, one of its
    return, and what was missed is synced then.
    """
    known, name = traffic.remembered(), tavern.chat_name
    with traffic.cut():
        tavern.load()
        traffic.note_toasts()
        tavern.open("Seraphina")
        tavern.open_chat(name)
        traffic.phase("away")
        for text in ("Is anybody there?", "Nobody?"):
            tavern.send(text)
            assert known in [one["content"] for one in tavern.prompt()]
            assert "Where is the lantern?" not in [one["content"] for one in tavern.prompt()]
        assert traffic.said("The last known memory is used") == 1
    tavern.js(f"async () => {{ (await import('{EXTENSION}/sync.js')).changed(); }}")
    traffic.phase("ready")
    assert traffic.is_equal()
    assert traffic.said("in sync again") == 1


@contextmanager
def silent() -> Iterator[str]:
    """The address of a server that takes every call and answers none."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_slow(tavern: TavernPage, traffic: Traffic, turnfold: Service) -> None:
    """A server that does not answer delays no reply."""
    tavern.expect_errors("net::ERR_")
    with silent() as nobody:
        traffic.change(server=nobody)
        before = monotonic()
        tavern.send("Is anybody there?")
        assert monotonic() - before < 10
        traffic.change(server=turnfold.url)
    assert traffic.is_equal()


def test_disabled(tavern: TavernPage, traffic: Traffic) -> None:
    """Switched off, nothing is injected, left out or synced; switched on again, all of it is."""
    traffic.change(enabled=False)
    traffic.calls()
    tavern.send("Without you.")
    assert "conversation_summary" not in sent(tavern)
    assert "Where is the lantern?" in [one["content"] for one in tavern.prompt()]
    assert traffic.calls() == []
    traffic.change(enabled=True)
    assert traffic.is_equal()
    assert traffic.remembered()
