/** static/dashboard/chat/prompt-rows.js and prompt-query.js: a prompt as a page shows it, and what is asked for. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { asked, bodyOf, onlyStored } from '../../static/dashboard/chat/prompt-query.js';
import { beginning, ends, rowsOf, shares, tokensOf } from '../../static/dashboard/chat/prompt-rows.js';

const piece = (part, index = null, tokens = 10) => ({
    part, index, tokens, role: 'user', name: null, content: '…', message_id: index === null ? null : `m${index}`,
});
const range = (first_index, last_index, reason = 'ghosted') => ({ first_index, last_index, reason });
const drawn = (rows) => rows.map((row) => (row.gap ? `${row.first}-${row.last}` : `${row.piece.part} ${row.piece.index ?? ''}`.trim()));

test('what is left out stands before the first piece that comes after it', () => {
    const sent = [piece('system'), piece('system', 0), piece('memory'), piece('pinned', 5), piece('history', 40), piece('current', 42)];
    const rows = rowsOf(sent, [range(1, 4), range(6, 39), range(41, 41, 'hidden'), range(43, 43, 'empty')]);
    assert.deepEqual(drawn(rows),
        ['system', 'system 0', 'memory', '1-4', 'pinned 5', '6-39', 'history 40', '41-41', 'current 42', '43-43']);
});

test('what is left out at the end of the history comes before a line that is not stored', () => {
    assert.deepEqual(drawn(rowsOf([piece('memory'), piece('current')], [range(0, 9)])), ['memory', '0-9', 'current']);
});

test('a tool result that follows its call brings no gap twice, and stretches with nothing between are one', () => {
    const rows = rowsOf([piece('history', 3), piece('history', 8), piece('history', 5)],
        [range(0, 1), range(2, 2, 'hidden'), range(4, 4), range(6, 7)]);
    assert.deepEqual(drawn(rows), ['0-2', 'history 3', '4-7', 'history 8', 'history 5']);
    assert.deepEqual(rows[0].reasons, [['ghosted', 2], ['hidden', 1]]);
});

test('thousands of rows are shown by their ends, and the rest is counted', () => {
    const rows = rowsOf(Array.from({ length: 3000 }, (_, index) => piece('history', index)), []);
    const { head, rest, tail } = ends(rows);
    assert.deepEqual([head.length, rest.length, tail.length, tokensOf(rest)], [50, 2900, 50, 29_000]);
    assert.equal(ends(rows, { head: 2990, tail: 50 }).rest.length, 0);
});

test('the budget is shared by what stands in the prompt, and what is left is free', () => {
    const tokens = { system: 5, tools: 0, memory: 20, history: 60, current: 5, total: 90, budget: 100 };
    assert.deepEqual(shares(tokens).map(({ name, tokens: some }) => `${name} ${some}`),
        ['system 5', 'memory 20', 'history 60', 'current 5', 'free 10']);
    assert.equal(shares({ ...tokens, budget: 80 }).at(-1).tokens, 0);
    assert.equal(shares({ ...tokens, budget: null }).at(-1).name, 'current');
});

test('a cache keeps what stands before the current turn, and before a memory at a depth', () => {
    const past = [piece('history', 1), piece('history', 2)];
    assert.equal(beginning([piece('system'), piece('memory'), ...past, piece('current', 3)]), 40);
    assert.equal(beginning([piece('system'), ...past, piece('memory'), piece('current', 3)]), 30);
    assert.equal(beginning(past), 20);
});

test('nothing is asked for in a way that folds or moves a window', () => {
    const words = { current: 'And the bridge?', context_size: '2048' };
    assert.equal(asked(words, 'layered').method, 'POST');
    assert.deepEqual(asked(words, 'layered').given, { context_size: 2048, current: [{ role: 'user', content: 'And the bridge?' }] });
    for (const [more, strategy] of [[{ view: 'reply' }, 'layered'], [{ strategy: 'rolling' }, 'layered'], [{}, 'summary_buffer']]) {
        assert.equal(asked({ ...words, ...more }, strategy).method, 'GET');
        assert.match(onlyStored({ ...words, ...more }, strategy), /stored/);
    }
    assert.equal(onlyStored({ strategy: 'layered' }, 'layered'), null);
});

test('a prompt is copied as the body that is sent', () => {
    const messages = [{ role: 'user', content: 'Is it shut?' }];
    assert.deepEqual(JSON.parse(bodyOf({ messages, system: null, text: null }, 'openai')), { messages });
    assert.deepEqual(JSON.parse(bodyOf({ messages, system: 'You are Tom.', text: null }, 'anthropic')), { system: 'You are Tom.', messages });
    assert.deepEqual(JSON.parse(bodyOf({ messages, system: null, text: 'Mira: Is it shut?' }, 'text')), { text: 'Mira: Is it shut?' });
});
