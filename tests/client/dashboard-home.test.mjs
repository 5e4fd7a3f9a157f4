/** static/dashboard/home: what its page says and in which order, without a page. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { curlLines, scriptLines } from '../../static/dashboard/home/lines.js';
import { newestOf, settled, waiting, workOf } from '../../static/dashboard/home/rows.js';
import { due, isDemo, LENGTH_MS, TURNS, turnsOf } from '../../static/dashboard/home/story.js';
import { costOf, healthOf, size } from '../../static/dashboard/home/words.js';

const SERVER = 'http://127.0.0.1:8787';
const row = (id) => ({ id });
const ids = (rows) => rows.map(({ id, gone }) => (gone ? `${id} gone` : id));
const job = (fields) => ({
    id: 'j', chat_id: 'a', kind: 'fold', state: 'running', reason: null, error: null,
    progress: { done: 3, total: 12, failed: 0, percent: 25, eta_s: null }, ...fields,
});

test('the demo’s story has as many turns as it says, each line once and each turn with a reply', async () => {
    const turns = turnsOf(await readFile(new URL('../../static/demo/story.jsonl', import.meta.url), 'utf8'));
    assert.equal(turns.length, TURNS);
    const lines = turns.flat();
    assert.equal(new Set(lines.map(({ id }) => id)).size, lines.length);
    const roles = new Set(turns.map((turn) => turn.map(({ role }) => role).join()));
    assert.deepEqual(roles, new Set(['assistant', 'user,assistant']));
    assert.equal(lines[0].name, 'Captain Osk');
});

test('turns are due as time goes by, one at least and twelve at most', () => {
    assert.deepEqual([0, 250, 1000, 60_000].map((ms) => due(ms, TURNS)), [1, 2, 8, 12]);
    assert.equal(due(LENGTH_MS / TURNS * 5 + 1, TURNS), 5);
});

test('a demo that is played again is a demo too, and no other chat is', () => {
    assert.deepEqual(['dry-mail-demo', 'dry-mail-demo-lx3'].map(isDemo), [true, true]);
    assert.deepEqual(['dry-mail-demos', 'dry-mail'].map(isDemo), [false, false]);
});

test('rows stand by newest activity unless somebody is among them', () => {
    const shown = ['a', 'b', 'c'].map(row);
    const fresh = ['new', 'c', 'a', 'old'].map(row);
    assert.deepEqual(ids(settled(shown, fresh, false)), ['new', 'c', 'a', 'old']);
    const held = settled(shown, fresh, true);
    assert.deepEqual(ids(held), ['a', 'b gone', 'c', 'old']);
    assert.equal(waiting(held, fresh), 1);
    assert.deepEqual(ids(settled([], fresh, true)), ['new', 'c', 'a', 'old']);
});

test('a chat that came back is not gone any more', () => {
    const held = settled([{ id: 'a', gone: true }], [row('a')], true);
    assert.deepEqual(ids(held), ['a']);
});

test('a row tells of its newest job alone: that it goes on, or why it failed', () => {
    const failing = { state: 'failed' };
    const jobs = newestOf([job({}), job(failing), job({ ...failing, chat_id: 'b' })]);
    assert.deepEqual(workOf(jobs.a), { going: true, percent: 25, text: 'Folding, 3 of 12 batches' });
    assert.match(workOf(jobs.b).text, /not known/);
    const failed = job({ state: 'failed', error: { detail: 'It answered 401.' } });
    assert.deepEqual(workOf(failed), { going: false, percent: null, text: 'It answered 401.' });
    const none = { done: 0, total: 0, failed: 0, percent: 0, eta_s: null };
    assert.equal(workOf(job({ state: 'queued', progress: none })).text, 'Waits to be folded');
    assert.deepEqual(workOf(job({ progress: none })), { going: true, percent: null, text: 'Folding' });
    assert.deepEqual([workOf(undefined), workOf(job({ state: 'succeeded' }))], [null, null]);
});

test('what summaries have cost is told in one sentence', () => {
    const usage = { calls: 1203, prompt_tokens: 1_240_000, completion_tokens: 820, chats: 12 };
    assert.equal(costOf(usage),
        'Summaries have cost 1,203 calls so far, over 12 chats: 1.2M tokens read, 820 written.');
    assert.match(costOf({ ...usage, calls: 1, chats: 1 }), /1 call so far, over 1 chat/);
    assert.match(costOf({ ...usage, calls: 0 }), /cost nothing/);
    assert.equal(costOf({ ...usage, calls: 0, chats: 0 }), '');
});

test('what is not well with the server is named, and nothing else', () => {
    const fine = { ok: true, detail: 'running' };
    const checks = { database: fine, worker: fine, connections: [{ name: 'default', state: 'ok', last_error: null }] };
    assert.deepEqual(healthOf({ ready: true, checks }), { kind: 'good', word: 'All is well', faults: [] });
    const ailing = [{ name: 'local', state: 'cooling_down', last_error: 'It answered 401.' }];
    const { kind, faults } = healthOf({ ready: true, checks: { ...checks, connections: ailing } });
    assert.deepEqual([kind, faults[0].what], ['warn', 'Connection local']);
    assert.equal(faults[0].detail, 'It is left alone for a while. It answered 401.');
    const broken = { ...checks, worker: { ok: false, detail: 'Restart the server.' } };
    assert.deepEqual(healthOf({ ready: false, checks: broken }),
        { kind: 'bad', word: 'Not ready', faults: [{ what: 'Worker', detail: 'Restart the server.' }] });
});

test('lines to copy name the server, and a key where it wants one', () => {
    for (const lines of [curlLines, scriptLines]) {
        assert.ok(lines(SERVER, false).includes(SERVER));
        assert.doesNotMatch(lines(SERVER, false), /key/i);
        assert.match(lines(SERVER, true), /key/i);
    }
});

test('sizes of files are told in the unit that suits', () => {
    assert.deepEqual([0, 1499, 999_999, 3_440_000].map(size), ['1 kB', '1 kB', '1000 kB', '3.4 MB']);
});
