/** static/dashboard/chat/strata-*.js, snippet-words.js: how a memory is laid out as a picture, and what is said of it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { afterDeletion, allowed, endOf, openPlaces, sizeOf } from '../../static/dashboard/chat/snippet-words.js';
import { bandsOf, rowsOf, step } from '../../static/dashboard/chat/strata-layout.js';
import { nextFold } from '../../static/dashboard/chat/strata-next.js';
import { before, headOf, nameOf, summaryOf } from '../../static/dashboard/chat/strata-words.js';

const live = (id, first, last, fields = {}) => ({
    id, position: 0, kind: 'fold', first_index: first, last_index: last, turns: (last - first + 1) / 2,
    messages: last - first + 1, tokens: 11, source_tokens: 54, stale: false, degraded: false, edited: false, ...fields,
});
const stretch = (state, first, last, fields = {}) => ({
    state, skipped: false, first_index: first, last_index: last, messages: last - first + 1,
    turns: (last - first + 1) / 2, tokens: 9 * (last - first + 1), ...fields,
});
/** 20 turns: 9 of them under two layers, one of these visible again, 10 in the window and one that waits. */
const strata = (fields = {}) => ({
    strategy: 'layered', memory_version: 4, messages: 40, turns: 20, raw_tokens: 360,
    layers: [
        { layer: 1, limit: 4, snippets: [live('deep', 0, 5)] },
        { layer: 0, limit: 4, snippets: [live('one', 8, 11), live('two', 12, 17, { stale: true, edited: true })] },
    ],
    stretches: [stretch('ghosted', 0, 5), stretch('visible', 6, 7), stretch('ghosted', 8, 17), stretch('visible', 18, 39)],
    pinned: [], window: { first_index: 20, turns: 10 }, folding: [], ...fields,
});
const names = (some) => bandsOf(some).map(({ cells, ...band }) => cells.map((cell) => nameOf(cell, { cells, ...band })));

test('the bands lie from the word for word down to the deepest layer', () => {
    assert.deepEqual(bandsOf(strata()).map((band) => [band.key, headOf(band).about]), [
        ['surface', '11 turns'], ['between', '2 messages among older turns'],
        ['layer-0', '2 snippets, 5 turns'], ['layer-1', '1 snippet, 3 turns'],
    ]);
});

test('a cell has a name that says where it is, what it measures and what is marked', () => {
    assert.deepEqual(names(strata()), [
        ['Waits to fold, turn 10, messages #18–19', 'Window, 10 turns (11–20), messages #20–39'],
        ['Waits to fold, turn 4, messages #6–7, 18 tokens'],
        ['Layer 0, snippet 1 of 2, 2 turns (5–6), messages #8–11, 11 tokens',
            'Layer 0, snippet 2 of 2, 3 turns (7–9), messages #12–17, 11 tokens, stale, edited'],
        ['Layer 1, snippet 1 of 1, 3 turns (1–3), messages #0–5, 11 tokens'],
    ]);
});

test('what a fold has in work is a cell of its own among those that wait', () => {
    const some = strata({ window: { first_index: 36, turns: 2 }, folding: [{ first_index: 18, last_index: 23 }] });
    const [surface] = bandsOf(some);
    assert.equal(headOf(surface).about, '11 turns');
    assert.deepEqual(surface.cells.map((cell) => [cell.kind, cell.first_index, cell.last_index, cell.marks]),
        [['waiting', 18, 23, ['folding']], ['waiting', 24, 35, []], ['window', 36, 39, []]]);
});

test('a snippet that is made anew is marked, and its neighbours are not', () => {
    const layer = bandsOf(strata({ folding: [{ first_index: 8, last_index: 11 }] })).find(({ key }) => key === 'layer-0');
    assert.deepEqual(layer.cells.map((cell) => cell.marks), [['folding'], ['stale', 'edited']]);
});

test('pinned messages are told of the snippets that they lie among, and are cells of their own', () => {
    const pinned = [{ message_id: 'u3', index: 6 }, { message_id: 'a3', index: 7 }, { message_id: 'u5', index: 10 }];
    const found = names(strata({ pinned }));
    assert.equal(found[1][0], 'Pinned, turn 4, messages #6–7, 18 tokens');
    assert.match(found[2][0], /, 1 pinned message$/);
});

test('skipped, hidden and omitted stretches are told apart', () => {
    const stretches = [
        stretch('visible', 0, 7, { skipped: true }), stretch('hidden', 8, 9, { turns: 0 }),
        stretch('omitted', 10, 10, { turns: 0 }), stretch('mixed', 11, 19), stretch('visible', 20, 39),
    ];
    const [surface] = bandsOf(strata({ layers: [], stretches }));
    assert.deepEqual(names(strata({ layers: [], stretches }))[0].map((name) => name.split(',')[0]),
        ['Skipped', 'Hidden', 'Omitted', 'Of several kinds', 'Window']);
    assert.equal(surface.cells[0].from, null, 'where turns cannot be counted through none is numbered');
});

test('thousands of stretches become a few dozen cells, and no message is left out', () => {
    const stretches = Array.from({ length: 500 }, (_, at) =>
        stretch(at % 2 ? 'visible' : 'hidden', at * 20, at * 20 + 19));
    const [surface] = bandsOf(strata({ layers: [], stretches, window: { first_index: null, turns: 0 } }));
    assert.ok(surface.cells.length <= 48);
    assert.equal(surface.messages, 10_000);
    assert.equal(surface.cells.at(-1).last_index, 9_999);
});

test('of a layer without end the newest cells are shown, and more on asking', () => {
    const snippets = Array.from({ length: 1000 }, (_, at) => live(`s${at}`, at * 2, at * 2 + 1));
    const layers = [{ layer: 0, limit: 30, snippets }];
    const shown = (most) => bandsOf(strata({ layers }), most).find(({ key }) => key === 'layer-0');
    assert.deepEqual([shown().cells.length, shown().older, shown().cells[0].number], [100, 900, 901]);
    assert.equal(shown({ 'layer-0': 1000 }).older, 0);
});

test('no cell is narrower than can be touched, whatever the width, and a layer shows its room', () => {
    const snippets = Array.from({ length: 20 }, (_, at) => live(`s${at}`, at * 6, at * 6 + 5));
    const band = bandsOf(strata({ layers: [{ layer: 0, limit: 30, snippets }] })).at(-1);
    const wide = rowsOf(band, 1200);
    assert.deepEqual(wide.map(({ cells }) => cells.length), [20]);
    assert.equal(Math.round(wide[0].room / wide[0].cells[0].weight), 10);
    assert.deepEqual(rowsOf(band, 320).map(({ cells }) => cells.length), [8, 8, 4]);
    assert.deepEqual(rowsOf(band, 1).map(({ cells }) => cells.length), Array(20).fill(1));
});

test('arrow keys walk along a band and across bands, Home and End to its ends', () => {
    const rows = bandsOf(strata()).flatMap((band) => rowsOf(band, 600));
    const walk = (key, ...presses) => presses.reduce((at, press) => step(rows, at, press), key);
    assert.equal(walk('one', 'ArrowRight'), 'two');
    assert.equal(walk('two', 'ArrowRight'), 'two', 'a band ends');
    assert.equal(walk('one', 'ArrowDown'), 'deep');
    assert.equal(walk('deep', 'ArrowDown'), 'deep', 'there is nothing below');
    assert.equal(walk('from-20', 'ArrowDown', 'ArrowDown'), 'two', 'the nearest below');
    assert.equal(walk('two', 'Home'), 'one');
    assert.equal(walk('one', 'End'), 'two');
    assert.equal(step(rows, 'one', 'End', true), 'deep', 'with Ctrl to the end of the picture');
    assert.equal(step(rows, 'one', 'a'), null);
    assert.equal(step(rows, 'gone', 'ArrowDown'), 'from-18');
});

test('the picture is told in a sentence', () => {
    assert.equal(summaryOf(strata()), '40 messages in 20 turns, 360 tokens. 3 snippets in 2 layers tell 8 turns in 33'
        + ' tokens.');
    assert.equal(summaryOf(strata({ layers: [] })), '40 messages in 20 turns, 360 tokens.');
    assert.equal(before({ items: [{}, {}], next_cursor: null }), 'It went on from 2 summaries.');
    assert.equal(before({ items: Array(100).fill({}), next_cursor: 'x' }), 'It went on from more than 100 summaries.');
});

const SETTINGS = {
    layered: { verbatim_turns: 10, flush_turns: 3, turns_per_batch: 3, window: 'strict' },
    rolling: { trigger_turns: 4, trigger_tokens: 1024, keep_recent_turns: 3 },
    summary_buffer: { max_messages_before_summary: 20, recent_messages_to_keep: 6 },
};
const status = (fields, waits = 0) => ({
    strategy: 'layered', enabled: true, paused: false, job: null, backlog: { turns: waits, choice_needed: false }, ...fields,
});

test('a chat says when its next fold comes', () => {
    const short = strata({ layers: [], window: { first_index: 0, turns: 6 } });
    assert.match(nextFold(status({}), SETTINGS, short), /first fold comes when 7 more turns are there.*newest 10/);
    assert.match(nextFold(status({}, 2), SETTINGS, strata()), /^The next fold comes when 1 more turn is there/);
    assert.match(nextFold(status({}, 3), SETTINGS, strata()), /with the next reply\.$/);
    const compat = { ...SETTINGS, layered: { ...SETTINGS.layered, window: 'compat' } };
    assert.match(nextFold(status({}), compat, strata()), /when 1 more turn is there/);
    assert.match(nextFold(status({ strategy: 'rolling' }, 1), SETTINGS, strata({ window: { first_index: 34, turns: 3 } })),
        /anew when 3 more turns are there, or when 1,024 tokens wait before the newest 3 turns\.$/);
    assert.match(nextFold(status({ strategy: 'summary_buffer' }), SETTINGS, strata()), /once 20 messages .*\(24 by now\)/);
});

test('a chat whose memory does not fold says why', () => {
    assert.match(nextFold(status({ strategy: 'none' }), SETTINGS, strata()), /has no memory/);
    assert.match(nextFold(status({ enabled: false }), SETTINGS, strata()), /switched off/);
    assert.match(nextFold(status({ paused: true }), SETTINGS, strata()), /paused/);
    assert.match(nextFold(status({ backlog: { turns: 153, choice_needed: true } }), SETTINGS, strata()), /153 older turns/);
    assert.equal(nextFold(status({}), SETTINGS, strata({ folding: [{ first_index: 0, last_index: 5 }] })), 'A fold is at work.');
});

const snippet = (fields) => ({
    id: 'x', strategy: 'layered', layer: 1, kind: 'merge', state: 'live', tokens: 84, source_tokens: 240, children: ['a', 'b'],
    covers: { first_index: 4, last_index: 21, turns: 9, messages: 18 }, ...fields,
});

test('what may be done with a snippet follows its state and the strategy of its chat', () => {
    const may = (fields, strategy = 'layered') => Object.values(allowed(snippet(fields), strategy));
    assert.deepEqual(may({}), [true, true, true]);
    assert.deepEqual(may({ state: 'absorbed' }), [true, true, false]);
    assert.deepEqual(may({ state: 'superseded', strategy: 'rolling' }, 'rolling'), [false, false, false]);
    assert.deepEqual(may({ state: 'dormant' }, 'rolling'), [true, false, false]);
});

test('a deletion says what becomes visible', () => {
    assert.match(afterDeletion(snippet({})), /^18 messages \(9 turns, #4–21\) will be visible .* 84 tokens/);
    assert.match(afterDeletion(snippet({ strategy: 'rolling' })), /summary before it stands again/);
    assert.match(afterDeletion(snippet({ covers: null })), /^Nothing is left/);
});

test('sizes, ends of jobs and free places are said plainly', () => {
    assert.equal(sizeOf(snippet({})), '84 tokens, made from 240 of its parts (35 %)');
    assert.equal(sizeOf(snippet({ source_tokens: 0 })), '84 tokens');
    assert.equal(endOf({ state: 'succeeded', error: null, reason: null }), '');
    assert.equal(endOf({ state: 'failed', error: { detail: 'No.' }, reason: null }), 'No.');
    assert.match(endOf({ state: 'cancelled', error: null, reason: null }), /as it was/);
    assert.deepEqual(openPlaces(strata()), [{ first_index: 18, last_index: 19 }, { first_index: 6, last_index: 7 }]);
    const pinned = [{ message_id: 'u3', index: 6 }, { message_id: 'a3', index: 7 }];
    assert.deepEqual(openPlaces(strata({ pinned })), [{ first_index: 18, last_index: 19 }]);
});
