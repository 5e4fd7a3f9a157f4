"""Ghosts: beside which messages they are, what they tell, where they lead; and that nothing else is touched."""

from collections.abc import Iterator

import pytest

from tests.support.service import Service
from tests.support.tavern import both_versions, line
from tests.support.tavern_page import TavernPage
from tests.support.tavern_story import asks_nobody, in_sync, open_folded, open_story, story

TIP = "#turnfold-tip"
SNIPPET = "dialog[open] .turnfold-snippet"
BELOW = f"{SNIPPET} h4:has-text('Below it') + ul"
HOSTILE = (
    '<img src=data:, onerror="globalThis.hacked = true"> <script>globalThis.hacked = true</script> **bold** & {{user}}'
)
READS = "text => document.querySelector('.turnfold-snippet .turnfold-text').textContent === text"
SHOWN = "text => document.querySelector('#turnfold-tip:not([hidden])')?.textContent.includes(text)"
LOOKUP = "/scripts/extensions/third-party/turnfold/lookup.js"

# Renders a ghosted message 500 times more; gives the milliseconds that takes, and those of each pass of marking.
CLONES = """async () => {
    const chat = document.getElementById('chat');
    const plain = chat.querySelector('.mes[mesid="3"]').cloneNode(true);
    plain.querySelector('.turnfold-ghost').remove();
    delete plain.dataset.turnfold;
    const draw = globalThis.requestAnimationFrame;
    const passes = [];
    const timed = (pass) => (now) => {
        const begun = performance.now();
        pass(now);
        if (pass.name === 'paint') passes.push(performance.now() - begun);
    };
    globalThis.requestAnimationFrame = (pass) => draw(timed(pass));
    const begun = performance.now();
    chat.append(...Array.from({ length: 500 }, () => plain.cloneNode(true)));
    const appended = performance.now() - begun;
    await new Promise((done) => setTimeout(() => draw(() => draw(done)), 0));
    globalThis.requestAnimationFrame = draw;
    return [appended, passes];
}"""


@pytest.fixture(scope="module", autouse=True)
def folding(turnfold: Service) -> Iterator[None]:
    """Old chats fold without a question here."""
    with asks_nobody(turnfold):
        yield


def ghosts(tavern: TavernPage) -> list[int]:
    """The messages with a ghost, by SillyTavern's number."""
    found: list[int] = tavern.js(
        "[...document.querySelectorAll('#chat .mes:has(.turnfold-ghost)')].map((one) => +one.getAttribute('mesid'))"
    )
    return found


def until_ghosts(tavern: TavernPage, number: int) -> None:
    """Wait until so many messages have one."""
    tavern.until("number => document.querySelectorAll('#chat .turnfold-ghost').length === number", number, 20)


def look(tavern: TavernPage, message: int, text: str) -> str:
    """Hover the ghost of a message until its tooltip has told this; gives all of it."""
    tavern.page.mouse.move(1, 1)
    tavern.page.hover(f".mes[mesid='{message}'] .turnfold-ghost")
    tavern.until(SHOWN, text)
    return tavern.page.inner_text(TIP)


@both_versions
def test_a_ghost_tells_the_snippet_over_its_message(tavern: TavernPage, turnfold: Service) -> None:
    """Exactly the ghosted messages have one; tooltip and dialog hold the snippet's text; the file is as it was."""
    chat = open_folded(tavern, turnfold, "told", 40)
    assert ghosts(tavern) == list(range(59))
    snippet = turnfold.get(f"/chats/{chat}/snippets").json()["items"][0]
    told = look(tavern, 3, snippet["text"])
    assert "Layer 0, over messages 0 to 4 (3 turns)." in told
    assert tavern.page.get_attribute(".mes[mesid='3'] .turnfold-ghost", "aria-describedby") == "turnfold-tip"
    tavern.page.click(".mes[mesid='3'] .turnfold-ghost")
    tavern.page.wait_for_selector(SNIPPET)
    shown = tavern.page.inner_text(SNIPPET)
    assert snippet["text"] in shown
    assert "The prompt holds this text." in shown
    tavern.page.click(f"{SNIPPET} >> text=Show the original messages")
    tavern.until("() => !document.querySelector('dialog[open]')")
    tavern.until("() => document.querySelector('.mes[mesid=\"0\"]').getBoundingClientRect().top > -5")
    assert [one["mes"] for one in tavern.file()[1:]] == [one["mes"] for one in story(40)]
    assert not any(one["is_system"] for one in tavern.file()[1:])


def test_a_ghost_is_reached_by_the_keyboard(tavern: TavernPage, turnfold: Service) -> None:
    """Focus shows the tooltip, Escape takes it away, Enter opens one dialog."""
    open_folded(tavern, turnfold, "keyed", 40)
    ghost = tavern.page.locator(".mes[mesid='5'] .turnfold-ghost")
    assert ghost.get_attribute("aria-label") == "Ghosted: a summary stands for this message. Show it"
    ghost.focus()
    tavern.until(SHOWN, "Layer 0, over messages 5 to 10")
    tavern.page.keyboard.press("Escape")
    assert tavern.page.locator(TIP).is_hidden()
    ghost.focus()
    tavern.page.keyboard.press("Enter")
    tavern.page.wait_for_selector(SNIPPET)
    assert tavern.page.locator(SNIPPET).count() == 1
    tavern.page.keyboard.press("Escape")
    tavern.until("() => !document.querySelector('dialog[open]')")


def test_above_and_below(tavern: TavernPage, turnfold: Service) -> None:
    """A merged snippet stands above the message's own; its dialog leads up to the prompt's text and down again."""
    layers = {"layered": {"snippets_per_layer": 3, "snippets_per_promotion": 2}}
    assert turnfold.patch("/settings", layers).is_success
    chat = open_folded(tavern, turnfold, "merged", 45)
    assert turnfold.patch("/settings", {"layered": dict.fromkeys(layers["layered"])}).is_success
    leaf = turnfold.get(f"/chats/{chat}/snippets?state=absorbed&layer=0").json()["items"][0]
    parent = turnfold.get(f"/chats/{chat}/snippets/{leaf['parent_id']}").json()
    tavern.page.click(f".mes[mesid='{leaf['covers']['first_index']}'] .turnfold-ghost")
    tavern.page.wait_for_selector(SNIPPET)
    assert "The prompt holds a text that was merged from this one and others." in tavern.page.inner_text(SNIPPET)
    tavern.page.click(f"{SNIPPET} .turnfold-step")
    tavern.until(READS, parent["text"])
    steps = tavern.page.locator(f"{BELOW} .turnfold-step")
    steps.nth(len(parent["children"]) - 1).wait_for()
    assert steps.count() == len(parent["children"])
    steps.nth(parent["children"].index(leaf["id"])).click()
    tavern.until(READS, leaf["text"])
    tavern.page.keyboard.press("Escape")
    tavern.until("() => !document.querySelector('dialog[open]')")


def test_what_is_rendered_anew_has_its_ghost(tavern: TavernPage, turnfold: Service) -> None:
    """Deleting, editing, adding messages and loading older ones keeps ghosts beside the right messages."""
    open_folded(tavern, turnfold, "anew", 60)  # 121 messages, of which SillyTavern shows 100
    assert ghosts(tavern) == list(range(21, 101))
    tavern.page.click("#show_more_messages")
    until_ghosts(tavern, 101)
    tavern.send("And now?")
    assert ghosts(tavern)[:101] == list(range(101))
    tavern.edit(50, "Tom is quiet.")
    assert 50 in ghosts(tavern)
    tavern.delete(110)
    assert ghosts(tavern)[:101] == list(range(101))


def test_icons_off_and_on(tavern: TavernPage, turnfold: Service) -> None:
    """Without icons nothing is marked or dimmed; with them all is as before."""
    open_folded(tavern, turnfold, "plain", 40)
    switch = """on => {
        SillyTavern.getContext().extensionSettings.turnfold.icons = on;
        SillyTavern.getContext().saveSettingsDebounced();
    }"""
    tavern.js(switch, False)
    tavern.until("() => !document.querySelector('.turnfold-ghost, [data-turnfold]')")
    tavern.js(switch, True)
    until_ghosts(tavern, 59)


def test_another_chat_has_none(tavern: TavernPage, turnfold: Service) -> None:
    """Ghosts go with their chat, and come back with it."""
    open_folded(tavern, turnfold, "left", 40)
    tavern.new_chat()
    assert ghosts(tavern) == []
    tavern.open_chat("left")
    until_ghosts(tavern, 59)


def test_hostile_text_is_text(tavern: TavernPage, turnfold: Service) -> None:
    """Markup in messages, names and snippets is shown letter for letter, in tooltip and dialog."""
    lines = story(40)
    lines[1] = line("user", HOSTILE, name=HOSTILE)
    chat = open_story(tavern, "hostile", lines)
    in_sync(tavern)
    turnfold.settled(chat)
    until_ghosts(tavern, 59)
    first = turnfold.get(f"/chats/{chat}/snippets").json()["items"][0]["id"]
    assert turnfold.patch(f"/chats/{chat}/snippets/{first}", {"text": HOSTILE}).is_success
    tavern.js(f"async () => (await import('{LOOKUP}')).forget()")
    assert HOSTILE in look(tavern, 2, "onerror")
    tavern.page.click(".mes[mesid='2'] .turnfold-ghost")
    tavern.page.wait_for_selector(SNIPPET)
    assert tavern.page.locator(f"{SNIPPET} .turnfold-text").first.inner_text() == HOSTILE
    assert tavern.page.locator(f"{SNIPPET} img, {SNIPPET} script, {TIP} img, {TIP} script").count() == 0
    tavern.page.keyboard.press("Escape")
    tavern.until("() => !document.querySelector('dialog[open]')")
    assert tavern.js("globalThis.hacked") is None


def test_many_messages_are_marked_in_one_quick_pass(tavern: TavernPage, turnfold: Service) -> None:
    """To mark 500 messages that are rendered at once takes about as long as to put them into the page, and one pass."""
    open_folded(tavern, turnfold, "long", 40)
    appended, passes = tavern.js(CLONES)
    assert len(passes) == 1
    assert passes[0] < 50 + 4 * appended
    until_ghosts(tavern, 559)
