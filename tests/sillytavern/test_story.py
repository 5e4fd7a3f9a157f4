"""The harness itself, for now."""

from tests.support.service import Service
from tests.support.tavern import both_versions
from tests.support.tavern_page import TavernPage


@both_versions
def test_smoke(tavern: TavernPage, turnfold: Service) -> None:
    """A message is sent and answered."""
    assert "Anna" in tavern.send("Hello there.")
    assert tavern.prompt()[-1]["content"] == "Hello there."
    assert tavern.texts[-2] == "Hello there."
    tavern.send("Again.")
    tavern.send("And again.")
    assert len(tavern.file()) == 8


@both_versions
def test_verbs(tavern: TavernPage) -> None:
    """All verbs work."""
    tavern.send("One.")
    tavern.model.say("Another reply.")
    assert tavern.swipe() == "Another reply."
    tavern.edit(1, "One, edited.")
    assert tavern.texts[1] == "One, edited."
    tavern.hide(0)
    assert tavern.chat[0]["is_system"]
    tavern.rename("my chat")
    assert tavern.chat_name == "my chat"
    tavern.delete(2)
    assert len(tavern.chat) == 2
    name = tavern.branch(1)
    assert name != "my chat"
    tavern.open_chat("my chat")
    assert tavern.command("/echo hi") == "hi"
    assert tavern.toasts() [0] == "hi"


@both_versions
def test_group(tavern: TavernPage) -> None:
    """Groups work."""
    tavern.group("Seraphina", "Tom")
    tavern.post("Hello, both.")
    tavern.idle()
    assert len(tavern.chat) >= 4
    assert len(tavern.file()) == len(tavern.chat) + 1
