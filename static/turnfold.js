/**
 * Turnfold's client: one ES module without dependencies, for browsers, Node (18 or newer) and bundlers.
 *
 *     import { Turnfold } from './turnfold.js';
 *     const chat = new Turnfold({ server: 'http://127.0.0.1:8787' }).chat('my-chat');
 *     await chat.append([{ role: 'user', content: 'Is the gate still shut?' }]);
 *     const { messages } = await chat.project({ context_size: 8192 });
 *
 * Field names are the API's own (docs/api.md). Whatever fails throws a TurnfoldError.
 *
 * @typedef {{id?: string, role: 'user'|'assistant'|'system'|'tool', content: string|null, name?: string|null,
 *   hidden?: boolean, pinned?: boolean, history?: 'keep'|'omit', created_at?: string,
 *   extra?: Record<string, unknown>}} Message
 * @typedef {{signal?: AbortSignal, timeout?: number}} Options `timeout` in milliseconds; 0 waits for ever.
 * @typedef {{event: string, data: any, id: string|null}} TurnfoldEvent
 * @typedef {Options & {onOpen?: () => void, onLost?: (error: TurnfoldError) => void, lastEventId?: string|null}} Watching
 */

const STREAM = 'text/event-stream';
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
const NEVER = 'Error 404 405 422 401 403'; // of these statuses a stream is not opened again

/** What a call came to grief on. `status` 0: no answer came, the server is away or too slow. */
export class TurnfoldError extends Error {
    /**
     * @param {string} detail what happened and what to do, for people
     * @param {{status?: number, code?: string, title?: string, errors?: {loc: (string|number)[], msg: string}[],
     *   retryAfter?: number|null, cause?: unknown}} [problem] the server's own problem detail; `retryAfter` in seconds
     */
    constructor(detail, { status = 0, code = 'unreachable', title = '', errors = [], retryAfter = null, cause } = {}) {
        super(detail, { cause });
        Object.assign(this, { name: 'TurnfoldError' });
        this.detail = detail;
        this.status = status;
        this.code = code;
        this.title = title;
        this.errors = errors;
        this.retryAfter = retryAfter;
    }
}

/** A server. Holds no state but its address and key. */
export class Turnfold {
    /** @param {{server?: string, key?: string, timeout?: number, fetch?: typeof globalThis.fetch}} [options] */
    constructor({ server = 'http://127.0.0.1:8787', key = '', timeout = 30_000, fetch = globalThis.fetch } = {}) {
        this.server = server.trim().replace(/\/+$/, '');
        this.key = key;
        this.timeout = timeout;
        this.fetch = fetch.bind(globalThis);
    }

    /** @param {string} id */
    chat(id) { return new Chat(this, id); }

    /**
     * Any call of the API. @returns {Promise<any>} the answer's JSON, or its text where it is none
     * @param {string} method @param {string} path under `/v1`
     * @param {Options & {query?: Record<string, any>, body?: unknown, raw?: BodyInit, keepalive?: boolean}} [options]
     */
    async request(method, path, options = {}) {
        const response = await this.open(method, path, options);
        const text = await response.text().catch((cause) => { throw this.unreachable(cause, options); });
        return response.headers.get('content-type')?.includes('json') && text ? JSON.parse(text) : text;
    }

    /**
     * The response itself, once it is known to be good; its body may still be on its way.
     * @param {string} method @param {string} path @param {Record<string, any>} [options] as of `request`
     * @returns {Promise<Response>}
     */
    async open(method, path, { query = {}, body, raw, signal, timeout = this.timeout, keepalive, headers = {} } = {}) {
        const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
        const words = given.length ? `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : '';
        const all = { ...(this.key && { Authorization: `Bearer ${this.key}` }), ...headers };
        if (body !== undefined) all['Content-Type'] = 'application/json';
        const cut = [signal, timeout ? AbortSignal.timeout(timeout) : null].filter(Boolean);
        const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
        const init = { method, headers: all, body: sent, keepalive, signal: cut.length ? either(cut) : undefined };
        const response = await this.fetch(`${this.server}/v1${path}${words}`, init)
            .catch((cause) => { throw this.unreachable(cause, { signal }); });
        if (!response.ok) throw await problem(response);
        return response;
    }

    /** @param {any} cause @param {Options} options */
    unreachable(cause, { signal } = {}) {
        if (signal?.aborted) return new TurnfoldError('The call was cut.', { code: 'aborted', cause });
        const slow = cause?.name === 'TimeoutError';
        const what = slow ? `gave no answer in time` : `cannot be reached`;
        return new TurnfoldError(`Turnfold at ${this.server} ${what}. Is it running, and is this page's address among its`
            + ' CORS_ORIGINS?', { code: slow ? 'timeout' : 'unreachable', cause });
    }

    /**
     * Every item of a list, page by page. @param {string} path @param {Record<string, any>} [query]
     * @returns {AsyncGenerator<any, void>}
     */
    async *list(path, query = {}) {
        let cursor = null;
        do {
            const page = await this.request('GET', path, { query: { limit: 1000, ...query, cursor } });
            yield* page.items;
            cursor = page.next_cursor;
        } while (cursor);
    }

    /** Follows a job to its end. @param {string} id @param {Watching & {onProgress?: (progress: any) => void}} [options] */
    async follow(id, { onProgress, ...options } = {}) {
        for await (const { event, data } of this.events(`/jobs/${part(id)}/events`, options)) {
            if (event === 'progress') onProgress?.(data);
            if (event === 'end') return data;
        }
        return this.request('GET', `/jobs/${part(id)}`);
    }

    /**
     * Server-sent events until `end`, an abort or a refusal; a stream that was cut is opened again where it ended.
     * @param {string} path @param {Watching} [options] @returns {AsyncGenerator<TurnfoldEvent, void>}
     */
    async *events(path, { signal, onOpen, onLost, lastEventId = null } = {}) {
        for (let wait = FIRST_WAIT_MS; !signal?.aborted; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
            try {
                const headers = { Accept: STREAM, ...(lastEventId && { 'Last-Event-ID': lastEventId }) };
                const response = await this.open('GET', path, { signal, timeout: 0, headers });
                onOpen?.();
                for await (const told of read(response)) {
                    lastEventId = told.id ?? lastEventId;
                    wait = FIRST_WAIT_MS;
                    yield { ...told, id: lastEventId };
                    if (told.event === 'end') return;
                }
            } catch (cause) {
                if (signal?.aborted) return;
                const error = cause instanceof TurnfoldError ? cause : this.unreachable(cause, { signal });
                if (NEVER.includes(` ${error.status}`)) throw error;
                onLost?.(error);
            }
            await pause(wait, signal);
        }
    }
}

/** One chat of a server. */
export class Chat {
    /** @param {Turnfold} server @param {string} id */
    constructor(server, id) {
        this.server = server;
        this.id = id;
        this.path = `/chats/${part(id)}`;
    }

    /** @param {string} method @param {string} path under the chat's own @param {Record<string, any>} [options] */
    request(method, path, options) { return this.server.request(method, this.path + path, options); }
    /** @param {Record<string, any>} fields title, user_name, character_name, strategy, settings, … */
    put(fields) { return this.request('PUT', '', { body: fields }); }
    /** @param {Message[]} messages @param {Record<string, any>} [fields] fold, wait_s, session_id @param {Options} [options] */
    append(messages, fields, options) {
        return this.request('POST', '/messages', { body: { messages, ...fields }, ...options });
    }
    /** The whole history. @param {Message[]} messages @param {Record<string, any>} [fields] reset, allow_shrink,
     *  parent_chat_id @param {Options} [options] */
    sync(messages, fields, options) { return this.request('PUT', '/messages', { body: { messages, ...fields }, ...options }); }
    /** @param {string} id @param {Record<string, any>} fields @param {Options} [options] */
    edit(id, fields, options) { return this.request('PATCH', `/messages/${part(id)}`, { body: fields, ...options }); }
    /** @param {string} id @param {Options} [options] */
    remove(id, options) { return this.request('DELETE', `/messages/${part(id)}`, options); }
    /** What the model should be sent now. With `current`, `tools`, `frame` or `session_id` a fold may come first.
     *  @param {Record<string, any>} [asked] @param {Options} [options] */
    project(asked = {}, options) {
        const posted = ['current', 'tools', 'frame', 'session_id'].some((name) => name in asked);
        return this.request(posted ? 'POST' : 'GET', '/projection', { [posted ? 'body' : 'query']: asked, ...options });
    }
    /** @param {Options} [options] */
    status(options) { return this.request('GET', '/status', options); }
    /** @param {Options} [options] */
    preview(options) { return this.request('GET', '/preview', options); }
    /** @param {string} line e.g. `/sc-status` @returns {Promise<{text: string, data: any}>} */
    command(line, options = {}) { return this.request('POST', '/commands', { body: { command: line }, ...options }); }
    /** Folds what waits, and waits for the end of it if anybody wants to know.
     *  @param {'all'|'one'|'skip'} choice @param {Watching & {onProgress?: (progress: any) => void}} [watching] */
    async backlog(choice, watching) {
        const begun = await this.request('POST', '/backlog', { body: { choice } });
        return watching && begun.job ? this.server.follow(begun.job.id, watching) : begun;
    }
    /** Cuts what runs on this chat. */
    stop() { return this.request('POST', '/stop', { body: {} }); }
    /** @param {Watching} [options] @returns {AsyncGenerator<TurnfoldEvent, void>} */
    events(options) { return this.server.events(`${this.path}/events`, options); }
}

/** An id as a part of a path. @param {string} id */
export const part = (id) => encodeURIComponent(id);

/** @param {(AbortSignal|null|undefined)[]} signals @returns {AbortSignal} aborted with the first of them */
function either(signals) {
    const controller = new AbortController();
    for (const signal of signals) {
        const cut = () => controller.abort(signal?.reason);
        if (signal?.aborted) cut();
        signal?.addEventListener('abort', cut, { once: true, signal: controller.signal });
    }
    return controller.signal;
}

/** @param {number} ms @param {AbortSignal} [signal] */
function pause(ms, signal) {
    return new Promise((done) => {
        const timer = setTimeout(done, ms, undefined);
        signal?.addEventListener('abort', () => { clearTimeout(timer); done(undefined); }, { once: true });
    });
}

/** @param {Response} response */
async function problem(response) {
    const text = await response.text().catch(() => '');
    const retryAfter = Number(response.headers.get('retry-after')) || null;
    try {
        const told = JSON.parse(text);
        return new TurnfoldError(told.detail, { ...told, status: response.status, retryAfter });
    } catch (cause) {
        const detail = `The server answered ${response.status}, and not as Turnfold does. Is the address right?`;
        return new TurnfoldError(detail, { status: response.status, code: 'not_turnfold', retryAfter, cause });
    }
}

/** @param {Response} response @returns {AsyncGenerator<TurnfoldEvent, void>} */
async function* read(response) {
    const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
    const decoder = new TextDecoder();
    try {
        for (let rest = '', chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
            const blocks = (rest + decoder.decode(chunk.value, { stream: true })).split(/\r?\n\r?\n/);
            rest = blocks.pop() ?? '';
            for (const block of blocks) {
                const told = parse(block);
                if (told) yield told;
            }
        }
    } finally {
        reader.cancel().catch(() => {});
    }
}

/** @param {string} block @returns {TurnfoldEvent|null} null for a comment */
function parse(block) {
    const fields = block.split(/\r?\n/).map((line) => /^(event|data|id): ?(.*)$/.exec(line)).filter((found) => found !== null);
    const of = (/** @type {string} */ name) => fields.filter((field) => field[1] === name).map((field) => field[2]);
    const data = of('data').join('\n');
    return data ? { event: of('event')[0] ?? 'message', data: JSON.parse(data), id: of('id')[0] ?? null } : null;
}
