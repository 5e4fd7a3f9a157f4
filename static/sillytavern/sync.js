/**
 * Keeps the server's copy of the open chat true, and the session with it.
 *
 * Whatever SillyTavern tells, `changed()` only looks again at the whole array and sends what differs. Moving, copying
 * and hiding a message emit no event, but save the chat: that is seen, too.
 */

import { messages, on } from './host.js';
import { identify, idOf } from './history.js';
import { Following } from './following.js';
import { whichChat } from './identity.js';
import { askToShrink, tellAway, tellBack, tellSlow, tellTooLong } from './notices.js';
import { NO_MEMORY, session, tell } from './session.js';
import { server, settings } from './settings.js';

export { idOf };

const CALM_MS = 150;
const REST_MS = 15_000; // until a stream that was refused is asked for again
const MOST_TRIES = 3; // what changes meanwhile is another change
const CHANGES = [
    'MESSAGE_SENT', 'MESSAGE_RECEIVED', 'MESSAGE_SWIPED', 'MESSAGE_EDITED', 'MESSAGE_UPDATED', 'MESSAGE_SWIPE_DELETED',
    'MESSAGE_FILE_EMBEDDED', 'MESSAGE_DELETED', 'GENERATION_ENDED', 'GENERATION_STOPPED', 'IMPERSONATE_READY',
    'TOOL_CALLS_PERFORMED', 'GROUP_WRAPPER_FINISHED', 'CHAT_LOADED', 'CHAT_RENAMED', 'CHARACTER_RENAMED',
    'PERSONA_CHANGED', 'PERSONA_UPDATED', 'PERSONA_RENAMED', 'GROUP_UPDATED', 'SETTINGS_UPDATED',
];
const SAVED = /\/api\/chats\/(?:group\/)?save$/;

/** @type {Following|null} */
let following = null;
let closing = new AbortController();
/** @type {any} */
let calm = null;
let isPromised = false;
let isSlow = false; // the server, right now
let isAwaited = false;
/** Under which settings the session was opened. */
let terms = '';

/** What the server has, as far as it is known. @returns {import('./history.js').Line[]|null} */
export const synced = () => following?.lines ?? null;

/** Whether nothing is on its way to the server. */
export const isSettled = () => !isPromised && (following?.isSettled() ?? true);

/** Something in the chat changed, or may have: it is reconciled soon. */
export function changed() {
    if (terms !== wanted()) open();
    if (!following?.isOpen()) return;
    if (messages().length) {
        identify(messages()); // before SillyTavern saves
        following.isEmptied = false;
    }
    isPromised = true;
    clearTimeout(calm);
    calm = setTimeout(now, CALM_MS);
}

function now() {
    clearTimeout(calm);
    isPromised = false;
    return following?.changed();
}

/**
 * When all that is known here is on the server, or the time is over.
 * @param {number} ms @returns {Promise<boolean>} whether it is
 */
export async function settled(ms) {
    const end = new Promise((done) => setTimeout(done, ms));
    const at = following;
    for (let tries = 0; tries < MOST_TRIES && (tries === 0 || !isSettled()); tries += 1) {
        await Promise.race([end, now()]); // looks again, whether or not a change was told
    }
    return following === at && isSettled();
}

const wanted = () => JSON.stringify([settings().enabled, settings().server, settings().key]);

/** Follows SillyTavern from now on. */
export function startSync() {
    on(['CHAT_CHANGED'], open);
    on(['MESSAGE_DELETED'], (left) => {
        if (!left && !messages().length && following?.isOpen()) following.isEmptied = true;
    });
    on(['MESSAGE_SENT'], awaited);
    on(['GENERATION_STARTED'], (_type, _options, isDry) => { if (!isDry) awaited(); });
    on(CHANGES, changed);
    new PerformanceObserver((list) => list.getEntries().forEach(seen)).observe({ type: 'resource' });
    new MutationObserver(changed).observe(document.body, { attributeFilter: ['data-generating'] });
    open();
}

/** SillyTavern saves a chat. @param {PerformanceEntry} request */
function seen({ name, startTime }) {
    if (!SAVED.test(name)) return;
    following?.saved(startTime);
    changed();
}

/** Somebody has written, or wants a reply: now it matters whether the server answers. */
function awaited() {
    isAwaited = true;
    if (isSlow) tellSlow();
}

/** Leaves the chat that was open, and begins with the one that is. */
function open() {
    close();
    terms = wanted();
    const found = settings().enabled ? whichChat() : null;
    if (!found) return;
    closing = new AbortController();
    const chat = server().chat(found.id);
    Object.assign(session, { id: found.id, chat, signal: closing.signal, phase: 'syncing' });
    following = new Following(found, chat, closing.signal, hearing);
    tell('opened');
    void now();
}

function close() {
    closing.abort();
    clearTimeout(calm);
    isPromised = isSlow = isAwaited = false;
    following = null;
    const was = session.id;
    Object.assign(session, { id: null, chat: null, phase: 'closed', status: null, memory: NO_MEMORY, error: null });
    if (was !== null) tell('closed');
}

/** @type {import('./following.js').Hearing} */
const hearing = {
    synced(how) {
        isSlow = isAwaited = false;
        if (how === 'none') return; // and nobody knows whether the server is there
        enter('ready', null);
        tellBack();
        tell('synced', how);
        void watch();
    },
    failed(error) {
        isSlow = false;
        enter('away', error);
        if (error.status !== 409) tellAway(error);
    },
    slow() {
        isSlow = true;
        if (isAwaited) tellSlow();
    },
    tooLong: tellTooLong,
    refused: askToShrink,
};

/** @param {'ready'|'away'} phase @param {import('./turnfold.js').TurnfoldError|null} error */
function enter(phase, error) {
    const isNews = session.phase !== phase || session.error?.code !== error?.code;
    Object.assign(session, { phase, error });
    if (isNews) tell('phase');
}

/** @type {AbortSignal|null} of the chat whose events are read */
let watching = null;

/** Passes the server's events on, as long as the chat is open. */
async function watch() {
    const { chat, signal } = session;
    if (!chat || watching === signal) return;
    watching = signal;
    let isAgain = false;
    let isLost = false;
    const onOpen = () => {
        if (isAgain) reconnected();
        isAgain = true;
        isLost = false;
    };
    const onLost = () => {
        if (!isLost) doubt();
        isAgain = isLost = true;
    };
    try {
        for await (const told of chat.events({ signal, onOpen, onLost })) if (!signal.aborted) tell('event', told);
    } catch {
        if (signal.aborted) return;
        doubt(); // syncing finds out what is wrong
        setTimeout(() => again(signal), REST_MS);
        return;
    }
    if (watching === signal) watching = null;
}

/** @param {AbortSignal} signal of a chat whose stream was refused */
function again(signal) {
    if (signal.aborted) return;
    watching = null;
    doubt();
}

/** Whether the server is still there is asked at once, even if there is nothing to send. */
function doubt() {
    if (following) following.isDoubtful = true;
    void now();
}

/** The server is back; it may have been another one's in the meantime. */
function reconnected() {
    if (following) following.lines = null;
    void now();
}
