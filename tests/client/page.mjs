/**
 * A page of SillyTavern without a browser: what the extension's modules touch of it, a server that knows a few routes,
 * and what became of both. Import it before any of those modules.
 */

import { EventEmitter } from 'node:events';

const events = new EventEmitter().setMaxListeners(0);
const eventTypes = { CHAT_CHANGED: 'CHAT_CHANGED', MESSAGE_SENT: 'MESSAGE_SENT' };

export const seen = {
    /** @type {[string, string, any][]} method, path, body */ calls: [],
    /** @type {[string, string][]} kind, text */ toasts: [],
    /** @type {any[]} */ dialogs: [],
    /** @type {string[]} chats whose files were saved */ saves: [],
    /** @type {Record<string, any>} */ commands: {},
};

class Popup {
    constructor(content) {
        Object.assign(this, { content, isOpen: false });
        seen.dialogs.push(this);
    }

    show() {
        this.isOpen = true;
        return new Promise((done) => { this.done = done; });
    }

    complete(result) {
        this.isOpen = false;
        this.done(result);
    }
}

export const tavern = {
    chat: [], chatMetadata: {}, chatId: '', groupId: null, characterId: 0, name1: 'Tom', name2: 'Mira', groups: [],
    extensionSettings: { turnfold: {} }, onlineStatus: 'x', symbols: {}, eventSource: events, eventTypes,
    saveSettingsDebounced() {}, setExtensionPrompt() {}, registerMacro() {},
    saveMetadata: async () => { seen.saves.push(tavern.chatMetadata.integrity); },
    saveChat: async () => { seen.saves.push(tavern.chatMetadata.integrity); },
    Popup, POPUP_TYPE: {}, ARGUMENT_TYPE: {},
    SlashCommand: { fromProps: (given) => given },
    SlashCommandArgument: { fromProps: (given) => given },
    SlashCommandNamedArgument: { fromProps: (given) => given },
    SlashCommandParser: { commands: {}, addCommandObject: (made) => { seen.commands[made.name] = made; } },
};

const made = (tag) => ({
    tag, onclick: null, checked: null, dataset: {}, children: [], setAttribute() {}, remove() {},
    append(...more) { this.children.push(...more); },
});
const none = class { observe() {} };
const forage = { getItem: async () => null, setItem: async () => {}, removeItem: async () => {} };
const told = (kind) => (text) => {
    seen.toasts.push([kind, text]);
    return [{ append() {}, isConnected: true }];
};
Object.assign(globalThis, {
    SillyTavern: { getContext: () => ({ ...tavern }), libs: { localforage: forage } },
    document: { body: { dataset: {} }, scripts: [], createElement: made, querySelector: () => null,
        querySelectorAll: () => [], getElementById: () => null, addEventListener() {} },
    window: globalThis,
    MutationObserver: none,
    PerformanceObserver: none,
    toastr: { info: told('info'), success: told('success'), warning: told('warning'), error: told('error'), clear() {} },
});
globalThis.addEventListener ??= () => {};

const later = globalThis.setTimeout;
/** Node need not wait for patience that nobody has need of any more. */
globalThis.setTimeout = (work, wait, ...given) => {
    const timer = later(work, wait, ...given);
    return wait > 1000 ? timer.unref() : timer;
};

const STATUS = {
    strategy: 'layered', memory_version: 1, memory_tokens: 0, stale_snippets: 0, layers: [], job: null, paused: false,
    counts: { ghosted: 0, omitted: 0 }, connection: { name: 'default' }, backlog: { choice_needed: false },
};
/** @type {(method: string, path: string, body: any) => any} an answer that is the test's own; undefined: the usual one */
let answer = () => undefined;

/** Has the server answer so from now on. @param {typeof answer} own */
export const serverAnswers = (own) => { answer = own; };

globalThis.fetch = async (url, { method = 'GET', body: sent, signal } = {}) => {
    const path = new URL(url).pathname.replace('/v1', '');
    const body = typeof sent === 'string' ? JSON.parse(sent) : undefined;
    seen.calls.push([method, path, body]);
    const own = await answer(method, path, body);
    if (signal?.aborted) throw signal.reason;
    if (path.endsWith('/events')) return new Response(silence(signal), { headers: { 'content-type': 'text/event-stream' } });
    return new Response(JSON.stringify(own ?? usual(path)), { headers: { 'content-type': 'application/json' } });
};

const usual = (path) => (
    path.endsWith('/status') ? STATUS
        : path.endsWith('/commands') ? { text: 'done', data: {}, items: [] }
            : { items: [], settings: {}, findings: [], next_cursor: null });

const silence = (signal) => new ReadableStream({
    start(stream) { signal?.addEventListener('abort', () => stream.error(signal.reason), { once: true }); },
});

/** Opens a chat as SillyTavern does: everything of the one before is gone. */
export function openChat(id, messages, metadata = {}) {
    Object.assign(tavern, { chatMetadata: { integrity: id, ...metadata }, chatId: `file ${id}` });
    tavern.chat.splice(0, tavern.chat.length, ...messages);
    events.emit('CHAT_CHANGED', tavern.chatId);
}

export const message = (mes, more = {}) => ({ mes, name: 'Tom', is_user: true, send_date: 1, extra: {}, ...more });

/** Waits until something is true. @template T @param {() => T} look @returns {Promise<T>} */
export async function until(look) {
    for (const end = Date.now() + 5000; ; await new Promise((done) => setTimeout(done, 5))) {
        const found = look();
        if (found) return found;
        if (Date.now() > end) throw new Error(`it never became true: ${look}`);
    }
}

/** Presses the button of the newest dialog that has this text in it. @param {string} text */
export const press = (text) => holder(seen.dialogs.at(-1).content, text).onclick();

/** @param {any} node @param {string} text */
function holder(node, text) {
    const under = (one) => one === text || (one?.children ?? []).some(under);
    const inner = (node.children ?? []).map((one) => (one?.children && under(one) ? holder(one, text) : null)).find(Boolean);
    return inner ?? (node.onclick && under(node) ? node : null);
}

/** A promise, and what keeps it. */
export function gate() {
    let open = () => {};
    const passed = new Promise((done) => { open = done; });
    return { passed, open };
}
