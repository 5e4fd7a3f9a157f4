/**
 * What this browser remembers of the chats it saw last, for when their server is away. Nothing fails for want of it.
 *
 * Chats of two servers may have the same id, so that the server's address is a part of every key.
 */

import { session } from './session.js';
import { server } from './settings.js';

const PREFIX = 'turnfold:';
const SEEN = 'turnfold-remembered';
const MOST = 100; // chats

const store = () => SillyTavern.libs.localforage;

/** @param {string} id of a chat */
const owner = (id) => `${(session.chat?.server ?? server()).server}:${id}`;

/** @param {string} what @param {string} id of a chat @returns {Promise<any>} null where nothing is known */
export async function remembered(what, id) {
    try {
        return await store().getItem(`${PREFIX}${what}:${owner(id)}`);
    } catch {
        return null;
    }
}

/** @param {string} what @param {string} id @param {any} value null forgets it */
export async function remember(what, id, value) {
    const chat = owner(id);
    const key = `${PREFIX}${what}:${chat}`;
    try {
        await (value === null ? store().removeItem(key) : store().setItem(key, value));
        if (value !== null && isNew(chat)) await forgetOthers();
    } catch {
        // Storage is full or forbidden: the next page asks the server.
    }
}

/** @returns {string[]} the chats that were seen last, the newest at the end */
const seen = () => JSON.parse(localStorage.getItem(SEEN) ?? '[]');

/** Notes that a chat was seen. @param {string} chat @returns {boolean} whether it is another one than those before */
function isNew(chat) {
    const before = seen();
    if (before.at(-1) === chat) return false;
    const others = before.filter((one) => one !== chat);
    localStorage.setItem(SEEN, JSON.stringify([...others, chat].slice(-MOST)));
    return others.length === before.length;
}

/** What is kept of chats that were not seen for long. */
async function forgetOthers() {
    const kept = new Set(seen());
    /** @type {string[]} */
    const keys = await store().keys();
    const chatOf = (/** @type {string} */ key) => key.slice(key.indexOf(':', PREFIX.length) + 1);
    const old = keys.filter((key) => key.startsWith(PREFIX) && !kept.has(chatOf(key)));
    await Promise.all(old.map((key) => store().removeItem(key)));
}
