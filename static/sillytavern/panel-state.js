/** What the panel says of the memory's state: one title, one line, and what a person may want to do about it. */

import { clock, count, spoken } from './dom.js';
import { figure } from './panel-parts.js';

/**
 * @typedef {import('./session.js').Session} Session
 * @typedef {'off'|'well'|'busy'|'care'} Tone
 * @typedef {{tone: Tone, title: string, line: string, progress?: number, todo?: 'server'|'backlog'}} Said
 *   `progress` in percent; `todo`: where the next step is
 */

/** @param {Session} session @param {boolean} enabled in this SillyTavern @returns {Said} */
export function describe(session, enabled) {
    if (!enabled) return { tone: 'off', title: 'Off', line: 'Nothing is sent to Turnfold, and no memory is in the prompt.' };
    if (session.phase === 'away') return away(session.error);
    if (session.phase === 'closed') return { tone: 'off', title: 'No chat is open', line: 'Open one to see its memory.' };
    if (!session.status) return { tone: 'busy', title: 'Reading the chat', line: '' };
    return working(session.status) ?? waiting(session.status) ?? resting(session.status);
}

/** @param {any} error @returns {Said} */
function away(error) {
    const kept = 'Nothing is lost: what you write is synced later, and the last known memory stays in the prompt.';
    const title = error?.status ? 'The server refuses' : 'The server is away';
    return { tone: 'care', title, line: [error?.detail, kept].filter(Boolean).join(' '), todo: 'server' };
}

/** @param {any} status @returns {Said|null} */
function working({ job, connection }) {
    const calls = connection?.waiting;
    if (calls?.calls && !calls.leased) {
        return { tone: 'busy', title: `Waiting for ${connection.name}`, line: `${count(calls.calls, 'prompt')} to answer.` };
    }
    if (!job) return null;
    const { done, total, percent, eta_s: left } = job.progress;
    const parts = [total ? `${done} of ${count(total, 'batch', 'batches')}` : '', left ? `about ${spoken(left)} left` : ''];
    return { tone: 'busy', title: 'Folding', line: `${parts.filter(Boolean).join(', ')}.`.replace(/^\.$/, ''), progress: percent };
}

/** @param {any} status @returns {Said|null} what keeps it from going on */
function waiting({ enabled, paused, backlog, last_error: failed }) {
    if (failed) {
        const again = failed.retry_at ? `It is tried again at ${clock(failed.retry_at)}.` : '';
        return { tone: 'care', title: 'The last summary failed', line: `${failed.detail} ${again} No message is lost.` };
    }
    if (!enabled) return { tone: 'off', title: 'Memory is switched off', line: 'In Turnfold\'s settings for this chat.' };
    if (backlog.choice_needed) {
        const line = `${count(backlog.turns, 'turn')} are older than the window. They are sent word for word until you choose.`;
        return { tone: 'care', title: 'An old chat', line, todo: 'backlog' };
    }
    return paused ? { tone: 'off', title: 'Paused', line: 'The memory is sent; nothing new is folded.' } : null;
}

/** @param {any} status @returns {Said} */
function resting({ backlog, strategy, stale_snippets: stale, degraded_snippets: degraded, counts }) {
    if (strategy === 'none') return { tone: 'off', title: 'No memory', line: 'This chat keeps none; everything is sent.' };
    const marks = [stale ? `${count(stale, 'snippet')} stale` : '', degraded ? `${figure(degraded)} degraded` : ''].filter(Boolean);
    const due = backlog.turns ? `${count(backlog.turns, 'turn')} wait for the next fold` : '';
    const none = counts.ghosted ? '' : 'Nothing is folded yet';
    const line = [none, due, ...marks].filter(Boolean).join(' · ');
    return { tone: 'well', title: 'Up to date', line: line ? `${line}.` : '' };
}
