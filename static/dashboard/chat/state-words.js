/** What a job does, what failed, and who is waited for, in words. */
import { counted, number, span } from '../format.js';

/** @typedef {import('../../turnfold.js').Status} Status */

const KINDS = /** @type {Record<string, string>} */ ({
    fold: 'Folding', one: 'Folding one batch', summarize: 'Folding what lies outside the window',
    backlog: 'Folding the backlog', heal: 'Putting the memory right', regenerate: 'Writing a snippet anew',
});

/** What a job does. @param {{kind: string}} job */
export const doing = (job) => KINDS[job.kind] ?? 'Working';

/** How far a job is. @param {import('../../turnfold.js').Job} job @param {number|null} left seconds */
export function howFar({ state, progress }, left) {
    const { done, total, failed, percent } = progress;
    const batches = counted(total, 'batch', 'batches');
    if (state === 'queued') return total ? `${batches}, about to begin` : 'About to begin';
    const parts = total ? [`${number(done)} of ${batches}`, `${percent} %`] : [];
    if (left !== null) parts.push(`about ${span(left)} left`);
    if (failed) parts.push(`${number(failed)} given up, whose turns stay word for word`);
    return parts.join(' · ');
}

/** Seconds that are left, `passed` milliseconds after they were told. @param {number|null} eta
 *  @param {number} passed */
export const left = (eta, passed) => (eta === null ? null : Math.max(1, eta - passed / 1000));

/** When something is tried again. @param {string|null} time RFC 3339 @param {number} now
 *  @param {boolean} [due] there is something to fold */
export function again(time, now, due = true) {
    if (!time) return null;
    const seconds = (Date.parse(time) - now) / 1000;
    const rest = seconds > 0.5 ? ` after ${span(seconds)},` : '';
    if (!due) return `It is asked again${rest} when there is something to fold.`;
    return seconds > 0.5 ? `Tries again in ${span(seconds)}.` : 'Tries again now.';
}

const FAULTS = /** @type {Record<string, string>} */ ({
    401: 'was refused by its server', 403: 'was refused by its server', 404: 'was not found',
    429: 'is asked to wait by its server',
});

/** What failed last, in a few words; the failure's own detail says what to do.
 *  @param {import('../../turnfold.js').Failure} failure */
export function trouble({ code, connection, status }) {
    const fault = FAULTS[status ?? ''];
    if (fault) return `“${connection}” ${fault} (status ${status})`;
    if (status && status >= 400) return `“${connection}” answered ${status}`;
    return `“${connection}” ${code === 'provider_unavailable' ? 'cannot be reached' : 'gave no summary'}`;
}

/** The state of a connection where it deserves a word, else null. @param {Status['connection']} connection
 *  @param {string|null} next when it is called again, in words @param {boolean} [working] a job calls it */
export function breaker({ name, provider, state }, next, working = false) {
    if (provider === 'missing') return `The connection “${name}” of this chat does not exist.`;
    if (state === 'failing' && working) return `The last call to “${name}” failed. It is called again after a pause.`;
    if (state !== 'cooling_down') return null;
    return `“${name}” failed several times, and is left alone for a while. ${next ?? ''}`.trim();
}

/** Who is waited for. @param {{connection: string, calls: number, leased: number}} waiting */
export function waitsFor({ connection, calls, leased }) {
    const prompts = counted(calls, 'prompt');
    if (!leased) return `Waiting for “${connection}”: ${prompts} to answer with its own model. Keep its page open.`;
    return `“${connection}” is answering ${leased === calls ? '' : `${number(leased)} of `}${prompts}.`;
}
