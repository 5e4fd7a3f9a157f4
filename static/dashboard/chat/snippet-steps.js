/** Steps that change a memory by hand, and the way back from them. */
import { notify, useAction } from '../actions.js';
import { close, read } from '../router.js';
import { chat } from '../server.js';
import { UNDONE } from './snippet-words.js';

/** @type {Map<string, number>} how many steps were told of each chat */
const steps = new Map();

/** Takes back the last step of a chat. @param {string} id of the chat @param {() => void} [told] once it is */
export function useUndo(id, told) {
    return useAction(() => undo(id, told), { done: ({ kind }) => UNDONE[kind] ?? 'The last change is taken back.' });
}

/** @param {string} id @param {() => void} [told] @returns {Promise<{kind: string, snippet_id: string}>} */
async function undo(id, told) {
    const { undone } = await chat(id).request('POST', '/undo');
    steps.set(id, (steps.get(id) ?? 0) + 1);
    if (undone.kind === 'manual' && read().query.snippet === undone.snippet_id) close({ snippet: '' });
    told?.();
    return undone;
}

/** Tells of a step, and offers to take it back as long as none came after it.
 *  @param {string} id of the chat @param {string} text @param {(...given: any[]) => void} back */
export function notifyStep(id, text, back) {
    const mine = (steps.get(id) ?? 0) + 1;
    steps.set(id, mine);
    notify(text, 'done', () => {
        /** @type {HTMLElement|null} */ (document.querySelector('.strata [tabindex="0"]'))?.focus(); // the notice goes
        if (steps.get(id) === mine) back();
        else notify('Something else was changed since then: “Undo last change” takes that back first.', 'error');
    });
}
