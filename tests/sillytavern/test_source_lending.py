"""What SillyTavern's models are asked by the extension, and what it leaves behind: lending.js in a real SillyTavern."""

from typing import Any

import pytest
from playwright.sync_api import Route

from tests.support.fake_model import FakeModel
from tests.support.fake_replies import answer, blank, status
from tests.support.tavern import both_versions
from tests.support.tavern_page import TavernPage

MAIN = {"kind": "main", "profile": ""}
SYSTEM = "You fold {{user}}'s story. {{setvar::h6::fallen}}"
PASSAGE = "User: Where is {{char}}? <b>\n{{random::a::b}}\nSeraphina: Here. $& $1"
CALL: dict[str, Any] = {
    "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": PASSAGE}],
    "system_prompt": SYSTEM,
    "prompt": PASSAGE,
    "max_tokens": None,
    "temperature": None,
}

ASK = """async ([call, source]) => {
    const { ask } = await import('/scripts/extensions/third-party/turnfold/lending.js');
    globalThis.tfCut = new AbortController();
    return ask(call, source, globalThis.tfCut.signal)
        .then((said) => said, (error) => ({ failed: error.message, status: error.status ?? null, name: error.name }));
}"""

# Everything that the user may have written for a play, each with a word that must not reach the model.
PLAY = """async () => {
    const { chatCompletionSettings: chat, powerUserSettings: power, textCompletionSettings: text } =
        SillyTavern.getContext();
    for (const prompt of chat.prompts) if (!prompt.marker) prompt.content = `LEAK preset ${prompt.identifier}`;
    chat.assistant_prefill = 'LEAK prefill';
    chat.openai_max_tokens = 321;
    chat.n = 3;
    power.persona_description = 'LEAK persona';
    power.user_prompt_bias = 'LEAK bias';
    power.custom_stopping_strings = '["LEAK stop"]';
    power.sysprompt = { ...power.sysprompt, enabled: true, content: 'LEAK sysprompt' };
    text.negative_prompt = 'LEAK negative';
    const context = SillyTavern.getContext();
    Object.assign(context.chatMetadata, { note_prompt: 'LEAK note', note_interval: 1, note_depth: 0 });
    context.setExtensionPrompt('leak', 'LEAK injected', 0, 0);
    context.extensionSettings.regex = [{ id: 'leak', scriptName: 'leak', findRegex: '/e/g', replaceString: 'LEAK',
        trimStrings: [], placement: [1, 2], disabled: false, markdownOnly: false, promptOnly: false,
        runOnEdit: true, substituteRegex: 0, minDepth: null, maxDepth: null }];
}"""

STATE = """async () => {
    const context = SillyTavern.getContext();
    const script = await import('/script.js');
    return JSON.stringify({ chat: context.chatCompletionSettings, text: context.textCompletionSettings,
        power: { ...context.powerUserSettings, servers: 0 }, length: script.amount_gen, size: script.max_context,
        api: context.mainApi,
        injected: context.extensionPrompts.leak, variables: context.extensionSettings.variables,
        local: context.chatMetadata.variables, sending: script.is_send_press, chatLength: context.chat.length,
        shown: getComputedStyle(document.querySelector('#mes_stop')).display,
        listeners: ['CHAT_COMPLETION_SETTINGS_READY', 'GENERATE_AFTER_COMBINE_PROMPTS', 'GENERATION_STOPPED']
            .map((name) => context.eventSource.events[context.eventTypes[name]]?.length ?? 0) });
}"""


def ask(tavern: TavernPage, source: dict[str, str] = MAIN, **fields: Any) -> Any:
    """What the call comes to: an answer, or `failed` and `status`."""
    return tavern.js(ASK, [{**CALL, **fields}, source])


@pytest.fixture
def playing(tavern: TavernPage) -> TavernPage:
    """A page whose user has written things for a play everywhere."""
    tavern.js(PLAY)
    return tavern


@both_versions
def test_the_texts_alone_reach_the_model(playing: TavernPage, model: FakeModel) -> None:
    """Persona, notes, injections, the preset's prompts, stop strings, macros and scripts stay out of the request."""
    before = playing.js(STATE)
    model.say("The gate is here.")
    said = ask(playing)
    assert said["text"] == "The gate is here."
    sent = model.calls[-1].body
    assert sent["messages"] == CALL["messages"]
    assert "LEAK" not in str(sent)
    assert (sent["max_tokens"], sent["model"], sent.get("stream", False), sent.get("n", 1)) == (
        321,
        "fake-small",
        False,
        1,
    )
    assert playing.js(STATE) == before


@both_versions
def test_length_and_temperature_are_the_calls(playing: TavernPage, model: FakeModel) -> None:
    """They hold for this request, with 1024 tokens at most or what the user has for replies, which stays as it is."""
    before = playing.js(STATE)
    model.say("Short.", "Long.")
    ask(playing, max_tokens=77, temperature=0.25)
    assert (model.calls[-1].body["max_tokens"], model.calls[-1].body["temperature"]) == (77, 0.25)
    ask(playing, max_tokens=4576)
    assert model.calls[-1].body["max_tokens"] == 1024
    assert playing.js(STATE) == before


@both_versions
def test_a_failing_api_is_told_by_its_status(playing: TavernPage, model: FakeModel) -> None:
    """401, 429 and 500 are told with their status, an answer without a text without one; the settings stay."""
    before = playing.js(STATE)
    for code in (401, 429, 500):
        model.do(status(code))
        assert ask(playing)["status"] == code
    model.do(blank())
    assert ask(playing) == {
        "failed": "SillyTavern's model answered without a text.",
        "status": None,
        "name": "Error",
    }
    assert playing.js(STATE) == before
    assert playing.toasts() == []


@both_versions
def test_a_cut_ends_the_models_work(playing: TavernPage, model: FakeModel) -> None:
    """What is cut is cut at the model too, settings that are saved meanwhile are the user's, and they stay."""
    before = playing.js(STATE)
    stored = playing.tavern.settings
    gone, called = model.disconnects, len(model.calls)
    model.hold()
    playing.js(f"(given) => {{ globalThis.tfAsked = ({ASK})(given); }}", [{**CALL, "max_tokens": 55}, MAIN])
    model.wait_for_calls(len(model.requests) + (called == len(model.calls)))
    playing.js("async () => (await import('/script.js')).saveSettings()")
    assert playing.tavern.settings["oai_settings"]["openai_max_tokens"] == 321
    assert playing.tavern.settings["amount_gen"] == stored["amount_gen"]
    playing.js("globalThis.tfCut.abort()")
    assert playing.js("globalThis.tfAsked")["name"] == "AbortError"
    model.wait_for_disconnects(gone + 1)
    model.release()
    assert playing.js(STATE) == before


TEXT_API = """async ([url, instruct]) => {
    const { textCompletionSettings: text, powerUserSettings: power } = SillyTavern.getContext();
    const { textgen_types } = await import('/scripts/textgen-settings.js');
    text.type = textgen_types.GENERIC;
    text.server_urls = { ...text.server_urls, [text.type]: url };
    Object.assign(power.instruct, { enabled: instruct, input_sequence: '<in>', input_suffix: '</in>', wrap: false,
        system_sequence: '<sys>', system_suffix: '</sys>', story_string_prefix: '<sys>', story_string_suffix: '</sys>',
        output_sequence: '<out>', output_suffix: '</out>', names_behavior: 'none', stop_sequence: '<end>',
        last_system_sequence: '', last_output_sequence: '', macro: false, system_same_as_user: false });
    document.querySelector('#main_api').value = 'textgenerationwebui';
    jQuery('#main_api').trigger('change');
}"""


@both_versions
@pytest.mark.parametrize("instruct", [True, False])
def test_a_text_completion_gets_the_template_and_no_more(playing: TavernPage, model: FakeModel, instruct: bool) -> None:
    """A text completion API gets the two texts in the user's template, if there is one, and the template's ends."""
    playing.js(TEXT_API, [model.base_url, instruct])
    before = playing.js(STATE)
    try:
        model.say("Folded.")
        assert ask(playing, max_tokens=88)["text"] == "Folded."
        sent = model.calls[-1].body
        assert playing.js(STATE) == before
    finally:
        playing.js("() => jQuery('#main_api').val('openai').trigger('change')")
    assert SYSTEM in sent["prompt"]
    assert PASSAGE in sent["prompt"]
    assert "LEAK" not in str(sent)
    assert sent["max_tokens"] == 88
    if instruct:
        prompt = sent["prompt"].replace("</sys>\n", "</sys>")  # 1.13.5 puts a line's end there
        assert prompt.startswith(f"<sys>{SYSTEM}</sys><in>{PASSAGE}</in>")
        assert "<end>" in sent["stop"]
    else:
        assert sent["prompt"] == f"{SYSTEM}\n{PASSAGE}\n"
    assert not any("User:" in end for end in sent.get("stop") or [])


KOBOLD = """async (api) => {
    const { kai_settings } = await import('/scripts/kai-settings.js');
    kai_settings.preset_settings = 'gui';
    jQuery('#main_api').val(api).trigger('change');
}"""


def test_kobold_is_asked_by_sillytaverns_own_means(playing: TavernPage) -> None:
    """The older APIs get the two texts too, and nothing of the play's; what they refuse is told."""
    asked: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = [{"results": [{"text": "Folded."}]}, {"error": {"message": "Too long"}}]

    def reply(route: Route) -> None:
        asked.append(route.request.post_data_json or {})
        route.fulfill(json=answers.pop(0))

    playing.expect_errors("Error getting status")  # SillyTavern's own, of an API that is left again
    playing.page.route("**/api/backends/kobold/generate", reply)
    playing.js(KOBOLD, "kobold")
    before = playing.js(STATE)
    try:
        assert ask(playing)["text"] == "Folded."
        assert ask(playing)["failed"]
        assert playing.js(STATE) == before
    finally:
        playing.js(KOBOLD, "openai")
        playing.page.unroute("**/api/backends/kobold/generate", reply)
    assert all(SYSTEM in one["prompt"] and PASSAGE in one["prompt"] for one in asked)
    assert "LEAK" not in str(asked)


PROFILE = """([url, id]) => {
    const { extensionSettings } = SillyTavern.getContext();
    extensionSettings.connectionManager ??= { profiles: [], selectedProfile: null };
    const { profiles } = extensionSettings.connectionManager;
    if (!profiles.some((one) => one.id === id)) profiles.push({ id, name: 'Small one', mode: 'cc', api: 'custom',
        preset: 'Default', model: 'fake-profile', 'api-url': `${url}/v1`, exclude: [] });
}"""


@both_versions
def test_a_profile_is_asked_in_the_same_way(playing: TavernPage, model: FakeModel) -> None:
    """A connection profile's model gets the texts alone, under its own name, and failures are told."""
    playing.js(PROFILE, [model.base_url, "p1"])
    source = {"kind": "profile", "profile": "p1"}
    before = playing.js(STATE)
    model.say("By the profile.")
    assert ask(playing, source, max_tokens=66)["text"] == "By the profile."
    sent = model.calls[-1].body
    assert (sent["messages"], sent["model"], sent["max_tokens"]) == (CALL["messages"], "fake-profile", 66)
    assert "LEAK preset" not in str(sent)
    model.do(status(429), answer(""))
    assert ask(playing, source)["status"] == 429
    assert ask(playing, source)["failed"] == "SillyTavern's model answered without a text."
    assert "failed" in ask(playing, {"kind": "profile", "profile": "gone"})
    assert playing.js(STATE) == before
