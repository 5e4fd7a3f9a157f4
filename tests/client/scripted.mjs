/** A server that answers as a test says, and a clock that is ahead of time. */

import { once } from 'node:events';
import { createServer } from 'node:http';

/**
 * Serves on a free port until the test ends; `url` and what was `seen`.
 * @param {import('node:test').TestContext} t
 * @param {(response: import('node:http').ServerResponse, call: any, nth: number) => unknown} answer
 */
export async function serve(t, answer) {
    const seen = [];
    const server = createServer(async (request, response) => {
        const parts = [];
        for await (const part of request) parts.push(part);
        const { method, url, headers } = request;
        const call = { method, url, headers, body: Buffer.concat(parts).toString() };
        seen.push(call);
        await answer(response, call, seen.length);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
        server.closeAllConnections();
        server.close();
    });
    return { url: `http://127.0.0.1:${/** @type {any} */ (server.address()).port}`, seen };
}

/** Answers JSON. */
export function json(response, body, status = 200, headers = {}) {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** A problem as Turnfold tells it. */
export function problem(response, status, code, detail, { headers = {}, ...more } = {}) {
    const body = { type: `urn:turnfold:problem:${code}`, title: 'A title', status, detail, code, ...more };
    response.writeHead(status, { 'Content-Type': 'application/problem+json', ...headers }).end(JSON.stringify(body));
}

/** Begins a stream. */
export function stream(response) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
    response.flushHeaders();
}

/** An event as Turnfold sends it. */
export const told = (id, event, data) => `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/**
 * Hurries timers while the test runs: the short ones, unless it says otherwise, since a busy machine is slow by itself.
 * @param {import('node:test').TestContext} t @param {(ms: number) => number} [hurried]
 * @returns {{asked: number[], running: Map<unknown, number>}} milliseconds of all timers, Node's own for its HTTP
 *   client among them, and of those that are still running
 */
export function fast(t, hurried = (ms) => (ms <= 30_000 ? ms / 1000 : ms)) {
    const { setTimeout: set, clearTimeout: clear } = globalThis;
    const clock = { asked: /** @type {number[]} */ ([]), running: new Map() };
    globalThis.setTimeout = /** @type {any} */ ((done, ms, ...given) => {
        clock.asked.push(ms);
        const timer = set(() => {
            clock.running.delete(timer);
            done(...given);
        }, hurried(ms));
        clock.running.set(timer, ms);
        return timer;
    });
    globalThis.clearTimeout = /** @type {any} */ ((timer) => {
        clock.running.delete(timer);
        clear(timer);
    });
    t.after(() => Object.assign(globalThis, { setTimeout: set, clearTimeout: clear }));
    return clock;
}
