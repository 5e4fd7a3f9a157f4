/** Which messages a page of the history shows, and what is told of each. */

export const PAGE = 50;
const MOST = 1000; // that one call answers with
const LINES = 12;
const CHARS = 1100; // about as much as twelve lines hold

/** @typedef {{items: any[], next_cursor: string|null}} Page */
/** @typedef {(from: number, limit: number) => Promise<Page>} ReadPage */

/** What of the history is shown. @type {[string, string][]} */
export const STATES = [
    ['all', 'All'], ['visible', 'Visible'], ['ghosted', 'Ghosted'], ['hidden', 'Hidden'], ['deleted', 'Deleted'],
];

/** An index in the address, or null. @param {string|undefined} word */
export function indexOf(word) {
    return word && /^\d{1,15}$/.test(word) ? Number(word) : null;
}

/** Where a message stands to memory. @param {any} message */
export function stateOf(message) {
    if (message.hidden) return 'hidden';
    if (message.history === 'omit') return 'omitted';
    return message.ghosted ? 'ghosted' : 'visible';
}

/** Who said it. @param {any} message @param {any} chat */
export function whoOf({ role, name }, chat) {
    const own = role === 'user' ? chat.user_name : role === 'assistant' ? chat.character_name : null;
    return name || own || role;
}

/**
 * The index at which a page of as many messages begins that ends before the index `end`. Whatever is filtered away lies
 * between them, so the stretch that is read grows until it holds enough, and no more than one call answers with.
 * @param {ReadPage} read of one state, in order @param {number} end @param {number} [count]
 */
export async function startBefore(read, end, count = PAGE) {
    let [few, many] = [0, Infinity]; // lengths of stretches that hold too few, and more than a call answers with
    for (let tries = 0, length = Math.min(count, end); length > 0 && tries < 60; tries += 1) {
        const start = end - length;
        const { items, next_cursor: more } = await read(start, Math.min(MOST, length));
        const inside = items.filter(({ index }) => index < end);
        const complete = !more || inside.length < items.length || items[items.length - 1]?.index === end - 1;
        if (complete && inside.length >= count) return inside[inside.length - count].index;
        if (complete && start === 0) return 0;
        if (complete) few = length;
        else many = length;
        length = many === Infinity ? Math.min(end, length * 8) : Math.floor((few + many) / 2);
    }
    return 0;
}

/** Whether an index lies in one of these stretches.
 *  @param {{first_index: number, last_index: number}[]} stretches @param {number} index */
export const within = (stretches, index) =>
    stretches.some((one) => one.first_index <= index && index <= one.last_index);

/** The beginning of a long text; null of one that is short. @param {string} text */
export function beginningOf(text) {
    let end = -1;
    for (let line = 0; line < LINES && (line === 0 || end >= 0); line += 1) end = text.indexOf('\n', end + 1);
    const cut = Math.min(end < 0 ? Infinity : end, text.length > CHARS * 1.3 ? CHARS : Infinity);
    if (cut >= text.length - 1) return null;
    const space = text.lastIndexOf(' ', cut);
    const at = cut === end || space < cut - 40 ? cut : space;
    return text.slice(0, /[\uD800-\uDBFF]/.test(text[at - 1]) ? at - 1 : at);
}
