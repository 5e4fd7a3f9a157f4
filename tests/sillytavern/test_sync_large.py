"""A chat of 10,000 messages, and one that is open in two tabs."""

from collections.abc import Callable

from tests.support.service import Service
from tests.support.tavern import SillyTavern, line
from tests.support.tavern_page import TavernPage
from tests.support.tavern_traffic import EXTENSION, Traffic

MESSAGES = 10_000
WORDS = "The river bends to the north behind the mill, and the road goes with it as far as the bridge. " * 4
# What the extension does with such a chat before it yields to the page, on messages that it has never seen.
BLOCKED = f"""async () => {{
    const {{ digest, identify, toHistory }} = await import('{EXTENSION}/history.js');
    const chat = structuredClone(SillyTavern.getContext().chat);
    const begun = performance.now();
    identify(chat);
    const {{ lines }} = toHistory(chat);
    const atOnce = performance.now() - begun;
    let slice = performance.now();
    let longest = 0;
    await digest(lines, async () => {{
        longest = Math.max(longest, performance.now() - slice);
        await new Promise((done) => setTimeout(done));
        slice = performance.now();
    }});
    return [atOnce, longest].map(Math.round);
}}"""


def test_opened(
    tavern: TavernPage,
    turnfold: Service,
    sillytavern: SillyTavern,
    record_property: Callable[[str, object], None],
) -> None:
    """Opening it, known as it is, is one small question; a message in it is one small request."""
    traffic = Traffic(tavern, turnfold)
    turnfold.patch("/settings", {"on_backlog": "ask"})
    story = [line("user" if at % 2 else "assistant", f"{at}: {WORDS}") for at in range(MESSAGES)]
    tavern.open_chat(sillytavern.seed_chat("Seraphina", "long", story, {"integrity": "a-long-chat"}))
    assert traffic.settle(90)
    assert turnfold.get("/chats/a-long-chat/digest").json()["messages"] == MESSAGES
    tavern.new_chat()
    assert traffic.settle()
    traffic.calls()
    tavern.open_chat("long")
    assert traffic.settle()
    calls = traffic.calls()
    assert calls.count("GET digest") == 1
    assert {call for call in calls if not call.startswith("GET")} == set()
    assert "GET messages" not in calls
    tavern.command("/send And on.")
    assert traffic.settle()
    assert traffic.writes() == ["POST messages"]
    at_once, longest = tavern.js(BLOCKED)
    record_property("blocked", f"{MESSAGES} messages: {at_once} ms at once, then slices of at most {longest} ms")


def test_two_tabs(tavern: TavernPage, turnfold: Service, open_tavern: Callable[..., TavernPage]) -> None:
    """A second tab finds the chat as the first one left it, and changes nothing by looking; what it adds is kept."""
    first = Traffic(tavern, turnfold)
    tavern.send("Hello.")
    assert first.is_equal()
    first.calls()
    name = tavern.chat_name
    other = open_tavern(configure=False)
    second = Traffic(other, turnfold)
    other.open("Seraphina")
    other.open_chat(name)
    assert second.is_equal()
    assert second.writes() == []
    other.send("From the other tab.")
    assert second.is_equal()
    tavern.open_chat(name)
    tavern.js("SillyTavern.getContext().reloadCurrentChat()")
    assert first.is_equal()
    assert first.writes() == []
    assert len(first.history()) == len(other.chat)
