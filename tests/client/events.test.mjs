/** Streams: what is read of them, however they are cut, and how they go on. */

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { Turnfold } from '../../static/turnfold.js';
import { fast, json, problem, serve, stream, told } from './scripted.mjs';

/** Everything that a stream tells until it ends. */
async function all(stream) {
    const found = [];
    for await (const event of stream) found.push(event);
    return found;
}

/** A chat whose server sends these pieces, each in a write of its own, and then ends or cuts the stream. */
async function sending(t, pieces, end = (response) => response.end()) {
    const { url, seen } = await serve(t, async (response) => {
        stream(response);
        for (const piece of pieces) {
            response.write(piece);
            await new Promise(setImmediate);
        }
        end(response);
    });
    return { chat: new Turnfold({ server: url }).chat('c'), seen };
}

test('events are read, whatever their lines end with and whatever stands between them', async (t) => {
    const text = ': listening\r\n\r\nid: 1\r\nevent: job\r\ndata: {"a":1}\r\n\r\n: ping\n\nretry: 5\n\n'
        + 'id\ndata:"bare"\n\nid: 2\rdata: [1,\rdata: 2]\r\rid: 3\nevent: end\ndata: {"said":"a\u2028b : c"}\n\n';
    const { chat } = await sending(t, [text]);
    assert.deepEqual(await all(chat.events()), [
        { event: 'job', data: { a: 1 }, id: '1' },
        { event: 'message', data: 'bare', id: '1' },
        { event: 'message', data: [1, 2], id: '2' },
        { event: 'end', data: { said: 'a\u2028b : c' }, id: '3' },
    ]);
});

test('events are read from single bytes too', async (t) => {
    const bytes = Buffer.from(': hi\r\n\r\nid: 1\r\nevent: end\r\ndata: {"said":"é夜😀"}\r\n\r\n');
    const { chat } = await sending(t, Array.from(bytes, (byte) => Buffer.of(byte)));
    assert.deepEqual(await all(chat.events()), [{ event: 'end', data: { said: 'é夜😀' }, id: '1' }]);
});

test('a stream that is cut in the middle of an event or of a letter goes on after the last whole event', async (t) => {
    const clock = fast(t);
    const half = Buffer.from(told(2, 'job', { said: '夜' }));
    const script = [
        [told(1, 'job', {}), 'id: 2\nevent: job\ndata: {"sa'],
        [told(2, 'job', {}), half.subarray(0, half.indexOf('夜') + 1)],
        [told(3, 'end', {})],
    ];
    const { url, seen } = await serve(t, (response, _, nth) => {
        stream(response);
        for (const piece of script[nth - 1].slice(0, -1)) response.write(piece);
        response.write(script[nth - 1].at(-1), () => (nth === 1 ? response.destroy() : response.end()));
    });
    const lost = [];
    const watching = { lastEventId: '0', onLost: (error) => lost.push(error.code) };
    const events = await all(new Turnfold({ server: url }).chat('c').events(watching));
    assert.deepEqual(events.map((event) => event.id), ['1', '2', '3']);
    assert.deepEqual(seen.map((call) => call.headers['last-event-id']), ['0', '1', '2']);
    assert.deepEqual(lost, ['unreachable'], 'a stream that was closed properly was not lost');
    assert.equal(clock.asked.filter((ms) => ms === 1000).length, 2);
});

test('a server that is away is asked again, later and later, and as late as it wants', async (t) => {
    const clock = fast(t);
    const script = [
        (response) => response.destroy(),
        (response) => problem(response, 503, 'internal', 'Too many streams.', { headers: { 'Retry-After': '6' } }),
        (response) => response.writeHead(502, { 'Content-Type': 'text/html' }).end('<h1>Bad gateway</h1>'),
        ...Array(3).fill((response) => response.destroy()),
        (response) => { stream(response); response.end(); },
        (response) => { stream(response); response.end(told(9, 'end', {})); },
    ];
    const { url } = await serve(t, (response, _, nth) => script[nth - 1](response));
    const heard = [];
    const watching = { onOpen: () => heard.push('open'), onLost: (error) => heard.push(error.code) };
    await all(new Turnfold({ server: url }).chat('c').events(watching));
    assert.deepEqual(heard, [
        'unreachable', 'internal', 'not_turnfold', 'unreachable', 'unreachable', 'unreachable', 'open', 'open',
    ]);
    const waits = [1000, 6000, 12_000, 15_000, 15_000, 15_000, 1000];
    const known = new Set(waits);
    assert.deepEqual(clock.asked.filter((ms) => known.has(ms) && ms !== 45_000), waits);
});

test('a stream that falls silent is opened anew', async (t) => {
    fast(t, (ms) => ms / 100);
    const { url, seen } = await serve(t, (response, _, nth) => {
        stream(response);
        response.write(nth === 1 ? told(1, 'job', {}) : told(2, 'end', {}));
    });
    const lost = new Set();
    const watching = { onLost: (error) => lost.add(error.code) };
    const events = await all(new Turnfold({ server: url }).chat('c').events(watching));
    assert.deepEqual([events.map((event) => event.id), [...lost]], [['1', '2'], ['timeout']]);
    assert.ok(seen.length > 1);
});

test('an event may take as long as it takes: the silence meanwhile is ours', async (t) => {
    fast(t, (ms) => ms / 100);
    const { chat, seen } = await sending(t, [told(1, 'job', {}) + told(2, 'end', {})], () => {});
    for await (const _ of chat.events()) await new Promise((done) => setTimeout(done, 60_000));
    assert.equal(seen.length, 1);
});

const REFUSALS = { 401: 'unauthorized', 403: 'forbidden', 404: 'not_found', 422: 'invalid_request' };
for (const [status, code] of Object.entries(REFUSALS).map(([known, name]) => [Number(known), name])) {
    test(`a stream that is refused with ${status} is not asked for again`, async (t) => {
        const { url, seen } = await serve(t, (response) => problem(response, status, code, 'No.'));
        const lost = () => assert.fail('it is not lost');
        await assert.rejects(all(new Turnfold({ server: url }).chat('c').events({ onLost: lost })), { status, code });
        assert.equal(seen.length, 1);
    });
}

test('neither is what is no stream, nor one that nobody can read, nor one that has nothing to say', async (t) => {
    const script = [
        (response) => json(response, {}),
        (response) => { stream(response); response.end('data: {"half\n\n'); },
        (response) => response.writeHead(204).end(),
    ];
    const { url, seen } = await serve(t, (response, _, nth) => script[nth - 1](response));
    const chat = new Turnfold({ server: url }).chat('c');
    for (const _ of [1, 2]) await assert.rejects(all(chat.events()), { name: 'TurnfoldError', code: 'not_turnfold' });
    assert.deepEqual(await all(chat.events()), []);
    assert.equal(seen.length, 3);
});

test('whoever listens is told of their own errors', async (t) => {
    const { chat, seen } = await sending(t, [told(1, 'job', {})]);
    const wrong = () => { throw new RangeError('mine'); };
    await assert.rejects(all(chat.events({ onOpen: wrong })), RangeError);
    await assert.rejects(async () => { for await (const _ of chat.events()) wrong(); }, RangeError);
    assert.equal(seen.length, 2);
});

test('an abort ends a stream, be it before, while it is read, or while it waits to be opened again', async (t) => {
    const clock = fast(t);
    const { url, seen } = await serve(t, (response, call) => {
        if (call.url.includes('away')) return response.destroy();
        stream(response);
        return response.write(told(1, 'job', {}));
    });
    const server = new Turnfold({ server: url });
    assert.deepEqual(await all(server.chat('c').events({ signal: AbortSignal.abort() })), []);
    assert.equal(seen.length, 0);
    const reading = new AbortController();
    for await (const _ of server.chat('c').events({ signal: reading.signal })) setImmediate(() => reading.abort());
    const waiting = new AbortController();
    const onLost = () => setImmediate(() => waiting.abort());
    await all(server.chat('away').events({ signal: waiting.signal, onLost }));
    assert.equal(seen.length, 2);
    assert.ok(![...clock.running.values()].some((ms) => ms === 45_000 || ms === 1000));
});

test('nothing is left over of a stream, however often it was opened', async (t) => {
    const clock = fast(t);
    const { signal } = new AbortController();
    const held = [];
    const { url } = await serve(t, (response, _, nth) => {
        held.push(getEventListeners(signal, 'abort').length);
        stream(response);
        response.end(told(nth, nth < 30 ? 'job' : 'end', {}));
    });
    await all(new Turnfold({ server: url }).chat('c').events({ signal }));
    assert.equal(Math.max(...held), 1);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    assert.ok(![...clock.running.values()].some((ms) => ms === 45_000 || ms === 1000));
});

test('leaving a stream lets go of the connection', async (t) => {
    const { promise, resolve } = deferred();
    const { url } = await serve(t, (response) => {
        response.on('close', resolve);
        stream(response);
        response.write(told(1, 'job', {}));
    });
    for await (const _ of new Turnfold({ server: url }).chat('c').events()) break;
    await promise;
});

test('a backlog is followed to the end of its job, or begun and left alone', async (t) => {
    const job = { id: 'j-1', state: 'queued' };
    const { url, seen } = await serve(t, (response, call) => {
        const begun = { job: call.body.includes('"one"') ? null : job };
        if (call.method === 'POST') return json(response, begun, 202);
        stream(response);
        return response.end(told(1, 'progress', { percent: 50 }) + told(2, 'end', { ...job, state: 'succeeded' }));
    });
    const chat = new Turnfold({ server: url }).chat('c');
    const percents = [];
    const done = await chat.backlog('all', { onProgress: ({ percent }) => percents.push(percent) });
    assert.deepEqual([done.job?.state, percents], ['succeeded', [50]]);
    assert.deepEqual(await chat.backlog('all'), { job });
    assert.deepEqual(await chat.backlog('one', {}), { job: null });
    assert.equal(seen.filter((call) => call.url === '/v1/jobs/j-1/events').length, 1);
});

test('following that is given up is no end of the job', async (t) => {
    const { url } = await serve(t, (response, call) => {
        if (call.method === 'POST') return json(response, { job: { id: 'j' } }, 202);
        stream(response);
        return response.write(told(1, 'progress', { percent: 1 }));
    });
    const given = new AbortController();
    const following = { signal: given.signal, onProgress: () => setImmediate(() => given.abort()) };
    await assert.rejects(new Turnfold({ server: url }).chat('c').backlog('all', following), { code: 'aborted' });
});

function deferred() {
    /** @type {any} */
    const parts = {};
    parts.promise = new Promise((resolve) => { parts.resolve = resolve; });
    return parts;
}
