/** One snippet in a dialog: its text, what it covers, and the way up to the prompt and down to the messages. */

import { beginning, button, element } from './dom.js';
import { dialog, jumpTo, toast } from './host.js';
import { above, placeOf, snippet, where } from './lookup.js';
import { session } from './session.js';
import { openSnippet } from './snippets.js';
import { FLAWS } from './words.js';

const EXCERPT = 140; // characters of a snippet above or below
const MOST = 20; // of those below that are listed

/** @typedef {(id: string) => void} Go to another snippet */

/** Shows a snippet. @param {string} id @returns {Promise<void>} when it was closed */
export async function showSnippet(id) {
    const content = element('div', { className: 'turnfold-snippet' });
    /** @type {Go} */
    const go = (other) => void render(other).catch((error) => toast('error', error.detail ?? String(error)));
    const { signal } = session;
    const popup = dialog(content, { okButton: 'Close', signal });
    const close = () => popup.complete(null);
    const render = async (/** @type {string} */ other) => content.replaceChildren(...await parts(other, go, close));
    await render(id);
    await popup.show();
}

/** @param {string} id @param {Go} go @param {() => void} close @returns {Promise<Node[]>} */
async function parts(id, go, close) {
    const found = await snippet(id);
    const [over, under] = await Promise.all([above(found), Promise.all(found.children.slice(0, MOST).map(snippet))]);
    return [
        element('h3', {}, where(found)),
        element('p', { className: 'turnfold-text' }, found.text),
        element('p', {}, standing(found, over)),
        element('div', { className: 'turnfold-row' },
            button('Show the original messages', () => jump(found, close), { disabled: !found.covers }),
            button('Change it', () => { close(); void openSnippet(id); })),
        ...list(over.length > 1 ? 'Above it, up to what the prompt holds' : 'Above it, in the prompt', over, go),
        ...list(`Below it${found.children.length > MOST ? `, the first ${MOST}` : ''}`, under, go),
    ];
}

/** @param {any} found @param {any[]} over */
function standing({ state, stale, degraded }, over) {
    const told = [];
    if (state === 'live') told.push('The prompt holds this text.');
    else if (over.length) told.push('The prompt holds a text that was merged from this one and others.');
    else told.push('The prompt does not hold this text any more.');
    if (stale) told.push(FLAWS.stale);
    if (degraded) told.push(FLAWS.degraded);
    return told.join(' ');
}

/** @param {string} title @param {any[]} snippets @param {Go} go @returns {Node[]} */
function list(title, snippets, go) {
    if (!snippets.length) return [];
    const entries = snippets.map((one) => element('li', {}, button(beginning(one.text, EXCERPT), () => go(one.id), {
        className: 'turnfold-step', title: where(one),
    })));
    return [element('h4', {}, title), element('ul', {}, ...entries)];
}

/** @param {any} found @param {() => void} close */
function jump({ covers }, close) {
    close();
    void jumpTo(placeOf(covers.first_index));
}
