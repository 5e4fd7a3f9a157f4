/** What the home page says of the server and of costs. Pure. */
import { counted, short } from '../format.js';

/** @param {{calls: number, prompt_tokens: number, completion_tokens: number, chats: number}} usage */
export function costOf({ calls, prompt_tokens: read, completion_tokens: written, chats }) {
    if (!calls) return chats ? 'No model has been called for summaries yet: they have cost nothing.' : '';
    const tokens = `${short(read)} tokens read, ${short(written)} written`;
    return `Summaries have cost ${counted(calls, 'call')} so far, over ${counted(chats, 'chat')}: ${tokens}.`;
}

/**
 * How the server fares: what is not well, and what to do.
 * @param {{ready: boolean, checks: {database: {ok: boolean, detail: string}, worker: {ok: boolean, detail: string},
 *   connections: {name: string, state: string, retry_at: string|null, last_error: string|null}[]}}} health
 * @returns {{kind: 'good'|'warn'|'bad', word: string, faults: {what: string, detail: string}[]}}
 */
export function healthOf({ ready, checks }) {
    const broken = /** @type {['database'|'worker', string][]} */ ([['database', 'Database'], ['worker', 'Worker']])
        .filter(([name]) => !checks[name].ok).map(([name, what]) => ({ what, detail: checks[name].detail }));
    const ailing = checks.connections.filter(({ state }) => state !== 'ok').map((one) => (
        { what: `Connection ${one.name}`, detail: [STATES[one.state], one.last_error].filter(Boolean).join('. ') }));
    const faults = [...broken, ...ailing];
    if (!ready) return { kind: 'bad', word: 'Not ready', faults };
    if (ailing.length) return { kind: 'warn', word: 'A model does not answer', faults };
    return { kind: 'good', word: 'All is well', faults };
}

const STATES = /** @type {Record<string, string>} */ ({
    failing: 'Its last call failed', cooling_down: 'It is left alone for a while',
});

/** '3.4 MB'. @param {number} bytes */
export function size(bytes) {
    const mega = bytes / 1_000_000;
    return mega >= 1 ? `${mega.toFixed(1)} MB` : `${Math.max(1, Math.round(bytes / 1000))} kB`;
}
