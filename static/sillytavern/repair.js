/**
 * Repair of the open chat: what the server finds wrong with its memory, and what only this side can see: messages that
 * are hidden in the file though no person hid them, and messages that the server does not know. Nothing is touched
 * before one agrees.
 */

import { button, count, element } from './dom.js';
import { toHistory } from './history.js';
import { dialog, messages, toast } from './host.js';
import { isGhosted, refresh } from './memory.js';
import { isHiddenThere } from './original.js';
import { session } from './session.js';
import { changed, settled } from './sync.js';
import { unhide } from './unhide.js';

/** @typedef {import('./turnfold.js').Chat} Chat @typedef {{code: string, detail: string, fixed: boolean}} Finding */

const SYNC_MS = 30_000;

/** Looks for what is wrong, tells it, and puts it right if asked to. @returns {Promise<string>} what came of it */
export async function repair() {
    const { chat, signal } = session;
    if (!chat || session.phase !== 'ready') return say('info', 'Open a chat first, with Turnfold’s server running.');
    try {
        changed(); // whatever was missed is sent first
        await settled(SYNC_MS);
        const found = signal.aborted ? [] : await findings(chat, { body: { dry_run: true }, signal });
        if (signal.aborted) return '';
        const hidden = messages().filter(isHiddenThere);
        if (!found.length && !hidden.length) return say('success', 'All is well with this chat’s memory.');
        if (!await agreed(found, hidden, signal) || signal.aborted) return 'Nothing was changed.';
        return say('info', await mend({ chat, signal }, found, hidden));
    } catch (error) {
        return signal.aborted ? '' : say('error', /** @type {any} */ (error).detail ?? String(error));
    }
}

/** @param {'info'|'success'|'error'} kind @param {string} text */
function say(kind, text) {
    toast(kind, text);
    return text;
}

/** @param {Chat} chat @param {import('./turnfold.js').Call} call @returns {Promise<Finding[]>} */
const findings = async (chat, call) => (await chat.request('POST', '/repair', { timeout: 0, ...call })).findings;

/**
 * What was agreed to is done on the server even if another chat is opened meanwhile; its file then stays as it is.
 * @param {{chat: Chat, signal: AbortSignal}} at @param {Finding[]} found @param {any[]} hidden
 */
async function mend({ chat, signal }, found, hidden) {
    const mended = found.length ? await findings(chat, { body: { dry_run: false } }) : [];
    const isShown = hidden.length > 0 && await unhide(hidden, signal);
    if (!signal.aborted) {
        await settled(SYNC_MS);
        await refresh();
    }
    const right = mended.filter(({ fixed }) => fixed).length;
    const left = mended.filter(({ fixed }) => !fixed).map(({ detail }) => detail);
    return [
        right ? `${count(right, 'fault')} put right.` : '',
        isShown ? `${count(hidden.length, 'message')} shown again.` : '',
        hidden.length && !isShown ? `${count(hidden.length, 'message')} stayed hidden, as another chat was opened: repair`
            + ' that chat again.' : '',
        left.length ? `This is left for you to decide: ${left.join(' ')}` : '',
    ].filter(Boolean).join(' ');
}

/**
 * Tells everything that was found, and asks.
 * @param {Finding[]} found @param {any[]} hidden @param {AbortSignal} signal @returns {Promise<boolean>}
 */
async function agreed(found, hidden, signal) {
    let isAgreed = false;
    const yes = button('Put it right', () => { isAgreed = true; popup.complete(null); },
        { className: 'turnfold-choice', 'data-choice': 'repair' });
    const told = [...found.map(({ detail }) => detail), ...hiddenIn(hidden), ...unknown()];
    const popup = dialog(element('div', { className: 'turnfold-backlog turnfold-repair' },
        element('h3', {}, 'What is wrong with this chat’s memory'),
        element('ul', {}, ...told.map((detail) => element('li', { className: 'turnfold-text' }, detail))),
        element('p', {}, found.length ? COPY : 'Nothing else is touched: what you hid yourself stays hidden.'),
        yes), { okButton: 'Leave it as it is', signal });
    await popup.show();
    return isAgreed;
}

const COPY = 'What has one right fix is put right, after the server has made a copy of its database. What you hid'
    + ' yourself stays hidden.';

/** @param {any[]} hidden by Summaryception */
function hiddenIn(hidden) {
    const covered = hidden.filter(isGhosted).length;
    const bare = hidden.filter((message) => !isGhosted(message));
    return [
        bare.length ? `Summaryception hid ${count(bare.length, 'message')} that no snippet covers (${spans(bare)}): the`
            + ' model gets neither the text nor a summary. They are shown again.' : '',
        covered ? `Summaryception hid ${count(covered, 'message')} that snippets of Turnfold cover. They are shown`
            + ' again, as ghosts.' : '',
    ].filter(Boolean);
}

/** Messages that are in no prompt of the server's, because they are too long for it. */
function unknown() {
    const { tooLong } = toHistory(messages());
    return tooLong.length ? [`The server does not take ${count(tooLong.length, 'message')} of more than 1 MiB (number`
        + ` ${tooLong.join(', ')}): they are sent as they are and never folded. Shorten them.`] : [];
}

/** Their numbers in the chat: `0–4, 7, 9–12` @param {any[]} some in the chat's order */
export function spans(some) {
    const wanted = new Set(some);
    /** @type {[number, number][]} */
    const runs = [];
    messages().forEach((message, place) => {
        const run = runs.at(-1);
        if (!wanted.has(message)) return;
        if (run?.[1] === place - 1) run[1] = place;
        else runs.push([place, place]);
    });
    return runs.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(', ');
}
