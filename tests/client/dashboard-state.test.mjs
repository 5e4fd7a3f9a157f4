/** static/dashboard/chat/state-words.js and state-reasons.js: what a chat's state is in words. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { calm, isDue, reasonOf, untilFold, whyNot } from '../../static/dashboard/chat/state-reasons.js';
import { again, breaker, doing, howFar, left, trouble, waitsFor } from '../../static/dashboard/chat/state-words.js';

const SETTINGS = { layered: { verbatim_turns: 10, turns_per_batch: 3, flush_turns: 3, window: 'strict' } };
const STATUS = {
    strategy: 'layered', enabled: true, paused: false, last_error: null, layers: [], summarized_through: null,
    counts: { turns: 4, skipped: 0 }, backlog: { turns: 0, choice_needed: false },
    connection: { name: 'local', provider: 'openai' },
};
const status = (fields) => ({ ...STATUS, ...fields });
const compat = { layered: { ...SETTINGS.layered, window: 'compat' } };

test('how far a job is: batches, percent, what is left, what was given up', () => {
    const progress = { done: 12, total: 1051, failed: 0, percent: 1, eta_s: 200 };
    assert.equal(howFar({ state: 'running', progress }, 200), '12 of 1,051 batches · 1 % · about 3 min left');
    const failed = { ...progress, failed: 2 };
    assert.match(howFar({ state: 'running', progress: failed }, null), /1 % · 2 given up, whose turns stay/);
    assert.equal(howFar({ state: 'queued', progress: { ...progress, total: 1 } }, null), '1 batch, about to begin');
    assert.equal(howFar({ state: 'running', progress: { done: 0, total: 0, failed: 0, percent: 0 } }, null), '');
    assert.equal(doing({ kind: 'heal' }), 'Putting the memory right');
    assert.equal(doing({ kind: 'something-new' }), 'Working');
});

test('time runs between two readings, and never below a second', () => {
    assert.equal(left(40, 15_000), 25);
    assert.equal(left(2, 60_000), 1);
    assert.equal(left(null, 60_000), null);
    const now = Date.parse('2026-03-01T12:00:00Z');
    assert.equal(again('2026-03-01T12:00:40Z', now), 'Tries again in 40 s.');
    assert.equal(again('2026-03-01T11:59:00Z', now), 'Tries again now.');
    assert.equal(again(null, now), null);
    assert.equal(again('2026-03-01T12:00:17Z', now, false), 'It is asked again after 17 s, when there is something to fold.');
    assert.equal(again('2026-03-01T11:59:00Z', now, false), 'It is asked again when there is something to fold.');
});

test('a failure names its connection and what is wrong with it', () => {
    const failed = (fields) => trouble({ connection: 'local', status: null, code: 'provider_rejected', ...fields });
    assert.equal(failed({ status: 401 }), '“local” was refused by its server (status 401)');
    assert.equal(failed({ status: 404 }), '“local” was not found (status 404)');
    assert.equal(failed({ status: 503, code: 'provider_unavailable' }), '“local” answered 503');
    assert.equal(failed({ code: 'provider_unavailable' }), '“local” cannot be reached');
    assert.equal(failed({}), '“local” gave no summary');
});

test('a connection is told of while it is left alone or missing, and not while it is well', () => {
    const connection = { name: 'local', provider: 'openai', state: 'cooling_down' };
    assert.match(breaker(connection, 'Tries again in 2 min.'), /left alone for a while\. Tries again in 2 min\.$/);
    assert.match(breaker(connection, null), /left alone for a while\.$/);
    assert.equal(breaker({ ...connection, state: 'ok' }, null, true), null);
    assert.equal(breaker({ ...connection, state: 'failing' }, null), null);
    assert.match(breaker({ ...connection, state: 'failing' }, null, true), /^The last call to “local” failed/);
    assert.match(breaker({ ...connection, provider: 'missing' }, null), /does not exist/);
});

test('a frontend that is waited for, and one that is answering', () => {
    assert.match(waitsFor({ connection: 'ST', calls: 1, leased: 0 }), /^Waiting for “ST”: 1 prompt to answer/);
    assert.equal(waitsFor({ connection: 'ST', calls: 3, leased: 1 }), '“ST” is answering 1 of 3 prompts.');
    assert.equal(waitsFor({ connection: 'ST', calls: 2, leased: 2 }), '“ST” is answering 2 prompts.');
});

test('turns until the next fold: of a window that is not full, with some over it, in compat, with skipped ones', () => {
    assert.equal(untilFold(STATUS, SETTINGS.layered), 9);
    assert.equal(untilFold(status({ counts: { turns: 12, skipped: 0 }, backlog: { turns: 2 } }), SETTINGS.layered), 1);
    const folded = status({ counts: { turns: 400, skipped: 0 }, layers: [{ turns: 360 }, { turns: 30 }] });
    assert.equal(untilFold(folded, SETTINGS.layered), 3);
    assert.equal(untilFold(status({ counts: { turns: 100, skipped: 90 } }), SETTINGS.layered), 3);
    assert.equal(untilFold(STATUS, compat.layered), 7);
});

test('something is due while a job runs, or where enough waits and nothing is in the way', () => {
    const due = (fields) => isDue(status(fields), SETTINGS);
    const waiting = { backlog: { turns: 5 } };
    assert.deepEqual([due({}), due(waiting), due({ job: {} })], [false, true, true]);
    assert.deepEqual([due({ ...waiting, paused: true }), due({ ...waiting, enabled: false })], [false, false]);
    assert.equal(due({ backlog: { turns: 90, choice_needed: true } }), false);
    assert.deepEqual(['rolling', 'none'].map((strategy) => due({ strategy, backlog: { turns: 1 } })), [true, false]);
});

test('the calm line says what holds', () => {
    assert.equal(calm(STATUS, SETTINGS), 'Nothing needs folding yet; 9 more turns until the next fold.');
    const folded = { counts: { turns: 12, skipped: 0 }, backlog: { turns: 2 }, summarized_through: { index: 5 } };
    assert.equal(calm(status(folded), SETTINGS), 'Everything is folded; 1 more turn until the next fold.');
    assert.match(calm(status({ backlog: { turns: 5 } }), SETTINGS), /^5 turns wait to be folded.* next message\.$/);
    const failed = { backlog: { turns: 5 }, last_error: { retry_at: 'soon' } };
    assert.match(calm(status(failed), SETTINGS), /tried again by itself\.$/);
    const paused = status({ paused: true, backlog: { turns: 1 } });
    assert.equal(calm(paused, SETTINGS), 'Paused: nothing folds by itself. 1 turn waits.');
    assert.match(calm(status({ enabled: false }), SETTINGS), /switched off/);
    assert.match(calm(status({ strategy: 'none' }), SETTINGS), /stored as it is/);
    assert.match(calm(status({ counts: { turns: 0, skipped: 0 } }), SETTINGS), /no turns yet/);
    assert.match(calm(status({ backlog: { turns: 90, choice_needed: true } }), SETTINGS), /until you have chosen/);
    const rolling = status({ strategy: 'rolling', backlog: { turns: 7 } });
    assert.match(calm(rolling, SETTINGS), /^7 turns can be folded\. .* after a reply/);
    assert.match(calm(status({ strategy: 'summary_buffer' }), SETTINGS), /up to date/);
});

test('why nothing folds: the first thing that is in the way, and what was skipped', () => {
    const first = (fields, skipped) => whyNot(status(fields), SETTINGS, skipped)[0];
    assert.match(first({ strategy: 'none' }), /keeps no memory/);
    assert.match(first({ enabled: false }), /switched off/);
    assert.match(first({ backlog: { turns: 90, choice_needed: true } }), /what to do with its backlog/);
    assert.match(first({ connection: { name: 'gone', provider: 'missing' } }), /“gone” does not exist/);
    assert.match(first({ paused: true }), /It is paused/);
    assert.match(first({ paused: true, job: {} }), /It folds at this moment/);
    assert.match(first({ last_error: { retry_at: '2026-03-01T12:00:00Z' } }), /The last try failed/);
    assert.match(whyNot(STATUS, SETTINGS)[1], /when 3 turns lie outside: 9 to go/);
    assert.match(whyNot(STATUS, compat)[1], /when 1 turn lies outside: 7 to go/);
    assert.match(whyNot(status({ backlog: { turns: 4 } }), SETTINGS)[1], /A fold is due/);
    assert.match(whyNot(status({ counts: { turns: 50, skipped: 30 } }), SETTINGS).at(-1), /^30 turns you skipped/);
});

test('where one summary is written anew, the reason is the projection\'s own', () => {
    const rolling = status({ strategy: 'rolling' });
    const skipped = { reason: 'below_threshold', pending_turns: 3, pending_tokens: 1200 };
    assert.deepEqual(whyNot(rolling, SETTINGS, skipped),
        ['Not enough waits yet.', '3 turns with 1,200 tokens would be next.']);
    assert.match(whyNot(rolling, SETTINGS, null)[0], /Nothing holds it up/);
    assert.equal(reasonOf('a_new_one'), 'Nothing to do: a_new_one.');
    assert.equal(reasonOf(null), 'Nothing to do.');
});
