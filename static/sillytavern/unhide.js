/** Shows again what is hidden in the chat file: in the page, and in the file, which is saved once for all of it. */

import { context, messages } from './host.js';
import { changed } from './sync.js';

/**
 * Summaryception's mark goes with it: what a person hides later is a person's doing.
 * @param {any[]} hidden messages of a chat @param {AbortSignal} signal the chat's: SillyTavern saves the open one alone
 * @returns {Promise<boolean>} whether that chat is still open, and it was done
 */
export async function unhide(hidden, signal) {
    if (signal.aborted) return false;
    for (const message of hidden) {
        message.is_system = false;
        const swipes = Array.isArray(message.swipe_info) ? message.swipe_info : [];
        for (const { extra } of [message, ...swipes.filter(Boolean)]) delete extra?.sc_ghosted;
    }
    redraw(new Set(hidden));
    changed();
    await context().saveChat();
    return true;
}

/** What is rendered of them; further up messages are drawn when one scrolls there. @param {Set<any>} shown */
function redraw(shown) {
    const chat = messages();
    for (const block of document.querySelectorAll('#chat .mes[is_system="true"]')) {
        if (shown.has(chat[Number(block.getAttribute('mesid'))])) block.setAttribute('is_system', 'false');
    }
}
