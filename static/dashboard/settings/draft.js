/** Settings that were changed and not saved yet: by their path, null for those that follow the server again. Pure. */

/** @typedef {Record<string, any>} Draft */

/** What stands at a path like layered.window; undefined if nothing does. @param {any} values @param {string} path */
export const at = (values, path) => path.split('.').reduce((inner, name) => inner?.[name], values);

/** A draft as the API takes it: one object per strategy. @param {Draft} draft @returns {Record<string, any>} */
export function nested(draft) {
    const body = /** @type {Record<string, any>} */ ({});
    for (const [path, value] of Object.entries(draft)) {
        const names = path.split('.');
        const last = /** @type {string} */ (names.pop());
        const inside = names.reduce((inner, name) => (inner[name] ??= {}), body);
        inside[last] = value;
    }
    return body;
}

/** The draft with one value changed; without it if that is what was stored anyway.
 *  @param {Draft} draft @param {string} path @param {any} value @param {any} stored */
export function changed(draft, path, value, stored) {
    const { [path]: _, ...rest } = draft;
    return value === stored ? rest : { ...rest, [path]: value };
}

/** What the API found wrong, by path. @param {any} error @returns {Record<string, string>} */
export const faultsOf = (error) => Object.fromEntries((error?.errors ?? []).map((/** @type {any} */ { loc, msg }) => [
    loc.filter((/** @type {any} */ step) => !['body', 'settings'].includes(step)).join('.'), msg]));

/** A number that was typed: null where nothing was, the text itself where it is none. @param {string} text */
export function numberOf(text) {
    if (!text.trim()) return null;
    const value = Number(text);
    return Number.isNaN(value) ? text : value;
}
