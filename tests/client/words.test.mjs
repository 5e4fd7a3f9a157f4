/** static/sillytavern/words.js and dom.js: what is said of a backlog and of the jobs that fold it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { beginning, count, spoken } from '../../static/sillytavern/dom.js';
import { costs, howFar, next, outcome, whatHolds } from '../../static/sillytavern/words.js';

const BACKLOG = { turns: 153, batches: 51, estimated_calls: 58, estimated_input_tokens: 116_000, estimated_s: null };
const MODEL = { name: 'default', provider: 'openai', model: 'small-1' };
const ERROR = { detail: "Connection 'default' answered 401 Unauthorized: check its API key.", retry_at: null };

const job = (fields, progress = {}) => ({
    state: 'running', reason: null, error: null, usage: { calls: 0 }, ...fields,
    progress: { done: 12, total: 51, failed: 0, percent: 23, eta_s: null, ...progress },
});

test('numbers, times and beginnings are said as people say them', () => {
    assert.equal(count(1, 'turn'), '1 turn');
    assert.equal(count(1530, 'batch', 'batches'), '1,530 batches');
    assert.deepEqual([0.2, 89, 90, 3600, 7500].map(spoken),
        ['1 second', '89 seconds', '2 minutes', '60 minutes', '2 hours 5 minutes']);
    assert.equal(beginning('  two\n lines ', 20), 'two lines');
    assert.equal(beginning('x'.repeat(30), 10), `${'x'.repeat(9)}…`);
});

test('what a choice costs names calls, tokens, time and who is called', () => {
    const { all, one, skip } = costs({ backlog: { ...BACKLOG, estimated_s: 720 }, connection: MODEL });
    assert.equal(all, 'About 58 calls to small-1, with 116,000 input tokens in all. About 12 minutes.');
    assert.equal(one, 'About 1 call to small-1, with 2,000 input tokens.');
    assert.equal(skip, 'Costs nothing.');
});

test('a connection without a model is called by its own name', () => {
    const connection = { name: 'SillyTavern', provider: 'client', model: null };
    assert.match(costs({ backlog: BACKLOG, connection }).all, /^About 58 calls to SillyTavern, .*in all\.$/);
});

test('the built-in summarizer costs nothing', () => {
    const { all, one } = costs({ backlog: BACKLOG, connection: { ...MODEL, provider: 'extractive' } });
    assert.equal(all, 'Costs nothing: the built-in summarizer needs no model.');
    assert.equal(one, 'Costs nothing.');
});

test('progress counts batches, and tells what failed and what is left', () => {
    assert.equal(howFar(job({ state: 'queued' })), 'Folding 51 batches, about to begin');
    assert.equal(howFar(job({})), 'Folded 12 of 51 batches (23 %)');
    const told = howFar(job({}, { failed: 1, eta_s: 180.4 }));
    assert.equal(told, 'Folded 12 of 51 batches (23 %), 1 failed, about 3 minutes left');
});

test('a job that failed tells its real cause and what happens next', () => {
    const { kind, text } = outcome(job({ state: 'failed', error: ERROR }, { done: 0 }));
    assert.equal(kind, 'error');
    assert.equal(text, `Folding failed. ${ERROR.detail} The next message tries it again, and so does /sc-summarize.`);
    const later = outcome(job({ state: 'failed', error: { ...ERROR, retry_at: '2026-11-30T12:00:00Z' } }));
    assert.match(later.text, /^Folding failed after 12 of 51 batches; what is folded stays\. .* tried again by itself at /);
});

test('every other end is told as it was', () => {
    const full = { done: 51, percent: 100 };
    assert.deepEqual(outcome(job({ state: 'succeeded', usage: { calls: 58 } }, full)),
        { kind: 'success', text: 'Folded 51 of 51 batches, with 58 calls.' });
    const partly = outcome(job({ state: 'succeeded', error: ERROR }, { done: 50, failed: 1 }));
    assert.equal(partly.kind, 'warning');
    assert.match(partly.text, /50 of 51 batches; 1 failed, and their turns stay visible\. Connection 'default'/);
    assert.equal(outcome(job({ state: 'cancelled' })).text, 'Stopped after 12 of 51 batches; what is folded stays.');
    assert.equal(outcome(job({ state: 'interrupted' })).kind, 'warning');
});

test('what holds a job up is named: a frontend, an error, a connection left alone, a pause', () => {
    const status = { paused: false, last_error: null, connection: { name: 'SillyTavern', state: 'ok', retry_at: null } };
    assert.equal(whatHolds(null), '');
    assert.equal(whatHolds(status), '');
    const waiting = { ...status.connection, waiting: { calls: 2, since: '2026-11-30T12:00:00Z', leased: 0 } };
    assert.match(whatHolds({ ...status, connection: waiting }), /^Waiting for SillyTavern: 2 prompts/);
    const busy = { ...status.connection, waiting: { ...waiting.waiting, leased: 1 } };
    assert.equal(whatHolds({ ...status, connection: busy }), 'SillyTavern is answering. Keep this page open.');
    assert.equal(whatHolds({ ...status, last_error: ERROR }), `Last error: ${ERROR.detail}`);
    const cooling = { ...status.connection, state: 'cooling_down', retry_at: '2026-11-30T12:00:00Z' };
    assert.match(whatHolds({ ...status, connection: cooling }), /^The connection 'SillyTavern' is left alone until /);
    assert.match(whatHolds({ ...status, paused: true }), /paused/);
    assert.match(next({ retry_at: null }), /\/sc-summarize/);
});
