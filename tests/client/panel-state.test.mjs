/** static/sillytavern/panel-state.js: the one title and the one line that the panel shows. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { describe } from '../../static/sillytavern/panel-state.js';

const STATUS = {
    enabled: true, paused: false, strategy: 'layered', job: null, last_error: null, connection: { name: 'SillyTavern' },
    backlog: { turns: 0, choice_needed: false }, counts: { ghosted: 40 }, stale_snippets: 0, degraded_snippets: 0,
};
const ready = (fields) => describe({ phase: 'ready', status: { ...STATUS, ...fields } }, true);

test('off, without a chat, before anything is known, and with a server that is away', () => {
    assert.equal(describe({ phase: 'ready', status: STATUS }, false).title, 'Off');
    assert.equal(describe({ phase: 'closed' }, true).title, 'No chat is open');
    assert.equal(describe({ phase: 'syncing', status: null }, true).title, 'Reading the chat');
    const away = describe({ phase: 'away', error: { status: 0, detail: 'It cannot be reached.' } }, true);
    assert.deepEqual([away.tone, away.title, away.todo], ['care', 'The server is away', 'server']);
    assert.match(away.line, /^It cannot be reached\. Nothing is lost/);
    assert.equal(describe({ phase: 'away', error: { status: 401, detail: 'No.' } }, true).title, 'The server refuses');
});

test('prompts that wait come before the job that they are of, unless they are being answered', () => {
    const job = { state: 'running', progress: { done: 1, total: 4, failed: 0, percent: 25, eta_s: 120 } };
    const waiting = (leased) => ({ name: 'SillyTavern', waiting: { calls: 2, leased } });
    const { title, line } = ready({ job, connection: waiting(0) });
    assert.deepEqual([title, line], ['Waiting for SillyTavern', '2 prompts to answer. Keep its page open.']);
    const folding = { tone: 'busy', title: 'Folding', line: 'Folded 1 of 4 batches (25 %), about 2 minutes left.' };
    assert.deepEqual(ready({ job, connection: waiting(1) }), { ...folding, progress: 25 });
});

test('a failure tells its cause and what is next; a choice, a pause and a switch tell what holds', () => {
    const failed = ready({ last_error: { detail: 'It answered 401.', retry_at: null }, paused: true });
    assert.equal(failed.title, 'The last summary failed');
    assert.match(failed.line, /^It answered 401\. The next message tries it again, .* No message is lost\.$/);
    assert.match(ready({ backlog: { turns: 1530, choice_needed: true } }).line, /^1,530 turns outside the window/);
    assert.equal(ready({ paused: true }).title, 'Paused');
    assert.equal(ready({ strategy: 'none' }).title, 'No memory');
    assert.equal(ready({ enabled: false }).title, 'Memory is switched off');
});

test('all is well: what is due and what is amiss is counted', () => {
    assert.deepEqual(ready({}), { tone: 'well', title: 'Up to date', line: '' });
    const { line } = ready({ stale_snippets: 1, degraded_snippets: 2, backlog: { turns: 3, choice_needed: false } });
    assert.equal(line, '3 turns to go into the next fold, 1 snippet stale, 2 snippets degraded.');
    assert.equal(ready({ counts: { ghosted: 0 } }).line, 'Nothing is folded yet.');
});
