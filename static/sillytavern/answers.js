/** Where the answer to a command is shown: a few words in a toast, more in a dialog that keeps its lines. */

import { element } from './dom.js';
import { dialog, toast } from './host.js';

const SHORT = { characters: 240, lines: 3 };

/** @param {string} text */
const isShort = (text) => text.length <= SHORT.characters && text.split('\n').length <= SHORT.lines;

/** Shows an answer; a script that asked need not wait until it was read. @param {string} name @param {string} text */
export function show(name, text) {
    if (isShort(text)) return toast('info', text, { timeOut: 8000 });
    const told = element('div', { className: 'turnfold-text' }, text);
    const content = element('div', {}, element('h3', {}, `/${name}`), told);
    void dialog(content, { okButton: 'Close', wider: true }).show();
    return undefined;
}

/** Asks before memory is cleared. @param {AbortSignal} signal of its chat @returns {Promise<boolean>} */
export async function confirmClear(signal) {
    const content = element('div', {}, element('h3', {}, 'Clear the memory of this chat?'),
        element('p', {}, 'Every message is sent word for word again, and none is lost. What you edited in the memory is,'
            + ' and folding anew takes the calls to the model that it took before.'));
    const result = await dialog(content, { okButton: 'Clear', cancelButton: 'Keep', signal }).show();
    return result === 1; // SillyTavern's POPUP_RESULT.AFFIRMATIVE
}
