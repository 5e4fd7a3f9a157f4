/** What a call sends, and what it makes of every answer there may be. */

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { part, Turnfold, TurnfoldError } from '../../static/turnfold.js';
import { fast, json, problem, serve } from './scripted.mjs';

/** The error of a call that must fail. */
async function failure(call) {
    const error = await call.then(() => assert.fail('it went well'), (caught) => caught);
    assert.ok(error instanceof TurnfoldError, error);
    return error;
}

test('the names of the API go out as they were given, and the key in a header', async (t) => {
    const { url, seen } = await serve(t, (response) => json(response, { appended: 1 }, 201));
    const chat = new Turnfold({ server: url, key: ' k-1\n' }).chat('Mira & Tom @ 10:30 % 😀');
    assert.deepEqual(await chat.append([{ role: 'user', content: 'Hé' }], { fold: 'none' }), { appended: 1 });
    const [call] = seen;
    assert.equal(call.url, '/v1/chats/Mira%20%26%20Tom%20%40%2010%3A30%20%25%20%F0%9F%98%80/messages');
    assert.equal(call.headers.authorization, 'Bearer k-1');
    assert.equal(call.headers['content-type'], 'application/json');
    assert.deepEqual(JSON.parse(call.body), { messages: [{ role: 'user', content: 'Hé' }], fold: 'none' });
});

test('headers of one’s own go along, in whatever form', async (t) => {
    const { url, seen } = await serve(t, (response) => json(response, {}));
    const server = new Turnfold({ server: url, key: 'k' });
    const given = { 'Idempotency-Key': 'one' };
    for (const headers of [given, new Headers(given), Object.entries(given)]) {
        await server.request('POST', '/chats', { body: {}, headers });
    }
    const sent = seen.map(({ headers: h }) => `${h['idempotency-key']} ${h.authorization} ${h['content-type']}`);
    assert.deepEqual(sent, Array(3).fill('one Bearer k application/json'));
});

test('every method of a chat is a call of the API', async (t) => {
    const { url, seen } = await serve(t, (response) => json(response, {}));
    const chat = new Turnfold({ server: url }).chat('c');
    await chat.put({ title: 'T' });
    await chat.sync([], { reset: true });
    await chat.edit('m 1', { hidden: true });
    await chat.remove('m 1');
    await chat.project({ context_size: 8192, system_prompt: 'a b&c', view: null, current: undefined });
    await chat.project({ current: [], context_size: 1 });
    await chat.status();
    await chat.preview();
    await chat.command('/sc-status');
    await chat.backlog('skip');
    await chat.stop();
    await chat.request('GET', '/search', { query: { q: 'gate' } });
    assert.deepEqual(seen.map(({ method, url: path, body }) => `${method} ${path} ${body}`.trim()), [
        'PUT /v1/chats/c {"title":"T"}',
        'PUT /v1/chats/c/messages {"messages":[],"reset":true}',
        'PATCH /v1/chats/c/messages/m%201 {"hidden":true}',
        'DELETE /v1/chats/c/messages/m%201',
        'GET /v1/chats/c/projection?context_size=8192&system_prompt=a+b%26c',
        'POST /v1/chats/c/projection {"current":[],"context_size":1}',
        'GET /v1/chats/c/status',
        'GET /v1/chats/c/preview',
        'POST /v1/chats/c/commands {"command":"/sc-status"}',
        'POST /v1/chats/c/backlog {"choice":"skip"}',
        'POST /v1/chats/c/stop',
        'GET /v1/chats/c/search?q=gate',
    ]);
});

for (const [given, address] of [
    ['http://h:1/', 'http://h:1'], ['https://h/turnfold//', 'https://h/turnfold'], ['http://h:1/v1/', 'http://h:1'],
    [' 127.0.0.1:8787 ', 'http://127.0.0.1:8787'], ['localhost:8787', 'http://localhost:8787'], ['', ''],
    ['/memory', '/memory'], ['http://h/v1x', 'http://h/v1x'],
]) {
    test(`an address as people write it: ${JSON.stringify(given)}`, () => {
        assert.equal(new Turnfold({ server: given }).server, address);
    });
}

test('a server below a path is reached there', async (t) => {
    const { url, seen } = await serve(t, (response) => json(response, {}));
    await new Turnfold({ server: `${url}/memory/` }).request('GET', '/settings');
    assert.equal(seen[0].url, '/memory/v1/settings');
});

test('a list is read page by page, and no further than it is asked', async (t) => {
    const pages = { '': { items: [1, 2], next_cursor: 'a b' }, 'a b': { items: [3], next_cursor: 'c' } };
    const { url, seen } = await serve(t, (response, call) => {
        json(response, pages[new URL(call.url, 'http://h').searchParams.get('cursor') ?? '']);
    });
    const found = [];
    for await (const item of new Turnfold({ server: url }).chat('c').list('/snippets', { layer: 0 })) {
        if (found.push(item) === 3) break;
    }
    assert.deepEqual(found, [1, 2, 3]);
    assert.deepEqual(seen.map((call) => call.url), [
        '/v1/chats/c/snippets?limit=1000&layer=0', '/v1/chats/c/snippets?limit=1000&layer=0&cursor=a+b',
    ]);
});

test('an answer that is no JSON is text, and none at all is null', async (t) => {
    const { url } = await serve(t, (response, call) => {
        if (call.method === 'DELETE') response.writeHead(204).end();
        else response.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).end('{"a":1}\n{"b":2}\n');
    });
    const server = new Turnfold({ server: url });
    assert.equal(await server.request('GET', '/chats/c/export'), '{"a":1}\n{"b":2}\n');
    assert.equal(await server.request('DELETE', '/chats/c'), null);
});

test('a problem is told whole', async (t) => {
    const errors = [{ loc: ['body', 'messages', 0, 'content'], msg: 'Must be a string.' }];
    const { url } = await serve(t, (response) => problem(response, 422, 'invalid_request', 'Not so.', { errors }));
    const error = await failure(new Turnfold({ server: url }).chat('c').append([]));
    const { name, message, detail, status, code, title, retryAfter, temporary } = error;
    assert.deepEqual({ name, message, detail, status, code, title, retryAfter, temporary, errors: error.errors }, {
        name: 'TurnfoldError', message: 'Not so.', detail: 'Not so.', status: 422, code: 'invalid_request',
        title: 'A title', retryAfter: null, temporary: false, errors,
    });
});

test('Retry-After is seconds, whether it was said in seconds or as a date', async (t) => {
    const said = ['7', new Date(Date.now() + 60_000).toUTCString(), new Date(0).toUTCString(), 'soon', '0'];
    const { url } = await serve(t, (response, _, nth) => {
        problem(response, 429, 'rate_limited', 'Later.', { headers: { 'Retry-After': said[nth - 1] }, errors: null });
    });
    const server = new Turnfold({ server: url });
    const found = [];
    for (const _ of said) found.push(await failure(server.request('GET', '/chats')));
    const [seconds, date, past, nonsense, now] = found.map((error) => error.retryAfter);
    assert.ok(date > 55 && date <= 60, date);
    assert.deepEqual([seconds, past, nonsense, now], [7, 0, null, 0]);
    assert.deepEqual(found[0].errors, []);
    assert.equal(found[0].temporary, true);
});

test('whatever is not Turnfold is told from it', async (t) => {
    const answers = [
        [500, 'text/html', '<h1>Oh</h1>'], [413, 'text/html', '<h1>Too large</h1>'], [502, 'text/plain', ''],
        [200, 'text/html', '<h1>Welcome</h1>'], [200, 'application/json', '{"half": '], [404, 'application/json', '[]'],
        [404, 'application/json', '{"detail": "Not Found"}'], [400, 'application/json', 'null'],
    ];
    const { url } = await serve(t, (response, _, nth) => {
        const [status, kind, body] = answers[nth - 1];
        response.writeHead(status, { 'Content-Type': kind }).end(body);
    });
    for (const [status] of answers) {
        const error = await failure(new Turnfold({ server: url }).chat('c').status());
        assert.deepEqual([error.code, error.status, error.temporary], ['not_turnfold', status, status >= 500]);
        assert.equal(error.detail, `${url}/v1/chats/c/status answered ${status}, but not as Turnfold does.`
            + ' Is the address right?');
    }
});

test('a server that is away, and one that is cut off in the middle of its answer, cannot be reached', async (t) => {
    const { url } = await serve(t, (response) => {
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 100 });
        response.write('{"half": ', () => response.destroy());
    });
    for (const server of [url, 'http://127.0.0.1:1', 'http://']) {
        const error = await failure(new Turnfold({ server }).request('GET', '/chats'));
        assert.deepEqual([error.code, error.status, error.temporary], ['unreachable', 0, true]);
        assert.match(error.detail, /^Turnfold at .* cannot be reached\. Is it running\?/);
        assert.ok(error.cause instanceof Error);
    }
});

test('what cannot be sent is said before it is', async (t) => {
    const { url, seen } = await serve(t, (response) => json(response, {}));
    for (const key of ['ключ', 'two\nlines', '“quoted”']) {
        const error = await failure(new Turnfold({ server: url, key }).request('GET', '/chats'));
        assert.deepEqual([error.code, error.temporary], ['invalid_call', false]);
        assert.match(error.detail, /^The key /);
    }
    const circle = {};
    circle.circle = circle;
    await assert.rejects(new Turnfold({ server: url }).request('POST', '/chats', { body: circle }), TypeError);
    assert.equal(seen.length, 0);
});

test('an id is one part of a path, or none at all', async () => {
    assert.equal(part('a b@c:d%e?f#g é 夜 😀'), 'a%20b%40c%3Ad%25e%3Ff%23g%20%C3%A9%20%E5%A4%9C%20%F0%9F%98%80');
    assert.equal(part('...'), '...');
    const chat = new Turnfold({ server: 'http://127.0.0.1:1' }).chat('c');
    for (const id of ['', '.', '..', 'a/b', '../other', '\ud800']) {
        assert.throws(() => part(id), { name: 'TurnfoldError', code: 'invalid_call' });
        assert.throws(() => chat.remove(id), { code: 'invalid_call' }, 'it would delete something else');
    }
});

test('a call that is cut, before it began or while it runs, says so', async (t) => {
    const { url, seen } = await serve(t, (response) => response.writeHead(200).write('a'));
    const server = new Turnfold({ server: url });
    const cut = new AbortController();
    const running = failure(server.request('GET', '/chats', { signal: cut.signal, timeout: 0 }));
    while (!seen.length) await new Promise(setImmediate);
    cut.abort(new Error('enough'));
    const before = await failure(server.request('GET', '/chats', { signal: cut.signal }));
    for (const error of [await running, before]) assert.deepEqual([error.code, error.temporary], ['aborted', false]);
    assert.equal(seen.length, 1);
});

test('a time-out holds for the whole answer, headers and body', async (t) => {
    const { url } = await serve(t, (response, _, nth) => {
        if (nth > 1) response.writeHead(nth === 2 ? 200 : 500, { 'Content-Type': 'application/json' }).write('{');
    });
    const server = new Turnfold({ server: url, timeout: 300 });
    for (const call of [1, 2, 3].map(() => server.request('GET', '/chats'))) {
        const error = await failure(call);
        assert.deepEqual([error.code, error.temporary], ['timeout', true]);
        assert.match(error.detail, /gave no answer in time/);
    }
    const own = await failure(server.request('GET', '/chats', { timeout: 0, signal: AbortSignal.timeout(20) }));
    assert.equal(own.code, 'timeout');
});

test('a call that waits has the time for it', async (t) => {
    const { url } = await serve(t, (response) => json(response, {}));
    const clock = fast(t);
    await new Turnfold({ server: url, timeout: 11_000 }).chat('c').append([], { fold: 'wait', wait_s: 120 });
    await new Turnfold({ server: url, timeout: 11_000 }).request('GET', '/client-calls', { query: { wait_s: 60 } });
    await new Turnfold({ server: url, timeout: 0 }).chat('c').append([], { fold: 'wait', wait_s: 120 });
    await new Turnfold({ server: url, timeout: 11_000 }).chat('c').append([], {}, { timeout: Infinity });
    assert.deepEqual(clock.asked.filter((ms) => ms > 11_000), [131_000, 71_000, 2 ** 31 - 1]);
});

test('nothing is left over of a call: no timer, no listener', async (t) => {
    const answers = [(response) => json(response, {}), (response) => problem(response, 404, 'not_found', 'No.')];
    const { url } = await serve(t, (response, _, nth) => answers[nth % 2](response));
    const clock = fast(t);
    const { signal } = new AbortController();
    const chat = new Turnfold({ server: url }).chat('c');
    for (let nth = 0; nth < 20; nth++) await chat.status({ signal }).catch(() => {});
    await failure(new Turnfold({ server: 'http://127.0.0.1:1' }).request('GET', '/chats', { signal }));
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    assert.deepEqual(clock.asked.filter((ms) => ms === 60_000).length, 21);
    assert.ok(![...clock.running.values()].includes(60_000));
});

test('a response can be had as it is, and its body be cut', async (t) => {
    const { url } = await serve(t, (response, call) => {
        if (call.url.endsWith('/jobs')) return problem(response, 404, 'not_found', 'No.');
        response.writeHead(200, { 'Content-Disposition': 'attachment; filename="c.jsonl"' });
        return response.write('one');
    });
    const server = new Turnfold({ server: url });
    const cut = new AbortController();
    const response = await server.open('GET', '/chats/c/export', { signal: cut.signal });
    assert.match(response.headers.get('content-disposition') ?? '', /c\.jsonl/);
    cut.abort();
    await assert.rejects(response.text(), { name: 'AbortError' });
    assert.equal((await failure(server.open('GET', '/jobs'))).code, 'not_found');
});

test('a fetch of one’s own is used', async () => {
    const asked = [];
    const fetch = async (url) => {
        asked.push(url);
        return Response.json({});
    };
    await new Turnfold({ server: 'http://h', fetch: /** @type {any} */ (fetch) }).chat('c').status();
    assert.deepEqual(asked, ['http://h/v1/chats/c/status']);
});
