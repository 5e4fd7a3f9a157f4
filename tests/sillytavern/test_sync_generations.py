"""Every kind of generation has the memory in its prompt, and what it stands for left out; held replies are not sent."""

from collections.abc import Callable

import pytest

from tests.support.service import Service
from tests.support.tavern_page import TavernPage
from tests.support.tavern_story import asks_nobody, open_folded
from tests.support.tavern_traffic import Traffic, sent

OPTION = """async name => {
    jQuery(`#option_${name}`).trigger('click');
    await tavernTest.until('a generation', () => tavernTest.busy());
    await tavernTest.idle();
}"""


@pytest.fixture(scope="module")
def folding(turnfold: Service) -> None:
    """All but the last turn is folded."""
    turnfold.patch("/settings", {"layered": {"verbatim_turns": 1, "turns_per_batch": 1}})


@pytest.mark.usefixtures("folding")
def test_kinds(tavern: TavernPage, turnfold: Service) -> None:
    """Going on, regenerating and writing in the user's place have it too."""
    with asks_nobody(turnfold):
        open_folded(tavern, turnfold, "kinds", 4)
    for kind in ("continue", "regenerate", "impersonate"):
        calls = len(tavern.model.calls)
        tavern.js(OPTION, kind)
        assert len(tavern.model.calls) > calls
        assert "conversation_summary" in sent(tavern)
        assert "Mira asks about gate 1." not in [one["content"][:23] for one in tavern.prompt()]
    tavern.js("document.querySelector('#send_textarea').value = ''")


@pytest.mark.usefixtures("folding")
def test_group(tavern: TavernPage, turnfold: Service) -> None:
    """A group's chat is remembered as any other, whoever of it speaks."""
    with asks_nobody(turnfold):
        tavern.group("Seraphina", "Tom")
        traffic = Traffic(tavern, turnfold)
        for text in ("Where is the lantern?", "And the harbour?"):
            tavern.post(text)
            tavern.idle()
        assert traffic.is_equal()
        turnfold.settled(tavern.chat_id)
        traffic.remembered()
    calls = len(tavern.model.calls)
    tavern.post("And the bridge?")
    tavern.idle()
    for call in tavern.model.calls[calls:]:
        prompt = str(call.messages)
        assert "conversation_summary" in prompt
        assert "Where is the lantern?" not in [one["content"] for one in call.messages]


def test_streamed(open_tavern: Callable[..., TavernPage], turnfold: Service) -> None:
    """A reply that is still being streamed is sent once it is complete, and once."""
    tavern = open_tavern(stream=True)
    tavern.open("Seraphina")
    traffic = Traffic(tavern, turnfold)
    assert traffic.is_equal()
    traffic.calls()
    tavern.model.hold()
    try:
        tavern.post("Tell me a story.")
        tavern.until("() => SillyTavern.getContext().chat.at(-1).mes === 'Tell me a story.' || tavernTest.busy()")
        assert traffic.history()[-1]["content"] == "Tell me a story."
    finally:
        tavern.model.release()
    tavern.idle()
    assert traffic.is_equal()
    assert traffic.writes() == ["POST messages", "POST messages"]
    assert traffic.history()[-1]["role"] == "assistant"


def test_character_renamed(tavern: TavernPage, turnfold: Service) -> None:
    """The chat of a character that gets another name is the same chat, under that name."""
    tavern.js("tavernTest.character('Tam')")
    tavern.open("Tam")
    traffic = Traffic(tavern, turnfold)
    tavern.send("Hello, Tam.")
    assert traffic.is_equal()
    chat = tavern.chat_id
    tavern.command("/rename-char silent=true chats=false Tamsin")
    tavern.until("() => SillyTavern.getContext().name2 === 'Tamsin'")
    assert traffic.is_equal()
    assert tavern.chat_id == chat
    assert turnfold.get(f"/chats/{chat}").json()["character_name"] == "Tamsin"


def test_folded_ahead(tavern: TavernPage, turnfold: Service) -> None:
    """A rolling summary that is due is folded and known before anybody asks for the next reply."""
    traffic = Traffic(tavern, turnfold)
    assert traffic.is_equal()
    rolling = {
        "strategy": "summary_buffer",
        "settings": {"summary_buffer": {"max_messages_before_summary": 4, "recent_messages_to_keep": 2}},
    }
    assert turnfold.patch(f"/chats/{tavern.chat_id}", rolling).is_success
    for text in ("Where is the lantern?", "And the harbour?"):
        tavern.command(f"/send {text}")
        tavern.command("/sendas name=Seraphina Behind the bridge.")
    assert traffic.is_equal()
    assert traffic.remembered()
