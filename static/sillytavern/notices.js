/** Word of what goes wrong with syncing: once when it begins, once when it is over, never for every message. */

import { toast } from './host.js';

const AWAY = 'The last known memory is used, and what is missed is synced later.';

let told = '';

/** @param {import('./turnfold.js').TurnfoldError} error */
export function tellAway(error) {
    const gone = error.status === 0;
    const what = gone ? `${error.detail} ${AWAY}` : `This chat cannot be synced: ${error.detail}`;
    if (told === error.code) return;
    told = error.code;
    toast('warning', what, { timeOut: 8000 });
}

/** It works again. */
export function tellBack() {
    if (told) toast('success', 'Turnfold is in sync again.');
    told = '';
}

/** @param {number[]} places of messages that are longer than 1 MiB */
export function tellTooLong(places) {
    const which = places.length === 1 ? `Message ${places[0]} is` : `Messages ${places.slice(0, 20).join(', ')} are`;
    toast('warning', `${which} longer than 1 MiB and left out of the memory. The rest is synced.`, { timeOut: 10_000 });
}

/** @param {import('./turnfold.js').TurnfoldError} error @param {() => void} agree */
export function askToShrink(error, agree) {
    const what = 'Most of this chat is gone here, but Turnfold still has it. Click to have Turnfold forget it too.';
    const options = { timeOut: 0, extendedTimeOut: 0, closeButton: true, onclick: agree };
    toast('warning', `${error.detail.split(' If ')[0]} ${what}`, options);
}

/** @param {import('./turnfold.js').TurnfoldError} error */
export function tellUnread(error) {
    toast('warning', `The memory of this chat cannot be read, so the last known one is used: ${error.detail}`);
}
