/** What this browser remembers of each chat, for when the server is away. Nothing fails for want of it. */

const PREFIX = 'turnfold';

const store = () => SillyTavern.libs.localforage;

/** @param {string} what @param {string} id of a chat @returns {Promise<any>} null where nothing is known */
export async function remembered(what, id) {
    try {
        return await store().getItem(`${PREFIX}:${what}:${id}`);
    } catch {
        return null;
    }
}

/** @param {string} what @param {string} id @param {any} value null forgets it */
export async function remember(what, id, value) {
    try {
        const key = `${PREFIX}:${what}:${id}`;
        await (value === null ? store().removeItem(key) : store().setItem(key, value));
    } catch {
        // Storage is full or forbidden: the next page asks the server.
    }
}
