/**
 * What was decided about Summaryception's memory, in the chat's file: the answer itself, and which messages are hidden.
 *
 * SillyTavern saves the chat that is open and no other. Where that is another one by then, this is done when one comes
 * back.
 */

import { context, messages, toast } from './host.js';
import { isGhosted, refresh } from './memory.js';
import { isHiddenThere, isMarkedThere } from './original.js';
import { session } from './session.js';
import { save, settings } from './settings.js';
import { drawResult } from './takeover-dialog.js';
import { unhide } from './unhide.js';

/**
 * @typedef {{id: string, chat: import('./turnfold.js').Chat, signal: AbortSignal}} At the chat that it is about
 * @typedef {{code: string, detail: string}} Warning
 * @typedef {{answer: 'taken', snippets: number, warnings: Warning[]}|{answer: 'anew'}|{answer: 'left'}} Done on the server
 */

export const store = () => context().chatMetadata?.summaryception;
export const theirs = () => context().extensionSettings.summaryception;

/** Whether Summaryception still runs in this page and hides messages. */
export const isRunning = () => Boolean(theirs()) && theirs().enabled !== false
    && [...document.scripts].some((script) => /summaryception/i.test(script.src));

/** Of chats that were left before their files were changed: what is still to do there. @returns {Record<string, Done>} */
const waiting = () => settings().begun;

/**
 * Has the file say what the server has done; now, or when the chat is opened next.
 * @param {At} at @param {Done} done @returns {Promise<void>}
 */
export async function conclude(at, done) {
    if (!at.signal.aborted) {
        await carryOut(at, done);
        return;
    }
    waiting()[at.id] = done;
    save();
}

/** Goes on with what waits for the open chat. @returns {boolean} whether something did */
export function concludeLater() {
    const { id, chat, signal } = session;
    const done = id ? waiting()[id] : undefined;
    if (!id || !chat || !done) return false;
    delete waiting()[id];
    save();
    void conclude({ id, chat, signal }, done).catch((error) => toast('error', error.detail ?? String(error)));
    return true;
}

/** @param {At} at @param {Done} done @returns {Promise<void>} */
async function carryOut(at, done) {
    if (done.answer === 'left') return leave();
    if (done.answer === 'anew') {
        mark('anew');
        await unhide(messages().filter(isMarkedThere), at.signal);
        return refresh();
    }
    await refresh(); // what is ghosted has to be known
    return at.signal.aborted ? conclude(at, done) : show(done, at.signal);
}

async function leave() {
    mark('left');
    await context().saveMetadata();
    toast('info', 'Turnfold stays out of this chat. Its panel has a button if you change your mind.');
    return refresh();
}

/**
 * Shows what a snippet covers now, and tells.
 * @param {{snippets: number, warnings: Warning[]}} result of the import @param {AbortSignal} signal
 */
async function show(result, signal) {
    const hidden = messages().filter(isHiddenThere);
    const stranded = new Set(result.snippets ? hidden.filter((message) => !isGhosted(message)) : []);
    if (result.snippets) {
        mark('taken');
        await unhide(messages().filter((message) => isMarkedThere(message) && !stranded.has(message)), signal);
    }
    const ghosts = hidden.length - stranded.size;
    const told = { ...result, ghosts, stranded: stranded.size, running: isRunning() };
    if (await drawResult(told, signal)) await unhide([...stranded], signal);
}

/** Saved with the chat. @param {Done['answer']} answer */
function mark(answer) {
    const metadata = context().chatMetadata;
    metadata.turnfold = { ...metadata.turnfold, summaryception: answer };
}
