/** What the prompt page asks for, by the words of its address. */

/** @typedef {Record<string, string>} Words of the address */

export const OPTIONS = [
    'context_size', 'max_tokens', 'memory_placement', 'format', 'names', 'tool_history', 'system_prompt',
];
const LONG = 4000; // characters that no longer fit into the address of a GET with safety

const REFUSED = {
    view: 'With a view this page shows what is stored: asking with more would move the view’s window on.',
    strategy: 'As another strategy the prompt is shown with what is stored.',
    buffer: 'Of a summary buffer this page shows what is stored: asking with more could make it fold.',
};

/** Why a line that is not stored cannot be added, or null. Asking with one is a POST: that moves the window of a view
 *  on, and lets a summary buffer fold; this page only looks.
 *  @param {Words} words @param {string} strategy of the chat */
export function onlyStored(words, strategy) {
    if (words.view) return REFUSED.view;
    if (words.strategy && words.strategy !== strategy) return REFUSED.strategy;
    return strategy === 'summary_buffer' ? REFUSED.buffer : null;
}

/**
 * The projection to ask for. A POST only where it changes nothing.
 * @param {Words} words @param {string} strategy of the chat @param {Record<string, any>} [more]
 * @returns {{method: 'GET'|'POST', given: Record<string, any>}}
 */
export function asked(words, strategy, more = {}) {
    const given = /** @type {Record<string, any>} */ ({});
    for (const name of OPTIONS) if (words[name]) given[name] = words[name];
    const free = onlyStored(words, strategy) === null;
    if (!free || !(words.current?.trim() || (words.system_prompt ?? '').length > LONG)) {
        const as = words.strategy !== strategy ? words.strategy : null;
        return { method: 'GET', given: { ...given, view: words.view || null, strategy: as || null, ...more } };
    }
    for (const name of ['context_size', 'max_tokens']) if (given[name]) given[name] = Number(given[name]);
    const { messages, ...rest } = more; // a POST always answers with them
    const current = words.current?.trim() ? [{ role: 'user', content: words.current }] : [];
    return { method: 'POST', given: { ...given, current, ...rest } };
}

/** Reads a projection. @param {import('../../turnfold.js').Chat} chat @param {ReturnType<typeof asked>} asking
 *  @param {AbortSignal} [signal] @returns {Promise<any>} */
export const read = (chat, { method, given }, signal) =>
    chat.request(method, '/projection', { [method === 'GET' ? 'query' : 'body']: given, signal });

/** A prompt as the body of a call has it. @param {any} projection @param {string} format */
export function bodyOf({ messages, system, text }, format) {
    const beside = format === 'anthropic' ? { system: system ?? undefined } : {};
    return JSON.stringify(format === 'text' ? { text } : { ...beside, messages }, null, 2);
}
