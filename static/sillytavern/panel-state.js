/** What the panel says of the memory's state: one title, one line, and what a person may want to do about it. Pure. */

import { count } from './dom.js';
import { howFar, next, whoIsAwaited } from './words.js';

/**
 * @typedef {import('./session.js').Session} Session
 * @typedef {'off'|'well'|'busy'|'care'} Tone
 * @typedef {{tone: Tone, title: string, line: string, progress?: number, todo?: 'server'}} Said
 *   `progress` in percent; `todo`: where the next step is
 */

/** @param {Tone} tone @param {string} title @param {string} [line] @returns {Said} */
const say = (tone, title, line = '') => ({ tone, title, line });

/** @param {(string|false|null)[]} parts what is nothing is left out */
const sentence = (...parts) => {
    const told = parts.filter(Boolean).join(', ');
    return told ? `${told}.` : '';
};

/** @param {Session} session @param {boolean} enabled in this SillyTavern @returns {Said} */
export function describe(session, enabled) {
    if (!enabled) return say('off', 'Off', 'Nothing is sent to Turnfold, and no memory is in the prompt.');
    if (session.phase === 'away') return away(session.error);
    if (session.phase === 'closed') return say('off', 'No chat is open', 'Open one to see its memory.');
    if (!session.status) return say('busy', 'Reading the chat');
    return working(session.status) ?? failing(session.status) ?? held(session.status) ?? resting(session.status);
}

/** @param {any} error @returns {Said} */
function away(error) {
    const kept = 'Nothing is lost: what you write is synced later, and the last known memory stays in the prompt.';
    const title = error?.status ? 'The server refuses' : 'The server is away';
    return { ...say('care', title, [error?.detail, kept].filter(Boolean).join(' ')), todo: 'server' };
}

/** @param {any} status @returns {Said|null} */
function working({ job, connection }) {
    const awaited = whoIsAwaited(connection);
    if (awaited) return say('busy', awaited.title, awaited.line);
    return job && { ...say('busy', 'Folding', sentence(howFar(job))), progress: job.progress.percent };
}

/** @param {any} status @returns {Said|null} */
function failing({ last_error: failed }) {
    if (!failed) return null;
    return say('care', 'The last summary failed', `${failed.detail} ${next(failed)} No message is lost.`);
}

/** @param {any} status @returns {Said|null} what keeps it from going on */
function held({ enabled, paused, backlog, strategy }) {
    if (!enabled) return say('off', 'Memory is switched off', 'For this chat, by a setting of the server.');
    if (strategy === 'none') return say('off', 'No memory', 'This chat keeps none; everything is sent.');
    if (backlog.choice_needed) {
        const turns = count(backlog.turns, 'turn');
        return say('care', 'An old chat', `${turns} outside the window are sent word for word until you choose.`);
    }
    return paused ? say('off', 'Paused', 'The memory is sent; nothing new is folded.') : null;
}

/** @param {any} status @returns {Said} */
function resting({ backlog, stale_snippets: stale, degraded_snippets: degraded, counts }) {
    const old = stale > 0 && `${count(stale, 'snippet')} stale`;
    const poor = degraded > 0 && `${count(degraded, 'snippet')} degraded`;
    const due = backlog.turns > 0 && `${count(backlog.turns, 'turn')} to go into the next fold`;
    return say('well', 'Up to date', sentence(!counts.ghosted && 'Nothing is folded yet', due, old, poor));
}
