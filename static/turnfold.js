/**
 * Turnfold's client: one ES module without dependencies, for browsers, Node (18 or newer) and bundlers.
 *
 *     import { Turnfold } from './turnfold.js';
 *     const chat = new Turnfold({ server: 'http://127.0.0.1:8787' }).chat('my-chat');
 *     await chat.append([{ role: 'user', content: 'Is the gate still shut?' }]);
 *     const { messages } = await chat.project({ context_size: 8192 });
 *
 * Field names are the API's own (docs/api.md). Whatever fails throws a TurnfoldError. More in docs/javascript.md.
 *
 * @typedef {{role: 'system'|'user'|'assistant'|'tool', content: string|null, id?: string|null, name?: string|null,
 *   hidden?: boolean, pinned?: boolean, history?: 'keep'|'omit', created_at?: string|null, tool_calls?: object[]|null,
 *   tool_call_id?: string|null, extra?: Record<string, any>|null}} Message
 * @typedef {{message_id: string, index: number}} Place
 * @typedef {{messages: {role: string, content: any, name?: string, tool_calls?: any[], tool_call_id?: string}[],
 *   memory: {text: string, version: number, tokens: number, snippets: number, covered_through: Place|null},
 *   window: {first_index: number|null, turns: number, dropped_turns: number}, system: any, text: string|null,
 *   tokens: Record<'system'|'tools'|'memory'|'history'|'current'|'total', number> & {budget: number|null},
 *   left_out: {first_index: number, last_index: number, reason: string}[], prefix_hash: string, skipped: any,
 *   prefix_changed_by: string|null, warnings: {code: string, detail: string}[], sent: Piece[]|null}} Projection
 * @typedef {{part: 'system'|'pinned'|'memory'|'history'|'frame'|'current'|'opening', role: string, name: string|null,
 *   content: string|null, message_id: string|null, index: number|null, tokens: number, tool_calls?: any[],
 *   tool_call_id?: string}} Piece of a prompt, with `explain`
 * @typedef {{code: string, detail: string, connection: string, status: number|null, retry_at: string|null}} Failure
 * @typedef {{done: number, total: number, failed: number, percent: number, eta_s: number|null}} Progress
 * @typedef {{id: string, chat_id: string, kind: string, progress: Progress, reason: string|null, error: Failure|null,
 *   state: 'queued'|'running'|'succeeded'|'failed'|'cancelled'|'interrupted'}} Job
 * @typedef {{strategy: string, memory_version: number, enabled: boolean, paused: boolean, job: Job|null,
 *   counts: Record<'messages'|'turns'|'visible'|'ghosted'|'hidden'|'omitted'|'pinned'|'skipped', number>,
 *   layers: Record<'layer'|'snippets'|'limit'|'tokens'|'turns', number>[], summarized_through: Place|null,
 *   memory_tokens: number, raw_tokens: number, compression: number|null, last_error: Failure|null,
 *   backlog: {turns: number, batches: number, estimated_calls: number, choice_needed: boolean, [more: string]: any},
 *   connection: {name: string, provider: string, model: string|null, state: string, [more: string]: any},
 *   stale_snippets: number, degraded_snippets: number, warnings: string[]}} Status
 * @typedef {{event: string, data: any, id: string|null}} TurnfoldEvent
 * @typedef {{signal?: AbortSignal, timeout?: number}} Options `timeout` in milliseconds; 0: no limit
 * @typedef {Options & {query?: Record<string, any>, body?: unknown, raw?: BodyInit, headers?: HeadersInit,
 *   keepalive?: boolean}} Call `body` is sent as JSON, `raw` as it is
 * @typedef {{signal?: AbortSignal, lastEventId?: string|null, onOpen?: () => void,
 *   onLost?: (error: TurnfoldError) => void}} Watching `onLost`: it cannot be reached, and is tried again
 * @typedef {Watching & {onProgress?: (progress: Progress) => void}} Following
 */

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1; // a longer one would end at once
const SILENCE_MS = 45_000; // a server that is there says something every 15 seconds
const POSTED = ['current', 'tools', 'frame', 'session_id', 'omit_authors']; // a GET does not take these

/** What a call came to grief on. */
export class TurnfoldError extends Error {
    name = 'TurnfoldError';
    /**
     * @param {string} detail what happened and what to do, for people
     * @param {{status?: number, code?: string, title?: string, errors?: {loc: (string|number)[], msg: string}[]|null,
     *   retryAfter?: number|null, cause?: unknown}} problem as the server told it; `retryAfter` in seconds. Without a
     *   status no answer came, and `code` is unreachable, timeout, aborted, or invalid_call (it was not even sent);
     *   not_turnfold: something else answered
     */
    constructor(detail, { status = 0, code = 'unreachable', title = '', errors, retryAfter = null, cause }) {
        super(detail, cause ? { cause } : undefined);
        this.detail = detail;
        this.status = status;
        this.code = code;
        this.title = title;
        this.errors = errors ?? [];
        this.retryAfter = retryAfter;
    }

    /** Whether the same call may go well a little later. */
    get temporary() {
        return this.retryAfter !== null || this.status >= 500 || ['unreachable', 'timeout'].includes(this.code);
    }
}

/** A server. Holds no state but its address and key. */
export class Turnfold {
    /** @param {{server?: string, key?: string, timeout?: number, fetch?: typeof globalThis.fetch}} [options] */
    constructor({ server = 'http://127.0.0.1:8787', key = '', timeout = 60_000, fetch = globalThis.fetch } = {}) {
        this.server = server.trim().replace(/\/*(\/v1\/*)?$/, '').replace(/^(?!\/|$|\w+:\/\/)/, 'http://');
        this.key = key.trim();
        this.timeout = timeout;
        this.fetch = fetch.bind(globalThis);
    }

    /** @param {string} id */
    chat(id) { return new Chat(this, id); }

    /** Any call of the API: the answer's JSON, its text if it is no JSON, null if there is none.
     *  @param {string} method @param {string} path under `/v1` @param {Call} [call] @returns {Promise<any>} */
    async request(method, path, { signal, timeout, ...call } = {}) {
        const wait = (call.query ?? /** @type {any} */ (call.body))?.wait_s ?? 0; // how long the server may take
        const held = hold(signal, timeout ?? (this.timeout && this.timeout + 1000 * wait));
        try {
            const response = await this.open(method, path, { ...call, signal: held.signal });
            const kind = response.headers.get('content-type') ?? '';
            if (kind.includes('html')) throw refusal(response);
            const text = await response.text().catch((cause) => { throw this.#unreachable(cause, held.signal); });
            return response.status === 204 ? null : /[/+]json\b/.test(kind) ? json(text, response) : text;
        } finally {
            held.end();
        }
    }

    /** The response itself, once it is known to be good; its body is still on its way. Only `signal` cuts it.
     *  @param {string} method @param {string} path @param {Call} [call] @returns {Promise<Response>} */
    async open(method, path, { query = {}, body, raw, headers, ...call } = {}) {
        if (/[^ -~\xa0-\xff]/.test(this.key)) throw invalid('The key holds characters that cannot be sent.');
        const words = new URLSearchParams(Object.entries(query).filter(([, value]) => value != null)).toString();
        const all = new Headers(headers);
        if (this.key) all.set('Authorization', `Bearer ${this.key}`);
        if (body !== undefined) all.set('Content-Type', 'application/json');
        /** @type {RequestInit} */
        const sent = { method, headers: all, body: raw ?? JSON.stringify(body), cache: 'no-store', ...call };
        const response = await this.fetch(`${this.server}/v1${path}${words && `?${words}`}`, sent)
            .catch((cause) => { throw this.#unreachable(cause, call.signal); });
        if (response.ok) return response;
        const told = await response.json().catch(() => null);
        throw call.signal?.aborted ? this.#unreachable(null, call.signal) : refusal(response, told);
    }

    /** @param {unknown} cause @param {AbortSignal} [signal] */
    #unreachable(cause, signal) {
        const slow = signal?.reason?.name === 'TimeoutError';
        if (signal?.aborted && !slow) return new TurnfoldError('The call was cut.', { code: 'aborted', cause });
        const what = slow ? 'gave no answer in time' : 'cannot be reached';
        const detail = `Turnfold at ${this.server} ${what}. Is it running? And if a web page calls it, is the page`
            + ' among TURNFOLD_CORS_ORIGINS?';
        return new TurnfoldError(detail, { code: slow ? 'timeout' : 'unreachable', cause });
    }

    /** Every item of a list, page by page. @param {string} path @param {Record<string, any>} [query]
     *  @param {Options} [options] of each page @returns {AsyncGenerator<any, void>} */
    async *list(path, query = {}, options = {}) {
        let cursor = null;
        do {
            const page = await this.request('GET', path, { ...options, query: { limit: 1000, ...query, cursor } });
            yield* page.items;
            cursor = page.next_cursor;
        } while (cursor);
    }

    /** Follows a job to its end. @param {string} id @param {Following} [following] @returns {Promise<Job>} */
    async follow(id, { onProgress, ...watching } = {}) {
        for await (const { event, data } of this.events(`/jobs/${part(id)}/events`, watching)) {
            if (event === 'progress') onProgress?.(data);
            if (event === 'end') return data;
        }
        return this.request('GET', `/jobs/${part(id)}`, { signal: watching.signal });
    }

    /** Server-sent events until `end`, an abort or a refusal; a stream that was cut is opened again where it was.
     *  @param {string} path @param {Watching} [watching] @returns {AsyncGenerator<TurnfoldEvent, void>} */
    async *events(path, { signal, onOpen, onLost, lastEventId = null } = {}) {
        for (let wait = FIRST_WAIT_MS; !signal?.aborted; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
            const held = hold(signal, SILENCE_MS);
            try {
                const headers = { Accept: 'text/event-stream', ...(lastEventId && { 'Last-Event-ID': lastEventId }) };
                const response = await this.open('GET', path, { headers, signal: held.signal });
                if (response.status === 204) return;
                wait = FIRST_WAIT_MS;
                onOpen?.();
                for await (const told of this.#read(response, held)) {
                    lastEventId = told.id ?? lastEventId;
                    yield { ...told, id: lastEventId };
                    if (told.event === 'end') return;
                }
            } catch (error) {
                if (signal?.aborted) return;
                if (!(error instanceof TurnfoldError && error.temporary)) throw error;
                wait = Math.max(wait, (error.retryAfter ?? 0) * 1000);
                onLost?.(error);
            } finally {
                held.end();
            }
            await pause(wait, signal);
        }
    }

    /** @param {Response} response @param {ReturnType<typeof hold>} held */
    async *#read(response, held) {
        const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
        if (!isStream || !response.body) throw refusal(response);
        const reader = response.body.getReader();
        const decoder = new TextDecoder();
        for (let rest = ''; ;) {
            held.within(SILENCE_MS);
            const { value, done } = await reader.read()
                .catch((cause) => { throw this.#unreachable(cause, held.signal); });
            held.within(0); // what is done with an event takes the time it takes
            if (done) return;
            const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n|\r\r/);
            rest = blocks.pop() ?? '';
            for (const block of blocks) if (/^data:/m.test(block)) yield parse(block, response);
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

    /** @param {string} method @param {string} path under the chat's own @param {Call} [call] @returns {Promise<any>} */
    request(method, path, call) { return this.server.request(method, this.path + path, call); }
    /** @param {string} path e.g. /snippets @param {Record<string, any>} [query] @param {Options} [options] */
    list(path, query, options) { return this.server.list(this.path + path, query, options); }
    /** @param {Record<string, any>} [fields] title, strategy, settings, … @param {Options} [options] */
    put(fields = {}, options) { return this.request('PUT', '', { body: fields, ...options }); }
    /** @param {Message[]} messages @param {Record<string, any>} [fields] fold, wait_s, … @param {Call} [call] */
    append(messages, fields, call) {
        return this.request('POST', '/messages', { body: { messages, ...fields }, ...call });
    }
    /** The whole history. @param {Message[]} messages @param {Record<string, any>} [fields] @param {Call} [call] */
    sync(messages, fields, call) {
        return this.request('PUT', '/messages', { body: { messages, ...fields }, ...call });
    }
    /** @param {string} id of a message @param {Record<string, any>} fields @param {Options} [options] */
    edit(id, fields, options) { return this.request('PATCH', `/messages/${part(id)}`, { body: fields, ...options }); }
    /** @param {string} id of a message @param {Options} [options] */
    remove(id, options) { return this.request('DELETE', `/messages/${part(id)}`, options); }
    /** What the model should be sent now. With a field that only a POST takes, a fold may come first.
     *  @param {Record<string, any>} [asked] @param {Options} [options] @returns {Promise<Projection>} */
    project(asked = {}, options) {
        const [method, given] = POSTED.some((name) => asked[name] != null) ? ['POST', 'body'] : ['GET', 'query'];
        return this.request(method, '/projection', { [given]: asked, ...options });
    }
    /** @param {Options} [options] @returns {Promise<Status>} */
    status(options) { return this.request('GET', '/status', options); }
    /** @param {Options} [options] @returns {Promise<{text: string, tokens: number, version: number}>} */
    preview(options) { return this.request('GET', '/preview', options); }
    /** @param {string} line e.g. /sc-status @param {Options} [options] @returns {Promise<{text: string, data: any}>} */
    command(line, options) { return this.request('POST', '/commands', { body: { command: line }, ...options }); }
    /** Folds what waits. With `following`, answers once the job has ended, well or not, with the job as it is then.
     *  @param {'all'|'one'|'skip'} choice @param {Following} [following]
     *  @returns {Promise<{job?: Job|null, reason?: string|null, skipped_turns?: number}>} */
    async backlog(choice, following) {
        const begun = await this.request('POST', '/backlog', { body: { choice }, signal: following?.signal });
        return following && begun.job ? { ...begun, job: await this.server.follow(begun.job.id, following) } : begun;
    }
    /** Cuts what runs on this chat. @param {Options} [options] @returns {Promise<{stopped: boolean, job: Job|null}>} */
    stop(options) { return this.request('POST', '/stop', options); }
    /** @param {Watching} [watching] @returns {AsyncGenerator<TurnfoldEvent, void>} */
    events(watching) { return this.server.events(`${this.path}/events`, watching); }
}

/** An id as a part of a path. A slash or dots would make it another path. @param {string} id */
export function part(id) {
    if (/^\.{0,2}$|\/|\p{Cs}/u.test(id)) throw invalid(`"${id}" is no id: none is empty, . or .., or has / in it.`);
    return encodeURIComponent(id);
}

/** @param {string} detail */
const invalid = (detail) => new TurnfoldError(detail, { code: 'invalid_call' });

/** @param {Response} response @param {any} [told] the server's problem @param {unknown} [cause] */
function refusal({ url, status, headers }, told, cause) {
    const after = headers.get('retry-after') ?? '';
    const seconds = /^\d+$/.test(after) ? Number(after) : Math.max(0, (Date.parse(after) - Date.now()) / 1000);
    const problem = { status, retryAfter: Number.isNaN(seconds) ? null : seconds, cause };
    if (told?.detail && told.code) return new TurnfoldError(told.detail, { ...told, ...problem });
    const detail = `${url} answered ${status}, but not as Turnfold does. Is the address right?`;
    return new TurnfoldError(detail, { code: 'not_turnfold', ...problem });
}

/** @param {string} text @param {Response} response */
function json(text, response) {
    try {
        return JSON.parse(text);
    } catch (cause) {
        throw refusal(response, null, cause);
    }
}

/** @param {string} block of a stream @param {Response} response @returns {TurnfoldEvent} */
function parse(block, response) {
    const lines = block.split(/\r\n|\r|\n/).map((line) => /^(\w+): ?(.*)$/s.exec(line) ?? []);
    const of = (/** @type {string} */ name) => lines.filter((line) => line[1] === name).map((line) => line[2]);
    return { event: of('event')[0] ?? 'message', data: json(of('data').join('\n'), response), id: of('id')[0] ?? null };
}

/** A signal for one call: cut by the caller's own, or when `ms` (0: no limit) are over; `end` lets go of both.
 *  @param {AbortSignal|undefined} outer @param {number} ms */
function hold(outer, ms) {
    const inner = new AbortController();
    const cut = () => inner.abort(outer?.reason);
    const late = () => inner.abort(new DOMException('It took too long.', 'TimeoutError'));
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    let timer;
    const within = (/** @type {number} */ limit) => {
        clearTimeout(timer);
        if (limit) timer = setTimeout(late, Math.min(limit, LONGEST_TIMER_MS));
    };
    within(ms);
    outer?.addEventListener('abort', cut);
    if (outer?.aborted) cut();
    const end = () => {
        within(0);
        outer?.removeEventListener('abort', cut);
        inner.abort();
    };
    return { signal: inner.signal, within, end };
}

/** @param {number} ms @param {AbortSignal} [signal] */
async function pause(ms, signal) {
    const held = hold(signal, ms);
    if (!held.signal.aborted) await new Promise((done) => held.signal.addEventListener('abort', done));
    held.end();
}
