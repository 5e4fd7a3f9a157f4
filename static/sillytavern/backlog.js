/** The question what is to be done with an old chat: asked when it is opened, with what each answer costs. */

import { button, element } from './dom.js';
import { dialog, isGenerating, isPopupOpen, on, toast } from './host.js';
import { listen, session } from './session.js';
import { settings } from './settings.js';
import { refresh } from './memory.js';
import { followJob, showProgress, startProgress } from './progress.js';
import { isUndecided } from './takeover.js';
import { startTroubles } from './troubles.js';
import { costs } from './words.js';

export { followJob };

const SETTLED_MS = 500; // SillyTavern tells that a generation ended a little before it is ready for the next
const CHOOSE = '\nChoose:'; // what stands before the choices in the server's text

/** @typedef {'all'|'one'|'skip'} Choice */

/** @type {[Choice, string, string][]} */
const CHOICES = [
    ['all', 'Fold everything now', 'Everything but the newest turns is folded, in the background. You can go on writing'
        + ' meanwhile.'],
    ['one', 'Fold one batch', 'One batch now, and one more with every reply until the backlog is gone.'],
    ['skip', 'Leave them as they are', 'They stay in the prompt word for word as long as it has room for them. New'
        + ' turns are folded as they come, and you can still fold these later.'],
];

let wasAsked = false;

/** Asks, if there is something to ask, nobody was asked yet, and nobody is disturbed. */
function consider() {
    if (wasAsked || !settings().enabled || !session.status?.backlog.choice_needed || session.status.job) return;
    if (isGenerating() || isPopupOpen() || isUndecided()) return;
    wasAsked = true;
    void showBacklog();
}

/** The choices for the open chat's backlog, or the progress of the job that folds it. */
export async function showBacklog() {
    const { chat, signal } = session;
    if (!chat) return toast('info', 'No chat is open.');
    if (showProgress()) return undefined;
    try {
        const { text, data: status } = await chat.command('/sc-backlog', { signal });
        if (!text.includes(CHOOSE)) return toast('info', text);
        const choice = await ask(text.slice(0, text.indexOf(CHOOSE)), status, signal);
        if (choice && !signal.aborted) await choose(choice, chat, signal);
    } catch (error) {
        if (!signal.aborted) toast('error', /** @type {any} */ (error).detail ?? String(error));
    }
    return undefined;
}

/**
 * @param {string} words the server's own @param {any} status @param {AbortSignal} signal closes the dialog
 * @returns {Promise<Choice|null>} null: none was made
 */
async function ask(words, status, signal) {
    const prices = costs(status);
    /** @type {Choice|null} */
    let chosen = null;
    const choices = CHOICES.map(([choice, title, meaning]) => {
        const press = () => {
            chosen = choice;
            popup.complete(null);
        };
        const made = button('', press, { className: 'turnfold-choice', 'data-choice': choice });
        made.append(element('b', {}, title), element('span', {}, meaning), element('i', {}, prices[choice]));
        return made;
    });
    const popup = dialog(element('div', { className: 'turnfold-backlog' },
        element('h3', {}, 'An old chat that Turnfold does not know yet'),
        element('p', { className: 'turnfold-text' }, words),
        element('p', {}, 'Nothing is folded before you choose, and no message is lost or hidden whatever you choose.'),
        ...choices), { okButton: 'Not now', signal });
    await popup.show();
    return chosen;
}

/** @param {Choice} choice @param {import('./turnfold.js').Chat} chat @param {AbortSignal} signal */
async function choose(choice, chat, signal) {
    const { text, data } = await chat.command(`/sc-backlog ${choice}`);
    if (signal.aborted) return;
    if (data.job) followJob(data.job, { large: choice === 'all' && data.job.progress.total > 1 });
    else toast('info', text);
    await refresh();
}

/** Whether a dialog was taken away; its `close` comes too late to be heard. @param {MutationRecord} change */
const isDialogGone = ({ removedNodes }) => [...removedNodes].some((node) => node instanceof HTMLDialogElement);

/** Asks when a chat is opened, and shows the jobs of the open chat. */
export function startBacklog() {
    startProgress();
    startTroubles();
    listen('opened', () => { wasAsked = false; });
    listen('status', consider);
    on(['GENERATION_ENDED', 'GENERATION_STOPPED'], () => setTimeout(consider, SETTLED_MS));
    const watcher = new MutationObserver((changes) => changes.some(isDialogGone) && setTimeout(consider, SETTLED_MS));
    watcher.observe(document.body, { childList: true });
}
