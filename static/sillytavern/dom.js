/** Elements, made so that whatever a chat, a model or a server says stays text. */

/**
 * An element: `props` are its own properties (className, title, onclick, …), or attributes where it has none by that
 * name (aria-label, data-…); strings among its children become text.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Record<string, any>} [props] @param {...(Node|string|null)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(tag, props = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(props)) {
        if (name in made) Object.assign(made, { [name]: value });
        else if (value !== null && value !== undefined) made.setAttribute(name, String(value));
    }
    made.append(...children.filter((child) => child !== null));
    return made;
}

/**
 * A button. Not one of SillyTavern's `menu_button`: those it clicks on Enter a second time, if they are real buttons.
 * @param {string} text @param {() => void} onclick @param {Record<string, any>} [props]
 */
export const button = (text, onclick, props = {}) => (
    element('button', { type: 'button', className: 'turnfold-button', onclick, ...props }, text)
);

/** `1 turn`, `1,530 turns`. @param {number} number @param {string} what @param {string} [many] */
export const count = (number, what, many = `${what}s`) => (
    `${number.toLocaleString('en')} ${number === 1 ? what : many}`
);

/** A length of time as one says it. @param {number} seconds */
export function spoken(seconds) {
    if (seconds < 90) return count(Math.max(1, Math.round(seconds)), 'second');
    const minutes = Math.round(seconds / 60);
    if (minutes < 90) return count(minutes, 'minute');
    return `${count(Math.floor(minutes / 60), 'hour')} ${count(minutes % 60, 'minute')}`;
}

/** A time of the server's as this machine's clock shows it. @param {string} time */
export const clock = (time) => new Date(time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });

/** The beginning of a text, in one line. @param {string} text @param {number} length */
export function beginning(text, length) {
    const line = text.replace(/\s+/gu, ' ').trim();
    return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
