/** static/dashboard/chat: which messages a page of the reader shows, and what is marked in them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { beginningOf, indexOf, startBefore, stateOf, within } from '../../static/dashboard/chat/messages-places.js';
import { marked, termsOf } from '../../static/dashboard/chat/search-marks.js';

const show = (text, query) => marked(text, termsOf(query)).map(({ text: part, hit }) => (hit ? `[${part}]` : part)).join('');

/** A list of the API's: messages of these indexes, at most a thousand at once. */
function list(indexes) {
    const calls = [];
    const read = async (from, limit) => {
        calls.push(from);
        const found = indexes.filter((index) => index >= from);
        return { items: found.slice(0, limit).map((index) => ({ index })), next_cursor: found.length > limit ? 'more' : null };
    };
    return { read, calls };
}
const every = (step, count) => Array.from({ length: count }, (_, place) => place * step);

test('the page before a place holds as many messages as a page does, however many are filtered away', async () => {
    for (const step of [1, 3, 40, 700]) {
        const { read, calls } = list(every(step, 2000));
        const end = step * 1500;
        assert.equal(await startBefore(read, end), step * 1450, `every ${step}th`);
        assert.ok(calls.length < 16, `${calls.length} calls`);
    }
});

test('a page that begins with the history is as long as it can be', async () => {
    assert.equal(await startBefore(list(every(1, 30)).read, 30), 0);
    assert.equal(await startBefore(list([]).read, 90_000), 0);
    assert.equal(await startBefore(list(every(1, 30)).read, 0), 0);
});

test('a stretch that suddenly holds thousands is cut down to what one call answers with', async () => {
    const { read } = list([...every(1, 5000), 100_000, 100_001]);
    assert.equal(await startBefore(read, 100_001), 4951);
});

test('a word is marked from its beginning, whatever its case and accents', () => {
    assert.equal(show('Gates, a gate and a navigate', 'GATE'), '[Gate]s, a [gate] and a navigate');
    assert.equal(show('Le café de Zoë', 'cafe zoe'), 'Le [café] de [Zoë]');
    assert.equal(show('Cafe\u0301!', 'café'), '[Cafe\u0301]!');
    assert.equal(show('A cat, a hat', 'a'), '[A] cat, [a] hat');
});

test('a phrase in quotes is marked where its words stand side by side', () => {
    assert.equal(show('a dead letter; dead, letters; letter', '"dead letter"'), 'a [dead letter]; [dead, letter]s; letter');
    assert.equal(show('the brass key', 'key "brass'), 'the [brass] [key]');
});

test('scripts without spaces are marked anywhere', () => {
    assert.equal(show('大門の鍵はどこですか', '鍵'), '大門の[鍵]はどこですか');
    assert.equal(show('ประตูปิดอยู่', 'ปิด'), 'ประตู[ปิด]อยู่');
});

test('nothing in a query is a pattern, and marks lose no character', () => {
    const text = 'a+b (c) 𝒳 <b>ﬁne</b> \u202e end';
    for (const query of ['(', 'a+b', '.*', '"', 'fine', 'x', '']) {
        assert.equal(marked(text, termsOf(query)).map((part) => part.text).join(''), text, query);
    }
});

test('a long text begins with twelve lines, or some hundred words, and parts no character', () => {
    assert.equal(beginningOf('one\ntwo'), null);
    assert.equal(beginningOf('line\n'.repeat(12)), null);
    assert.equal(beginningOf('line\n'.repeat(30)).split('\n').length, 12);
    assert.ok(beginningOf('word '.repeat(2000)).length <= 1100);
    assert.ok(beginningOf(`x${'🪿'.repeat(3000)}`).isWellFormed?.() ?? true);
});

test('a message is hidden before it is omitted, and omitted before it is ghosted', () => {
    const message = { hidden: false, history: 'keep', ghosted: false };
    assert.equal(stateOf(message), 'visible');
    assert.equal(stateOf({ ...message, ghosted: true }), 'ghosted');
    assert.equal(stateOf({ ...message, history: 'omit' }), 'omitted');
    assert.equal(stateOf({ ...message, hidden: true, history: 'omit' }), 'hidden');
    assert.ok(within([{ first_index: 2, last_index: 4 }], 4) && !within([{ first_index: 2, last_index: 4 }], 5));
});

test('an index of the address is a number or none', () => {
    assert.deepEqual(['12', '0', '', 'x', '-1', '1.5', undefined].map(indexOf), [12, 0, null, null, null, null, null]);
});
