/**
 * What a chat is called on the server: SillyTavern's `integrity`, whatever its file is named.
 *
 * Older versions of SillyTavern give a branch the integrity of its parent. Such a branch gets an id of its own, kept in
 * its metadata; it is known by its parent's file name having been seen under the same integrity.
 */

import { context, openChat, storedChat } from './host.js';
import { hash } from './ids.js';

const KEY = 'turnfold-chats';
const MOST = 500;
const HEADER = 2000; // characters, in which a file says that it has metadata

/**
 * @typedef {{id: string, title: string, parent: string|null, user: string, character: string, place: string}} Open
 *   `place`: which file it is; what is in the page belongs to the chat only while that stays the same
 */

/** @type {Record<string, string[]>|null} file names by integrity, the newest last */
let seen = null;

/** The chat that is open, or null. @returns {Open|null} */
export function whichChat() {
    const open = openChat();
    if (!open) return null;
    const { groupId, characterId } = context();
    const place = JSON.stringify([open.id, open.title, groupId ?? null, groupId == null ? String(characterId) : null]);
    return { ...open, id: idOf(open), place };
}

/**
 * Whether the open chat's file has its id, or would be none to have it. SillyTavern gives a chat that has none another
 * one at each opening, until it saves the chat.
 */
export async function isInFile() {
    const { integrity } = context().chatMetadata;
    const text = await storedChat().catch(() => null); // in doubt it has
    const isTold = text?.slice(0, HEADER).includes('"chat_metadata"');
    return !isTold || /** @type {string} */ (text).includes(`"integrity":${JSON.stringify(integrity)}`);
}

/** @param {NonNullable<ReturnType<typeof openChat>>} open */
function idOf({ id, title, parent }) {
    seen ??= read();
    const titles = seen[id] ?? [];
    const own = parent === null ? null : ownId(id, title, parent, titles.includes(parent));
    if (!titles.includes(title)) {
        seen[id] = [...titles, title];
        write(seen);
    }
    return own ?? id;
}

/** @param {string} id @param {string} title @param {string} parent @param {boolean} isShared */
function ownId(id, title, parent, isShared) {
    const { chatMetadata } = context();
    const kept = chatMetadata.turnfold?.chat;
    if (kept?.parent === parent && typeof kept.id === 'string') return kept.id;
    if (!isShared || title === parent) return null;
    const own = { id: `${id}.${hash(title)}`, parent };
    chatMetadata.turnfold = { ...chatMetadata.turnfold, chat: own };
    return own.id;
}

/** @returns {Record<string, string[]>} */
function read() {
    try {
        return JSON.parse(localStorage.getItem(KEY) ?? '{}');
    } catch {
        return {};
    }
}

/** @param {Record<string, string[]>} names */
function write(names) {
    try {
        localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(Object.entries(names).slice(-MOST))));
    } catch {
        // Full, or forbidden: this is about branches of old versions alone.
    }
}
