/**
 * The open chat as the extension knows it: one object, and word of every change to it.
 *
 * `sync.js` opens and closes it and keeps the server's copy true; `memory.js` fills in `status` and `memory`. Everybody
 * else reads, listens, and asks those two.
 */

/**
 * @typedef {{text: string, version: number, tokens: number, warnings: {code: string, detail: string}[]}} Memory what is
 *   injected, and what the server says of it
 * @typedef {object} Session
 * @property {string|null} id the chat's id (`chatMetadata.integrity`); null while no chat is open
 * @property {import('./turnfold.js').Chat|null} chat
 * @property {AbortSignal} signal aborted when another chat is opened: whatever was begun for this one is void then
 * @property {'closed'|'syncing'|'ready'|'away'} phase `away`: the server cannot be reached, or refuses; see `error`
 * @property {any} status as the server last told it; null before that
 * @property {Memory} memory the last that is known, from an earlier time if the server is away
 * @property {import('./turnfold.js').TurnfoldError|null} error why it is away
 */

/** @type {Memory} */
export const NO_MEMORY = Object.freeze({ text: '', version: 0, tokens: 0, warnings: [] });

/** @type {Session} */
export const session = {
    id: null, chat: null, signal: AbortSignal.abort(), phase: 'closed', status: null, memory: NO_MEMORY, error: null,
};

/**
 * Tells `opened`, `closed`, `phase`, `status`, `memory`, `synced` (all after the change; the last with what was sent:
 * `tail` or `all`) and `event` (detail: one of the server's).
 */
export const told = new EventTarget();

/** @param {string} what @param {unknown} [detail] */
export const tell = (what, detail) => told.dispatchEvent(new CustomEvent(what, { detail }));

/** @param {string} what @param {(event: any) => void} listener */
export const listen = (what, listener) => told.addEventListener(what, listener);

/** What a chat that is new to the server begins with there, besides its names: settings. @type {(() => Record<string, any>)[]} */
export const beginnings = [];
