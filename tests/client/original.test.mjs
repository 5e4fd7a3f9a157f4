/** static/sillytavern/original.js: what Summaryception leaves behind, in Turnfold's words. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isHiddenThere, linkOf, settingsOf, sizeOf, translated } from '../../static/sillytavern/original.js';

const OURS = { connection: 'default', layered: {
    verbatim_turns: 10, turns_per_batch: 3, snippets_per_layer: 30, snippets_per_promotion: 3, max_layers: 5,
    preset: 'narrative', user_prompt: null, system_prompt: null, injection_template: null, strip_patterns: [],
} };
const USUAL = { verbatimTurns: 10, turnsPerSummary: 3, snippetsPerLayer: 30, snippetsPerPromotion: 3, maxLayers: 5,
    promptPreset: 'narrative', summarizerUserPrompt: 'Its own words. {{story_txt}}', summarizerSystemPrompt: 'Its own.',
    injectionTemplate: '<summary>\n{{summary}}\n</summary>', stripPatterns: ['<output>', '</output>'],
    pauseSummarization: false, connectionSource: 'default' };

const carried = (theirs, ours = OURS) => Object.fromEntries(settingsOf({ ...USUAL, ...theirs }, ours).map((one) => [one.id, one]));

test('nothing is carried over from its defaults, nor from nothing', () => {
    assert.deepEqual(settingsOf(USUAL, OURS), []);
    for (const none of [undefined, null, 'text', 7, []]) assert.deepEqual(settingsOf(none, OURS), []);
    assert.deepEqual(settingsOf({ ...USUAL, injectionTemplate: '[Summary of the story so far: {{summary}}]' }, OURS), []);
});

test('a number that differs is carried over, and what is out of range is clamped and said', () => {
    const found = carried({ verbatimTurns: '14', maxLayers: 20, snippetsPerLayer: -3, turnsPerSummary: 'x' });
    assert.deepEqual(found.verbatimTurns.values, { layered: { verbatim_turns: 14 } });
    assert.equal(found.verbatimTurns.note, undefined);
    assert.deepEqual(found.maxLayers.values, { layered: { max_layers: 10 } });
    assert.match(found.maxLayers.note, /20.*1 to 10/);
    assert.deepEqual(found.snippetsPerLayer.values, { layered: { snippets_per_layer: 3 } });
    assert.equal(found.turnsPerSummary, undefined);
});

test('what is so already is not offered again', () => {
    const ours = { ...OURS, layered: { ...OURS.layered, verbatim_turns: 14, strip_patterns: ['---'] } };
    assert.deepEqual(carried({ verbatimTurns: 14, stripPatterns: ['---'] }, ours), {});
});

test('prompts of one’s own are carried over, those of its presets are not', () => {
    const own = { promptPreset: 'custom', summarizerUserPrompt: 'Short. {{context_str}} {{story_txt}}', summarizerSystemPrompt: 'Be terse.' };
    const found = carried(own);
    assert.deepEqual(found.summarizerUserPrompt.values.layered, { preset: 'custom', user_prompt: own.summarizerUserPrompt });
    assert.deepEqual(found.summarizerSystemPrompt.values.layered, { preset: 'custom', system_prompt: 'Be terse.' });
    assert.deepEqual(carried({ promptPreset: 'gamestate' }).promptPreset.values.layered, { preset: 'game_state' });
    assert.deepEqual(carried({ ...own, summarizerUserPrompt: 'Without the passage.', summarizerSystemPrompt: ' ' }), {});
});

test('a wrapper, strips and a pause are carried over', () => {
    const found = carried({ injectionTemplate: 'Long ago:\n{{summary}}\nNow:', stripPatterns: ['<output>', '~~', '', 'x'.repeat(2000)],
        pauseSummarization: true });
    assert.equal(found.injectionTemplate.values.layered.injection_template, 'Long ago:\n{{summary}}\nNow:');
    assert.deepEqual(found.stripPatterns.values.layered.strip_patterns, ['~~']);
    assert.match(found.stripPatterns.note, /1 of them/);
    assert.deepEqual(found.pauseSummarization.values, { paused: true });
    assert.deepEqual(carried({ injectionTemplate: 'without its place' }), {});
});

test('a connection is carried over if it says enough', () => {
    assert.equal(linkOf(USUAL).kind, 'main');
    assert.equal(linkOf({ connectionSource: 'profile', connectionProfileId: 'p-1' }).profile, 'p-1');
    assert.deepEqual(linkOf({ connectionSource: 'ollama', ollamaUrl: ' http://localhost:11434 ', ollamaModel: 'm' }).connection,
        { provider: 'ollama', base_url: 'http://localhost:11434', model: 'm' });
    const openai = linkOf({ connectionSource: 'openai', openaiUrl: 'http://h/v1', openaiModel: 'm', openaiKey: 'sk', openaiMaxTokens: 300 });
    assert.deepEqual(openai.connection, { provider: 'openai', base_url: 'http://h/v1', model: 'm', api_key: 'sk', max_tokens: 300 });
    assert.ok(!openai.text.includes('sk'));
    for (const lacking of [{}, { connectionSource: 'profile' }, { connectionSource: 'openai', openaiUrl: 'http://h' },
        { connectionSource: 'constructor' }]) assert.equal(linkOf(lacking), null);
});

test('a store’s size counts its own snippets and those of its banks, whatever else is in it', () => {
    assert.deepEqual(sizeOf({ layers: [[{ text: 'a' }, null], null, [{ text: 'b' }]] }), { snippets: 2, banks: 1 });
    assert.deepEqual(sizeOf({ version: 3, memories: { a: { layers: [[{}]] }, b: { layers: [[{}, {}]] }, c: {} } }), { snippets: 3, banks: 2 });
    for (const none of [undefined, null, 'x', 3, [], {}, { layers: 'x' }, { memories: 4 }]) assert.equal(sizeOf(none).snippets, 0);
});

test('places become those of the messages that the server has', () => {
    const before = (place) => place - Number(place > 2); // the third message is not there
    const store = { layers: [[{ text: 'a', turnRange: [0, 2] }, { text: 'b', turnRange: [3, 5] }, { text: 'c', turnRange: [9, 4] }]],
        summarizedUpTo: 5, ghostedIndices: [0, 3] };
    const found = translated(store, new Map(), before);
    assert.deepEqual(found.layers[0].map((one) => one.turnRange), [[0, 1], [2, 4], [9, 4]]);
    assert.equal(found.summarizedUpTo, 4);
    assert.deepEqual(found.ghostedIndices, [0, 2]);
    assert.deepEqual(store.layers[0][0].turnRange, [0, 2]);
});

test('ids of a fork become ours, in banks too', () => {
    const ids = new Map([['u-1', 'st-1']]);
    const bank = { layers: [[{ text: 'a', sourceMessageIds: ['u-1', 'u-2'] }]], ghostedMessageIds: ['u-1'] };
    const found = translated({ ...bank, memories: { x: bank } }, ids, (place) => place);
    for (const one of [found, found.memories.x]) {
        assert.deepEqual(one.layers[0][0].sourceMessageIds, ['st-1', 'u-2']);
        assert.deepEqual(one.ghostedMessageIds, ['st-1']);
    }
});

test('only what bears its mark was hidden by it', () => {
    assert.ok(isHiddenThere({ is_system: true, extra: { sc_ghosted: true } }));
    for (const other of [{ is_system: true, extra: {} }, { is_system: true }, { is_system: false, extra: { sc_ghosted: true } }]) {
        assert.ok(!isHiddenThere(other));
    }
});
