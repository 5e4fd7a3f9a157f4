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

const LEASE_S = 90; // a hidden tab's timers come once a minute; a call may take 120 s where nobody said otherwise
const SHOWN_S = 5;
const RENEWED_MS = 30_000;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
const GONE = [404, 409];
const MENDED = [401, 429]; // a key may be corrected

/** Names this page; `crypto.randomUUID` is there on https alone. */
const client = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16)).join('.');

/** @type {Set<string>} chats that may have a call for us */
const asked = new Set();
let working = false;
/** @typedef {{call: any, cut: AbortController, isAnswered: boolean}} Held */
/** @type {Held|null} */
let current = null;
let wait = FIRST_WAIT_MS;

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

/**
 * A call of the chat's has come. If ours is another one, it may be that one, asked anew: ours would be for nobody.
 * @param {string} chat @param {string} id the call's
 */
export function called(chat, id) {
    wake(chat);
    if (current?.call.chat_id === chat && current.call.id !== id) void check();
}

/** The server knows from now on that somebody is here who answers. What is waiting stays to be taken. */
export async function show() {
    if (!isWilling()) return;
    const { items } = await request(session.id, SHOWN_S);
    for (const { id } of items) await tell(id, '/release', {}).catch(forgiven);
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

/** @param {string|null} chat any if null @param {number} lease in seconds */
const request = (chat, lease) => server()
    .request('GET', '/client-calls', { query: { chat_id: chat, client, limit: 1, lease_s: lease } });

/**
 * The next call of a chat; undefined if there is none, or none is to be had. No event tells of it again: after a
 * failure that may pass, the chat is asked about once more.
 * @param {string} chat @returns {Promise<any>}
 */
async function take(chat) {
    try {
        const { items } = await request(chat, LEASE_S);
        wait = FIRST_WAIT_MS;
        return items[0];
    } catch (error) {
        forgiven(error);
        if (!mayPass(error)) return undefined;
        asked.add(chat);
        await pause(error);
    }
}

/** Whether the same may go well later. @param {any} error */
const mayPass = (error) => error.temporary || MENDED.includes(error.status);

/** Waits before the same is tried again: longer each time, and as long as the server says. @param {any} error */
async function pause(error) {
    const ms = Math.max(wait, 1000 * (error.retryAfter ?? 0));
    wait = Math.min(2 * wait, LONGEST_WAIT_MS);
    await new Promise((done) => setTimeout(done, ms));
}

/** Of the server's errors none matters here: what was not told goes on when the lease ends. @param {unknown} error */
function forgiven(error) {
    if (!(error instanceof TurnfoldError)) throw error;
}

/** @param {any} call */
async function handle(call) {
    if (call.connection !== CONNECTION) return void tell(call.id, '/release', {}).catch(forgiven);
    asked.add(call.chat_id); // there may be more
    /** @type {Held} */
    const held = { call, cut: new AbortController(), isAnswered: false };
    current = held;
    const renewing = setInterval(check, RENEWED_MS);
    try {
        const body = await answer(call, held.cut.signal);
        if (held.cut.signal.aborted) return; // what could not be cut has ended: its answer is nobody's now
        if (body.error && !isWilling()) return giveBack();
        held.isAnswered = true;
        await deliver(call.id, body, held.cut.signal);
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
 * An answer has cost the user time or money: it is told until the server has it or refuses it, and held meanwhile.
 * @param {string} id @param {Record<string, any>} body @param {AbortSignal} cut
 */
async function deliver(id, body, cut) {
    wait = FIRST_WAIT_MS;
    while (settings().enabled && !cut.aborted) {
        const error = await tell(id, '', body).then(() => null, (cause) => cause);
        if (!error || !mayPass(error)) break;
        await pause(error);
    }
    wait = FIRST_WAIT_MS;
}

/** Cuts what runs, and leaves its call to whoever comes next. */
export function giveBack() {
    if (!current || current.isAnswered || current.cut.signal.aborted) return;
    current.cut.abort();
    tell(current.call.id, '/release', {}, { keepalive: true }).catch(forgiven);
}

/** Renews the lease of what runs; what the server does not want any more is cut. */
export async function check() {
    const held = current;
    if (!held || held.cut.signal.aborted) return;
    if (!await isWanted(held.call)) return held.cut.abort();
    if (held !== current) return;
    const error = await tell(held.call.id, '/renew', { lease_s: LEASE_S }).then(() => null, (cause) => cause);
    if (GONE.includes(error?.status)) held.cut.abort();
}

/**
 * Whether the chat waits for something as old as this call, as far as is known. To renew what is not wanted any more
 * would tell too, but browsers print what is refused as an error.
 * @param {any} call
 */
async function isWanted({ chat_id: chat, created_at: created }) {
    const status = await server().chat(chat).status().catch(forgiven);
    const waiting = status?.connection.waiting;
    return !status || Boolean(waiting && Date.parse(waiting.since) <= Date.parse(created));
}

/** A job of the chat has ended: what ran for it is cut, unless something else waits. @param {string} chat */
export async function ended(chat) {
    if (current?.call.chat_id === chat) await check();
}

/** Gives way to the user's generations, and gives back what runs when the page closes. */
export function startAnswering() {
    startGate(giveBack);
    globalThis.addEventListener('pagehide', giveBack);
}
