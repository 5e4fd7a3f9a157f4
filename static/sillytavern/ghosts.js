/**
 * The ghosts beside messages that a snippet stands for: which messages have one, what it tells, where it leads.
 *
 * Only marks are put on; the messages stay where they are, and as they are. The mark is a data attribute, since
 * SillyTavern looks through a message whenever its classes change.
 */

import { messages, on, toast } from './host.js';
import { listen, session } from './session.js';
import { settings } from './settings.js';
import { element } from './dom.js';
import { isGhosted } from './memory.js';
import { snippetOver, startLookup, where } from './lookup.js';
import { showSnippet } from './snippet-dialog.js';
import { follow, hide, isTold, tell } from './tooltip.js';

const GHOST = 'turnfold-ghost';
const LABEL = 'Ghosted: a summary stands for this message. Show it';
const RERENDERED = ['MESSAGE_UPDATED', 'MESSAGE_SWIPED', 'MESSAGE_DELETED', 'CHAT_CHANGED', 'SETTINGS_UPDATED'];

let isDue = false;

/** Has every rendered message marked as it should be, once, before the page is drawn the next time. */
export function repaint() {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(paint);
}

function paint() {
    isDue = false;
    const { icons, enabled } = settings();
    const isShown = icons && enabled && session.id !== null;
    const chat = messages();
    /** @type {NodeListOf<HTMLElement>} */
    const all = document.querySelectorAll('#chat > .mes');
    for (const shown of all) {
        const message = isShown ? chat[Number(shown.getAttribute('mesid'))] : null;
        mark(shown, Boolean(message) && isGhosted(message));
    }
}

/** @param {HTMLElement} shown @param {boolean} isWanted */
function mark(shown, isWanted) {
    const isMarked = shown.dataset.turnfold === 'ghosted';
    if (!isWanted && !isMarked) return;
    const ghost = shown.querySelector(`.${GHOST}`);
    if (!isWanted) {
        delete shown.dataset.turnfold;
        if (ghost && isTold(ghost)) hide();
        ghost?.remove();
    } else {
        shown.dataset.turnfold = 'ghosted';
        if (!ghost) shown.querySelector('.mes_ghost')?.after(newGhost());
    }
}

const newGhost = () => (
    element('button', { type: 'button', className: `${GHOST} fa-solid fa-ghost`, 'aria-label': LABEL })
);

/** @param {Event} event @returns {HTMLElement|null} the ghost that it happened to */
const ghostOf = ({ target }) => (target instanceof Element ? target.closest(`.${GHOST}`) : null);

/** @param {Element} ghost */
const messageOf = (ghost) => messages()[Number(ghost.closest('.mes')?.getAttribute('mesid'))];

/** @param {Event} event */
function look(event) {
    const ghost = ghostOf(event);
    if (ghost && !isTold(ghost)) void tell(ghost, hint(messageOf(ghost)));
}

/** @param {any} message */
async function hint(message) {
    const found = await snippetOver(message);
    if (!found) return ['It is left out of the prompt, and no summary stands for it.'];
    const more = `${where(found)}. This message is not sent to the model, its summary is. Click for more.`;
    return [element('p', {}, found.text), element('small', {}, more)];
}

/** @param {Event} event */
async function open(event) {
    const ghost = ghostOf(event);
    if (!ghost) return;
    event.stopPropagation();
    hide();
    try {
        const found = await snippetOver(messageOf(ghost));
        if (found) await showSnippet(found.id);
    } catch (error) {
        toast('error', /** @type {any} */ (error).detail ?? String(error));
    }
}

/** @param {Event} event */
function leave(event) {
    if (ghostOf(event)) hide();
}

/** Watches the chat: its events, its memory, and what is rendered of it. */
export function startGhosts() {
    startLookup();
    for (const what of ['opened', 'closed', 'memory', 'phase']) listen(what, repaint);
    on(RERENDERED, repaint);
    const chat = /** @type {HTMLElement} */ (document.getElementById('chat'));
    new MutationObserver(repaint).observe(chat, { childList: true });
    for (const kind of ['pointerover', 'focusin']) chat.addEventListener(kind, look);
    for (const kind of ['pointerout', 'focusout']) chat.addEventListener(kind, leave);
    chat.addEventListener('click', open);
    chat.addEventListener('scroll', follow, { passive: true });
    document.addEventListener('keydown', ({ key }) => key === 'Escape' && hide());
    repaint();
}
