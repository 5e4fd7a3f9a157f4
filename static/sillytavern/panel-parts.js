/** Small things that the panel and the dialog of snippets are put together from. */

import { button, element } from './dom.js';

/** A button with a picture. @param {string} picture of Font Awesome, as in `fa-ghost` @param {string} text
 *  @param {() => unknown} press @param {Record<string, any>} [props] */
export function pictured(picture, text, press, props = {}) {
    const made = button('', () => void press(), props);
    made.append(element('i', { className: `fa-solid ${picture}`, 'aria-hidden': 'true' }), element('span', {}, text));
    return made;
}

/** What `selector` finds, which is there. @param {ParentNode} root @param {string} selector @returns {any} */
export function find(root, selector) {
    const found = root.querySelector(selector);
    if (!found) throw new Error(`Turnfold's panel has no ${selector}`);
    return found;
}

/** A part of the panel's markup. @param {ParentNode} root @param {string} name @returns {any} */
export const partOf = (root, name) => find(root, `[data-part="${name}"]`);

/**
 * Does `work`; meanwhile the button cannot be pressed again.
 * @template T @param {any} pressed @param {() => Promise<T>} work
 */
export async function busy(pressed, work) {
    pressed.disabled = true;
    try {
        return await work();
    } finally {
        pressed.disabled = false;
    }
}

/** 12,345 @param {number} n */
export const figure = (n) => n.toLocaleString('en');

/** Whatever failed, in words for people. @param {any} error */
export const said = (error) => String(error?.detail ?? error?.message ?? error);
