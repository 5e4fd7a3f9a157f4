/** Snippets of the open chat, fetched when somebody wants to see them and kept until the memory changes. */

import { count } from './dom.js';
import { messages } from './host.js';
import { listen, session } from './session.js';
import { idOf, synced } from './sync.js';
import { part } from './turnfold.js';

/** @type {Map<string, Promise<any>>} */
const kept = new Map();

/** Nothing that was fetched holds any longer. */
export const forget = () => kept.clear();

/** @param {string} path under the chat's own */
function fetched(path) {
    const known = kept.get(path);
    if (known) return known;
    const asked = ask(path);
    kept.set(path, asked);
    asked.catch(() => kept.delete(path));
    return asked;
}

/** @param {string} path @returns {Promise<any>} */
async function ask(path) {
    const { chat, signal } = session;
    if (!chat) throw new Error('No chat is open.');
    return chat.request('GET', path, { signal });
}

/** @param {string} id @returns {Promise<any>} a snippet, as the API shows it */
export const snippet = (id) => fetched(`/snippets/${part(id)}`);

/** The snippet right over a message; null if it has none. @param {any} message SillyTavern's @returns {Promise<any>} */
export async function snippetOver(message) {
    const { snippet_id: id } = await fetched(`/messages/${part(idOf(message) ?? '')}`);
    return id ? snippet(id) : null;
}

/** What stands for a snippet, step by step, up to the prompt. @param {any} below @returns {Promise<any[]>} */
export async function above(below) {
    const found = [];
    for (let id = below.parent_id; id; id = found.at(-1).parent_id) found.push(await snippet(id));
    return found;
}

/**
 * SillyTavern's number of a message that the server numbers so: messages without any text are not on the server.
 * @param {number} index @returns {number}
 */
export function placeOf(index) {
    const id = synced()?.[index]?.id;
    const all = messages();
    if (id === undefined || idOf(all[index]) === id) return index;
    const place = all.findIndex((message) => idOf(message) === id);
    return place < 0 ? index : place;
}

/** Where a snippet stands, in words. @param {any} found */
export function where({ layer, covers }) {
    if (!covers) return `Layer ${layer}, over nothing any more`;
    const [first, last, turns] = [placeOf(covers.first_index), placeOf(covers.last_index), covers.turns];
    const which = first === last ? `message ${first}` : `messages ${first} to ${last}`;
    return `Layer ${layer}, over ${which} (${count(turns, 'turn')})`;
}

/** Keeps what is kept true. */
export function startLookup() {
    for (const what of ['opened', 'closed', 'memory']) listen(what, forget);
}
