"""Which source writes the summaries, as the panel chooses it, and when SillyTavern's model is free for it."""

from collections.abc import Callable

import pytest

from tests.support.fake_model import FakeModel
from tests.support.lender import EXTENSION, MEMORY, Lender
from tests.support.service import Service
from tests.support.tavern_page import TavernPage

SOURCES = f"async () => (await import('{EXTENSION}/source.js')).sources()"
PROFILE = """url => {
    const { extensionSettings } = SillyTavern.getContext();
    extensionSettings.connectionManager ??= { profiles: [], selectedProfile: null };
    extensionSettings.connectionManager.profiles = [{ id: 'p1', name: 'Small one', mode: 'cc', api: 'custom',
        preset: 'Default', model: 'fake-profile', 'api-url': `${url}/v1`, exclude: [] }];
}"""
FREE = f"""async ([name, given]) => {{
    const gate = await import('{EXTENSION}/gate.js');
    const {{ eventSource, eventTypes }} = SillyTavern.getContext();
    await gate.free();
    await eventSource.emit(eventTypes[name], ...given);
    return gate.isFree();
}}"""
EMIT = """async name => {
    const { eventSource, eventTypes } = SillyTavern.getContext();
    await eventSource.emit(eventTypes[name], {});
}"""
UNTIL_FREE = f"""async () => {{
    const began = performance.now();
    await (await import('{EXTENSION}/gate.js')).free();
    return performance.now() - began;
}}"""


@pytest.fixture
def lender(tavern: TavernPage, turnfold: Service, model: FakeModel) -> Lender:
    """A page whose chats are folded by nobody's model yet."""
    turnfold.patch("/settings", {**MEMORY, "connection": None})
    return Lender(tavern, turnfold, model)


def test_the_choices(lender: Lender) -> None:
    """SillyTavern's own model is the first choice, the built-in one the last; profiles are named, with their risk."""
    lender.tavern.js(PROFILE, lender.model.base_url)
    sources = lender.tavern.js(SOURCES)
    assert [one["kind"] for one in sources] == ["main", "profile", "openai", "ollama", "extractive"]
    assert sources[1]["profiles"] == [{"id": "p1", "name": "Small one"}]
    assert "formatting of its own" in sources[1]["hint"]


def test_a_choice_is_the_servers(lender: Lender) -> None:
    """A choice makes the connection and has all chats use it, or the open one alone; what is in force is read back."""
    lender.choose("openai", base_url=f"{lender.model.base_url}/v1", model="small")
    made = lender.turnfold.get("/connections/sillytavern-openai").json()
    assert (made["provider"], made["model"]) == ("openai", "small")
    assert lender.turnfold.get("/settings").json()["settings"]["connection"] == "sillytavern-openai"
    lender.tavern.js(f"import('{EXTENSION}/settings.js').then((all) => {{ all.settings().scope = 'chat'; }})")
    lender.choose("extractive")
    lender.tavern.js(f"import('{EXTENSION}/settings.js').then((all) => {{ all.settings().scope = 'all'; }})")
    assert lender.turnfold.get("/settings").json()["settings"]["connection"] == "sillytavern-openai"
    assert lender.turnfold.status(lender.tavern.chat_id)["connection"]["name"] == "extractive"
    lender.until(lambda: lender.shown()["kind"] == "extractive")


def test_a_profiles_model_folds(lender: Lender) -> None:
    """With a profile chosen its model writes the summaries, and the one that the user plays with does not."""
    lender.tavern.js(PROFILE, lender.model.base_url)
    asked = len(lender.summaries())
    lender.choose("profile", profile="p1")
    assert lender.settled(lender.begin(4))["counts"]["ghosted"] == 4
    assert {one.body["model"] for one in lender.summaries()[asked:]} == {"fake-profile"}
    assert lender.shown()["kind"] == "profile"
    lender.choose("main")


def test_what_counts_as_a_generation(lender: Lender) -> None:
    """Dry runs take nothing; what begins, and a group's whole round until half a second after its end, does."""
    page = lender.tavern
    assert page.js(FREE, ["GENERATION_AFTER_COMMANDS", ["normal", {}, True]])
    assert not page.js(FREE, ["GENERATION_AFTER_COMMANDS", ["normal", {}, False]])
    assert not page.js(FREE, ["GROUP_WRAPPER_STARTED", [{}]])
    page.js(EMIT, "GENERATION_ENDED")
    page.js("new Promise((done) => setTimeout(done, 700))")
    assert not page.js(f"import('{EXTENSION}/gate.js').then((gate) => gate.isFree())")
    page.js(EMIT, "GROUP_WRAPPER_FINISHED")
    assert page.js(UNTIL_FREE) > 300


def test_two_tabs_share_the_work(lender: Lender, open_tavern: Callable[..., TavernPage]) -> None:
    """Each prompt is answered by one of two tabs with the same chat, never by both."""
    lender.choose()
    _, name = lender.seed(6)
    other = open_tavern(configure=False)
    other.open("Seraphina")
    other.open_chat(name)
    asked = len(lender.summaries())
    lender.tavern.open_chat(name)
    found = lender.settled(lender.tavern.chat_id)
    assert found["counts"]["ghosted"] == 8
    assert len(lender.summaries()) - asked <= found["layers"][0]["snippets"]
