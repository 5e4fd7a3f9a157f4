/**
 * What the server remembers of the open chat, in SillyTavern's prompt: the memory goes in, and what it stands for is
 * left out. A generation takes what is known; it waits for a server no longer than anybody notices.
 */

import { context, isGenerating, messages, on, windowSize } from './host.js';
import { identify, idOf } from './history.js';
import { tellUnread } from './notices.js';
import { hasMemory, inject, place, prepare, startPrompt } from './prompt.js';
import { remember, remembered } from './remembered.js';
import { listen, NO_MEMORY, session, tell } from './session.js';
import { settings } from './settings.js';
import { settled, synced } from './sync.js';
import { TurnfoldError } from './turnfold.js';

const CALM_MS = 100;
const PATIENCE_MS = 1000;
const NOTICEABLE_MS = 150;
const AGAIN_S = 5;
const MOST_TRIES = 3;
const LEFT_OUT = new Set(['ghosted', 'omitted']);
const TELLING = new Set(['summarized', 'promoted', 'memory', 'history_set', 'job']);

/** @type {Set<string>} ids of messages that the memory stands for, or that are not replayed */
let ghosted = new Set();
/** @type {Promise<void>|null} */
let running = null;
/** @type {'status'|'memory'|null} */
let due = null;
/** @type {any} */
let calm = null;
let isBehind = false; // the memory was to be read, and has not been yet
let fitted = ''; // the window that the memory was fitted to
let version = 0; // of the knowledge here: whoever finds another one than he began with has come too late

/** Whether the memory stands for a message. @param {any} message SillyTavern's */
export const isGhosted = (message) => ghosted.has(idOf(message) ?? '');

/** Status and memory anew. @returns {Promise<void>} when they are here, or cannot be had; never rejects */
export function refresh() {
    due = 'memory';
    place();
    return run();
}

function run() {
    clearTimeout(calm);
    running ??= work().finally(() => { running = null; });
    return running;
}

async function work() {
    while (due) {
        const what = due;
        due = null;
        await read(what === 'memory');
    }
}

/** Anew, after a moment. @param {'status'|'memory'} what @param {number} [wait] milliseconds */
function soon(what, wait = CALM_MS) {
    due = due ?? what;
    if (what === 'memory') due = what;
    clearTimeout(calm);
    calm = setTimeout(run, wait);
}

/** @param {boolean} isSure whether the memory is asked for even if the status says that it is the same */
async function read(isSure) {
    const { chat, signal } = session;
    if (!chat || !settings().enabled) return;
    try {
        const status = await chat.status({ signal });
        if (signal.aborted) return;
        const isSame = !isSure && !isBehind && session.status && shape(session.status) === shape(status);
        session.status = status;
        tell('status');
        isBehind = !isSame;
        if (isBehind) isBehind = !await readMemory(status);
        if (status.strategy === 'summary_buffer') foldAhead(chat, signal);
    } catch (error) {
        if (!(error instanceof TurnfoldError)) throw error;
        if (!signal.aborted) failed(error);
    }
}

/** The last that is known stays, and is asked for again. @param {TurnfoldError} error */
function failed(error) {
    if (!error.status) return; // it is away: syncing tells of that, and of its return
    if (error.temporary) soon('memory', 1000 * (error.retryAfter ?? AGAIN_S));
    else tellUnread(error);
}

/** What the memory depends on, as far as a status tells. @param {any} status */
function shape({ strategy, memory_version, memory_tokens, counts, stale_snippets }) {
    return JSON.stringify([strategy, memory_version, memory_tokens, counts.ghosted, counts.omitted, stale_snippets]);
}

/** @param {any} status @returns {Promise<boolean>} whether it is known now */
async function readMemory({ memory_tokens: tokens, counts }) {
    if (!tokens && !counts.ghosted && !counts.omitted) return know({ ...NO_MEMORY, ids: [] });
    const { chat, signal } = session;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        await settled(PATIENCE_MS);
        const lines = synced();
        if (!lines) return false; // nothing says which messages are meant until the chat is synced, which is told
        const asked = { messages: false, ...windowSize() };
        fitted = JSON.stringify(windowSize());
        const { memory, left_out: leftOut, warnings } = await /** @type {any} */ (chat).project(asked, { signal });
        if (signal.aborted) return false;
        if (lines === synced() && fits(lines, memory.covered_through)) {
            const { text, version: memoryVersion, tokens: size } = memory;
            return know({ text, version: memoryVersion, tokens: size, warnings, ids: unsent(leftOut, lines) });
        }
    }
    soon('memory'); // the chat is changing faster than it can be read
    return false;
}

/** @param {any[]} leftOut @param {import('./history.js').Line[]} lines */
function unsent(leftOut, lines) {
    const ranges = leftOut.filter(({ reason }) => LEFT_OUT.has(reason));
    const chosen = ranges.flatMap(({ first_index: first, last_index: last }) => lines.slice(first, last + 1));
    return chosen.map(({ id }) => id);
}

/** Whether places on the server are places here. @param {{id: string}[]} lines @param {any} through */
const fits = (lines, through) => !through || lines[through.index]?.id === through.message_id;

/** @param {import('./session.js').Memory & {ids: string[]}} known */
function know(known) {
    version += 1;
    ghosted = new Set(known.ids);
    const { text, tokens = 0, warnings = [] } = known; // an older page kept neither
    session.memory = { text, version: known.version, tokens, warnings };
    inject(known.text);
    tell('memory');
    if (session.id) void remember('memory', session.id, known);
    return true;
}

/**
 * A fold that is due before the next answer is made now, off the path of a generation.
 * @param {any} chat @param {AbortSignal} signal
 */
function foldAhead(chat, signal) {
    if (isGenerating() || messages().at(-1)?.is_user) return;
    const asked = synced()?.length ?? 0;
    if (asked === ahead) return;
    ahead = asked;
    chat.request('POST', '/projection', { body: {}, signal, timeout: 0 }).then(() => soon('memory'), () => {});
}
let ahead = -1; // the length of the history that was folded ahead last

/** Of an opened chat: what this browser knew of it. */
async function recall() {
    const { id } = session;
    const begun = version;
    const known = id && await remembered('memory', id);
    if (known && id === session.id && begun === version) know(known);
}

function forget() {
    version += 1;
    isBehind = false;
    ahead = -1;
    due = null;
    clearTimeout(calm);
    ghosted = new Set();
    session.memory = NO_MEMORY;
    inject('');
}

/** From now on the memory is in the prompt. */
export function startMemory() {
    startPrompt();
    listen('closed', forget);
    listen('opened', () => { forget(); void recall(); });
    listen('synced', ({ detail }) => soon(detail === 'tail' ? 'status' : 'memory'));
    listen('event', ({ detail: { event } }) => TELLING.has(event) && soon('memory'));
    on(['SETTINGS_UPDATED', 'CHAT_CHANGED'], place);
    on(['SETTINGS_UPDATED'], () => { if (session.status && JSON.stringify(windowSize()) !== fitted) soon('memory'); });
    if (session.id) void recall();
}

/**
 * SillyTavern calls it before each generation. Messages are replaced by copies: what hangs on them is the chat's own.
 * @param {any[]} chat @param {number} _size @param {(immediately: boolean) => void} _abort @param {string} [type]
 */
export async function intercept(chat, _size, _abort, type) {
    prepare(type);
    if (!hasMemory(type) || !settings().enabled || session.id === null) return;
    const patience = new Promise((done) => setTimeout(done, NOTICEABLE_MS));
    if (running && session.phase !== 'away') await Promise.race([running, patience]);
    identify(messages());
    place();
    const { ignore } = context().symbols;
    let isOut = false;
    for (let at = chat.length - 1; at >= 0; at -= 1) {
        // Calls of tools are hidden messages of a turn: they go with the reply that they led to.
        if (!chat[at].is_system) isOut = isGhosted(chat[at]);
        if (isOut) chat[at] = { ...chat[at], extra: { ...chat[at].extra, [ignore]: true } };
    }
}
