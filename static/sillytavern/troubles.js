/** Toasts for summaries that could not be had: the cause, and what happens next; not the same one over and over. */

import { toast } from './host.js';
import { listen } from './session.js';
import { settings } from './settings.js';
import { isFollowed } from './progress.js';
import { next } from './words.js';

const QUIET_MS = 5 * 60_000;

/** @type {Map<string, number>} when a cause was told last */
const told = new Map();

/** @param {string} cause */
function isNews(cause) {
    const now = Date.now();
    if (now - (told.get(cause) ?? -Infinity) < QUIET_MS) return false;
    told.set(cause, now);
    return true;
}

/** @param {any} error of the chat's event stream */
function show(error) {
    if (!settings().enabled || isFollowed(error.job_id) || !isNews(error.detail)) return;
    toast('error', `${error.detail} Nothing is lost: the turns stay as they are. ${next(error)}`, { timeOut: 12_000 });
}

/** Listens for errors; a job that is followed tells its own. */
export function startTroubles() {
    listen('opened', () => told.clear());
    listen('event', ({ detail: { event, data } }) => event === 'error' && show(data));
}
