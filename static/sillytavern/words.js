/** What is said of a backlog and of the jobs that fold it: what it costs, how far it is, how it ended. Pure. */

import { clock, count, spoken } from './dom.js';

/** What happens after a failure. @param {{retry_at: string|null}} error */
export const next = ({ retry_at: time }) => (
    time
        ? `It is tried again by itself at ${clock(time)}.`
        : 'The next message tries it again, and so does /sc-summarize.'
);

/** What is the matter with a snippet, in its own mark and in a sentence. */
export const FLAWS = Object.freeze({
    stale: 'Something under it has changed since it was written.',
    degraded: 'It was cut short, or not written by the model that was meant to.',
});

/** @param {{done: number, total: number}} progress */
const batches = ({ done, total }) => `${done.toLocaleString('en')} of ${count(total, 'batch', 'batches')}`;

/** How far a job is. @param {any} job */
export function howFar({ state, progress }) {
    const { total, failed, percent, eta_s: left } = progress;
    if (state === 'queued') return `Folding ${count(total, 'batch', 'batches')}, about to begin`;
    const parts = [`Folded ${batches(progress)} (${percent} %)`];
    if (failed) parts.push(`${failed} failed`);
    if (left !== null) parts.push(`about ${spoken(left)} left`);
    return parts.join(', ');
}

/** That prompts wait, and for whom; null if none do. @param {any} connection of a status */
export function whoIsAwaited({ waiting, name }) {
    if (!waiting || waiting.leased) return null;
    return { title: `Waiting for ${name}`, line: `${count(waiting.calls, 'prompt')} to answer. Keep its page open.` };
}

/** What holds a job up, as far as the status knows it; empty if nothing does. @param {any} status */
export function whatHolds(status) {
    const { paused, last_error: error, connection = {} } = status ?? {};
    const { waiting, state, retry_at: time, name } = connection;
    const awaited = whoIsAwaited(connection);
    if (waiting?.leased) return `${name} is answering. Keep this page open.`;
    if (awaited) return `${awaited.title}: ${awaited.line}`;
    if (error) return `Last error: ${error.detail}`;
    if (state === 'cooling_down' && time) return `The connection '${name}' is left alone until ${clock(time)}.`;
    return paused ? 'The chat is paused: when this is done nothing more folds by itself until /sc-resume.' : '';
}

/** @typedef {{kind: 'info'|'success'|'warning'|'error', text: string}} Told */

/** How a job ended. @param {any} job @returns {Told} */
export function outcome({ state, reason, error, usage, progress }) {
    const { done, failed } = progress;
    const folded = batches(progress);
    const cause = error?.detail ?? reason ?? '';
    if (state === 'failed') {
        const after = done ? ` after ${folded}; what is folded stays` : '';
        return { kind: 'error', text: `Folding failed${after}. ${cause} ${next(error ?? { retry_at: null })}` };
    }
    if (state === 'cancelled') return { kind: 'info', text: `Stopped after ${folded}; what is folded stays.` };
    if (state === 'interrupted') {
        const text = `The server ended after ${folded}; what is folded stays, and it goes on later.`;
        return { kind: 'warning', text };
    }
    if (failed) {
        const text = `Folded ${folded}; ${failed} failed, and their turns stay visible. ${cause}`;
        return { kind: 'warning', text: text.trim() };
    }
    return { kind: 'success', text: `Folded ${folded}${usage?.calls ? `, with ${count(usage.calls, 'call')}` : ''}.` };
}

/**
 * What each choice costs. @param {any} status @returns {{all: string, one: string, skip: string}}
 */
export function costs({ backlog, connection }) {
    const skip = 'Costs nothing.';
    if (connection.provider === 'extractive') {
        const all = `Costs nothing: the built-in summarizer needs no model.${time(backlog)}`;
        return { all, one: 'Costs nothing.', skip };
    }
    const { estimated_calls: calls, estimated_input_tokens: tokens } = backlog;
    const each = Math.round(tokens / Math.max(1, calls));
    return { all: `${price(calls, tokens, connection)}${time(backlog)}`, one: price(1, each, connection), skip };
}

/** @param {number} calls @param {number} tokens @param {any} connection */
function price(calls, tokens, { name, model }) {
    const called = `${count(calls, 'call')} to ${model ?? name}`;
    return `About ${called}, with ${count(tokens, 'input token')}${calls > 1 ? ' in all' : ''}.`;
}

/** @param {any} backlog */
const time = ({ estimated_s: seconds }) => (typeof seconds === 'number' ? ` About ${spoken(seconds)}.` : '');
