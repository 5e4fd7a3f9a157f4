/**
 * The job that folds the open chat, as it goes on: a bar in a toast, or in a dialog, that can stop it.
 *
 * It belongs to its chat: where another one is opened it is gone, and comes back with the chat, if it still runs then.
 */

import { button, element } from './dom.js';
import { dialog, note, toast } from './host.js';
import { listen, session } from './session.js';
import { settings } from './settings.js';
import { howFar, outcome, whatHolds } from './words.js';

const LONG = 5; // batches: a job of fewer that nobody asked for goes unseen
const ASKED_FOR = ['backlog', 'summarize'];

/** @type {Watched|null} */
let watched = null;

class Watched {
    /** @param {any} job @param {import('./turnfold.js').Chat} chat whose it is @param {AbortSignal} signal the chat's */
    constructor(job, chat, signal) {
        this.chat = chat;
        this.signal = signal;
        this.job = job;
        this.trouble = '';
        this.toast = /** @type {{close: () => void, isOpen: () => boolean}|null} */ (null);
        this.popup = /** @type {any} */ (null);
        this.bar = element('progress', { max: 100, value: 0, 'aria-label': 'How much is folded' });
        this.far = element('p', { role: 'status' });
        this.held = element('p', { className: 'turnfold-held' });
        this.stopper = button('Stop', () => void this.stop());
        const larger = button('Larger', () => this.enlarge(), { className: 'turnfold-button turnfold-larger' });
        const smaller = button('Go on in the background', () => this.popup?.complete(null), {
            className: 'turnfold-button turnfold-smaller',
        });
        const row = element('div', { className: 'turnfold-row' }, this.stopper, larger, smaller);
        this.box = element('div', { className: 'turnfold-progress' }, this.far, this.bar, this.held, row);
    }

    /** Follows the job to its end, which is told. */
    async follow() {
        this.draw();
        const close = () => this.close();
        this.signal.addEventListener('abort', close, { once: true });
        const told = await this.end().then(outcome, lost);
        this.signal.removeEventListener('abort', close);
        if (this.signal.aborted) return;
        close();
        say(told);
    }

    /** @returns {Promise<any>} the job once it has ended */
    end() {
        return this.chat.server.follow(this.job.id, {
            signal: this.signal,
            onProgress: (/** @type {any} */ progress) => this.on({ state: 'running', progress }),
            onOpen: () => this.tell(''),
            onLost: (/** @type {any} */ error) => this.tell(error.detail),
        });
    }

    /** @param {any} fields of the job that have changed */
    on(fields) {
        Object.assign(this.job, fields);
        this.draw();
    }

    /** @param {string} trouble */
    tell(trouble) {
        this.trouble = trouble;
        this.draw();
    }

    draw() {
        this.bar.value = this.job.progress.percent;
        this.far.textContent = howFar(this.job);
        this.held.textContent = this.trouble || whatHolds(session.status);
    }

    async stop() {
        this.stopper.disabled = true;
        try {
            await this.chat.stop();
        } catch (error) {
            this.stopper.disabled = false;
            toast('error', /** @type {any} */ (error).detail ?? String(error));
        }
    }

    shrink() {
        if (!this.popup && !this.toast?.isOpen()) this.toast = note(this.box);
    }

    enlarge() {
        if (this.popup) return;
        this.toast?.close();
        const content = element('div', {}, element('h3', {}, 'Folding'), this.box);
        this.popup = dialog(content, { okButton: false });
        void this.popup.show().then(() => {
            this.popup = null;
            if (watched === this) this.shrink();
        });
    }

    close() {
        if (watched === this) watched = null;
        this.toast?.close();
        this.popup?.complete(null);
    }
}

/** @typedef {import('./words.js').Told} Told */

/** Of a job that cannot be followed any more. @param {any} error @returns {Told} */
const lost = (error) => ({ kind: 'warning', text: error.detail ?? String(error) });

/** @param {Told} told */
const say = ({ kind, text }) => toast(kind, text, kind === 'error' ? { timeOut: 20_000 } : {});

/**
 * Shows a job of the open chat until it ends, and how it ended.
 * @param {any} job as the API shows it @param {{large?: boolean}} [how] in a dialog rather than a toast
 */
export function followJob(job, { large = false } = {}) {
    const { chat, signal } = session;
    if (!chat || session.id !== job.chat_id) return; // the chat that it folds was left
    if (watched?.job.id !== job.id) {
        watched?.close();
        watched = new Watched({ ...job }, chat, signal);
        seen.add(job.id);
        void watched.follow();
    }
    if (large) watched?.enlarge();
    else watched?.shrink();
}

/** Whether a job is being followed; then its progress is shown large. */
export function showProgress() {
    watched?.enlarge();
    return watched !== null;
}

/** Whether a job's end will be told. @param {string|null} id */
export const isFollowed = (id) => watched?.job.id === id;

/** @type {Set<string>} jobs that were shown: a late status may still tell of them */
const seen = new Set();

/** @param {any} job */
function notice(job) {
    if (!settings().enabled || !job || !['queued', 'running'].includes(job.state) || seen.has(job.id)) return;
    const { done, total } = job.progress;
    if (total - done >= LONG || (ASKED_FOR.includes(job.kind) && total > 1)) followJob(job);
}

/** Shows what was begun elsewhere, or before the page was loaded. */
export function startProgress() {
    listen('opened', () => seen.clear());
    listen('status', () => {
        watched?.draw();
        notice(session.status?.job);
    });
    listen('event', ({ detail: { event, data } }) => {
        if (event === 'job') notice(data);
        if (event === 'error' && isFollowed(data.job_id)) watched?.tell(`Last error: ${data.detail}`);
    });
}
