/**
 * Answers the calls that the server's `client` provider has for us, one at a time and never during another generation.
 *
 * A call is leased: it is ours while we renew it, and goes back when the user needs the model, when the page closes, or
 * by itself when we are gone. Only chats that this page has opened are answered: others may share the server.
 */

import { free, isFree, startGate } from './gate.js';
import { online } from './host.js';
import { ask } from './lending.js';
import { failed } from './refusal.js';
import { session } from './session.js';
import { server, settings } from './settings.js';
import { part, TurnfoldError } from './turnfold.js';

/** The connection whose calls are ours. */
export const CONNECTION = 'SillyTavern';

const LEASE_S = 180; // a hidden tab's timers come once a minute, and a lease is renewed thrice
const RETRIES_MS = [1000, 4000, 15_000];
const GONE = [404, 409];

/** Names this page; `crypto.randomUUID` is there on https alone. */
const client = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16)).join('.');

/** @type {Set<string>} chats that may have a call for us */
const asked = new Set();
let working = false;
/** @type {{call: any, cut: AbortController}|null} */
let current = null;

/** @param {string} id @param {string} verb @param {Record<string, any>} body @param {Record<string, any>} [options] */
const tell = (id, verb, body, options) => server()
    .request('POST', `/client-calls/${part(id)}${verb}`, { body: { client, ...body }, ...options });

/** Whether calls are answered at this moment. The page may be closed at any other. */
export function isWilling() {
    const { enabled, source } = settings();
    return enabled && (source.kind === 'profile' ? Boolean(source.profile) : online());
}

/** The chat may have a call for us. @param {string} chat */
export function wake(chat) {
    asked.add(chat);
    resume();
}

/** Goes on if there is something to do. */
export function resume() {
    if (!working) work();
}

async function work() {
    working = true;
    try {
        while (asked.size && isWilling()) {
            await free();
            const chat = session.id && asked.has(session.id) ? session.id : [...asked][0];
            asked.delete(chat);
            const call = await take(chat);
            if (call) await handle(call);
        }
    } finally {
        working = false;
    }
}

/** @param {string} chat @returns {Promise<any>} the next of its calls; undefined if there is none, or no server */
async function take(chat) {
    const query = { chat_id: chat, client, limit: 1, lease_s: LEASE_S };
    const page = await server().request('GET', '/client-calls', { query }).catch(forgiven);
    return page?.items[0];
}

/** Of the server's errors none matters here: what was not told goes on when the lease ends. @param {unknown} error */
function forgiven(error) {
    if (!(error instanceof TurnfoldError)) throw error;
}

/** @param {any} call */
async function handle(call) {
    if (call.connection !== CONNECTION) return void tell(call.id, '/release', {}).catch(forgiven);
    asked.add(call.chat_id); // there may be more
    const { cut } = current = { call, cut: new AbortController() };
    const renewing = setInterval(check, LEASE_S * 1000 / 3);
    try {
        const body = await answer(call, cut.signal);
        if (cut.signal.aborted) return; // what could not be cut has ended: its answer is nobody's now
        if (body.error && !isWilling()) return giveBack();
        current = null;
        await deliver(call.id, body);
    } finally {
        clearInterval(renewing);
        current = null;
    }
}

/** @param {any} call @param {AbortSignal} cut @returns {Promise<Record<string, any>>} */
async function answer(call, cut) {
    if (!await isFree()) giveBack();
    if (cut.aborted) return {};
    return ask(call, settings().source, cut).catch((error) => ({ error: failed(error, 0).told() }));
}

/**
 * An answer has cost the user time or money: it is told again if the server is away.
 * @param {string} id @param {Record<string, any>} body
 */
async function deliver(id, body) {
    for (const wait of [...RETRIES_MS, 0]) {
        const error = await tell(id, '', body).then(() => null, (cause) => cause);
        if (!error || error.status) return;
        await new Promise((done) => setTimeout(done, wait));
    }
}

/** Cuts what runs, and leaves its call to whoever comes next. */
export function giveBack() {
    if (!current || current.cut.signal.aborted) return;
    current.cut.abort();
    tell(current.call.id, '/release', {}, { keepalive: true }).catch(forgiven);
}

/** Renews the lease of what runs; what the server does not want any more is cut. */
export async function check() {
    const checked = current;
    if (!checked || checked.cut.signal.aborted) return;
    const error = await tell(checked.call.id, '/renew', { lease_s: LEASE_S }).then(() => null, (cause) => cause);
    if (GONE.includes(error?.status)) checked.cut.abort();
}

/** A job of the chat has ended: what ran for it is cut, unless something else waits. @param {string} chat */
export async function ended(chat) {
    if (current?.call.chat_id !== chat) return;
    const { cut } = current;
    const status = await server().chat(chat).status().catch(forgiven);
    if (status && !status.connection.waiting) cut.abort();
    else await check();
}

/** Gives way to the user's generations, and gives back what runs when the page closes. */
export function startAnswering() {
    startGate(giveBack);
    globalThis.addEventListener('pagehide', giveBack);
}
