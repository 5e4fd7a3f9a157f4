/** Word of what goes wrong with syncing: once when it begins, once when it is over, never for every message. */

import { toast } from './host.js';

const AWAY = 'The last known memory is used, and what is missed is synced later.';
const KEY = "Turnfold does not take this key. The server's own belongs into the settings here.";

/** @type {Map<string, () => void>} what is not over yet, and how its toast is taken away */
const told = new Map();

/** @param {string} code @param {'info'|'warning'} kind @param {string} text */
const tellOnce = (code, kind, text) => { if (!told.has(code)) told.set(code, toast(kind, text, { timeOut: 8000 })); };

/** @param {import('./turnfold.js').TurnfoldError} error */
export function tellAway(error) {
    if (error.code === 'timeout' && told.has('slow')) return;
    tellOnce(error.code, 'warning', reason(error));
}

/** @param {import('./turnfold.js').TurnfoldError} error */
function reason({ status, detail, retryAfter }) {
    if (status === 0) return `${detail} ${AWAY}`;
    if (status === 401) return `${KEY} ${AWAY}`;
    const again = retryAfter ? ` It is tried again in ${Math.ceil(retryAfter)} s.` : '';
    return `This chat cannot be synced: ${detail}${again}`;
}

/** The server takes its time, and somebody waits for a reply. */
export function tellSlow() {
    if (!told.size) tellOnce('slow', 'info', `Turnfold has not answered for a while. ${AWAY}`);
}

/** It works again. */
export function tellBack() {
    if (!told.size) return;
    told.forEach((close) => close());
    told.clear();
    toast('success', 'Turnfold is in sync again.');
}

/** @param {number[]} places of messages that are longer than 1 MiB */
export function tellTooLong(places) {
    const which = places.length === 1 ? `Message ${places[0]} is` : `Messages ${places.slice(0, 20).join(', ')} are`;
    toast('warning', `${which} longer than 1 MiB and left out of the memory. The rest is synced.`, { timeOut: 10_000 });
}

/**
 * @param {import('./turnfold.js').TurnfoldError} error @param {() => void} agree
 * @param {AbortSignal} signal aborted when the chat that is asked about is left
 */
export function askToShrink(error, agree, signal) {
    const what = 'Most of this chat is gone here, but Turnfold still has it. Click to have Turnfold forget it too.';
    const onclick = () => { if (!signal.aborted) agree(); };
    // Another chat's question may have the same words.
    const options = { timeOut: 0, extendedTimeOut: 0, closeButton: true, preventDuplicates: false, onclick };
    signal.addEventListener('abort', toast('warning', `${error.detail.split(' If ')[0]} ${what}`, options));
}

/** @param {import('./turnfold.js').TurnfoldError} error */
export function tellUnread(error) {
    toast('warning', `The memory of this chat cannot be read, so the last known one is used: ${error.detail}`);
}
