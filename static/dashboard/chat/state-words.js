/** How the memory of a chat stands, in words. */
import { counted, number, span } from '../format.js';

/** @typedef {import('../../turnfold.js').Status} Status */

const KINDS = /** @type {Record<string, string>} */ ({
    fold: 'Folding', one: 'Folding one batch', summarize: 'Folding what lies outside the window', backlog: 'Folding the backlog',
    heal: 'Putting the memory right', regenerate: 'Writing a snippet anew',
});

/** Why there was nothing to do, by the `reason` of an answer or of a projection's `skipped`. */
export const REASONS = /** @type {Record<string, string>} */ ({
    nothing_to_fold: 'No turn outside the window waits to be folded.',
    below_threshold: 'Not enough waits yet.',
    nothing_new: 'There is nothing new.',
    paused: 'The chat is paused.',
    disabled: 'Memory is switched off in the settings.',
    strategy_none: 'This chat keeps no memory.',
    choice_needed: 'The chat waits for your choice about its backlog.',
    waiting_for_reply: 'The next reply folds one batch.',
    folds_before_the_answer: 'It folds before the next answer is made.',
    empty_dialog: 'There is no finished turn yet.',
    hot_window_covers_dialog: 'There are no more turns than always stay word for word.',
    nothing_new_outside_hot_window: 'All turns outside the window are folded.',
    input_too_large: 'The oldest turn that waits does not fit the window of the model. Raise the context size in the'
        + ' settings, or let long turns be clipped.',
    model_error: 'The model could not be reached, refused, or gave nothing that can be used.',
    cancelled: 'The last fold was stopped.',
    empty_output: 'The last answer of the model was blank.',
});

/** @param {string|null|undefined} reason */
export const reasonOf = (reason) => REASONS[reason ?? ''] ?? (reason ? `Nothing to do: ${reason}.` : 'Nothing to do.');

/** What a job does. @param {{kind: string}} job */
export const doing = (job) => KINDS[job.kind] ?? 'Working';

/** How far a job is. @param {import('../../turnfold.js').Job} job @param {number|null} left seconds */
export function howFar({ state, progress }, left) {
    const { done, total, failed, percent } = progress;
    if (state === 'queued') return total ? `${counted(total, 'batch', 'batches')}, about to begin` : 'About to begin';
    const parts = total ? [`${number(done)} of ${counted(total, 'batch', 'batches')}`, `${percent} %`] : [];
    if (left !== null) parts.push(`about ${span(left)} left`);
    if (failed) parts.push(`${number(failed)} given up, whose turns stay word for word`);
    return parts.join(' · ');
}

/** Seconds that are left, `passed` milliseconds after somebody said so. @param {number|null} eta @param {number} passed */
export const left = (eta, passed) => (eta === null ? null : Math.max(1, eta - passed / 1000));

/** When something is tried again. @param {string|null} time RFC 3339 @param {number} now */
export function again(time, now) {
    if (!time) return null;
    const seconds = (Date.parse(time) - now) / 1000;
    return seconds > 0.5 ? `Tries again in ${span(seconds)}.` : 'Tries again now.';
}

/** What failed last, and what to do. @param {import('../../turnfold.js').Failure} failure */
export function trouble({ code, connection, status }) {
    if (status === 401 || status === 403) return { title: `“${connection}” was refused by its server`, todo: 'Look at its key.' };
    if (status === 404) return { title: `“${connection}” was not found`, todo: 'Look at its address and its model.' };
    if (status === 429) return { title: `The server of “${connection}” asks to wait`, todo: 'It is busy, or its quota is used up.' };
    if (code === 'provider_unavailable') return { title: `“${connection}” cannot be reached`, todo: 'Is its server running?' };
    return { title: 'The last summary failed', todo: `Test “${connection}”, or choose another model.` };
}

/** The state of a connection where it deserves a word, else null.
 *  @param {Status['connection']} connection @param {number} now */
export function breaker({ name, provider, state, retry_at }, now) {
    if (provider === 'missing') return `The connection “${name}” of this chat does not exist.`;
    if (state !== 'cooling_down') return null;
    return `“${name}” failed several times, and is left alone for a while. ${again(retry_at, now) ?? ''}`.trim();
}

/** Who is waited for. @param {{connection: string, calls: number, leased: number}} waiting */
export const waitsFor = ({ connection, calls, leased }) => (leased
    ? `“${connection}” is answering ${leased === calls ? '' : `${number(leased)} of `}${counted(calls, 'prompt')}.`
    : `Waiting for “${connection}”: ${counted(calls, 'prompt')} to answer with its own model. Keep its page open.`);

/** Turns until the next fold of layered memory; 0 or less: it is due. @param {Status} status @param {any} layered settings */
export function untilFold({ backlog, counts, layers }, layered) {
    const start = layered.window === 'compat' ? 1 : layered.flush_turns;
    if (backlog.turns) return start - backlog.turns;
    const folded = layers.reduce((sum, { turns }) => sum + turns, 0);
    return layered.verbatim_turns + start - Math.max(0, counts.turns - folded - counts.skipped);
}

/** The one line of a chat on which nothing is amiss. @param {Status} status @param {any} settings effective ones */
export function calm(status, settings) {
    if (status.strategy === 'none') return 'This chat is stored as it is: nothing of it folds.';
    if (!status.enabled) return 'Memory is switched off: every message is sent, and nothing folds.';
    if (status.backlog.choice_needed) return 'Nothing folds until you have chosen.';
    if (status.paused) return `Paused: nothing folds by itself.${waiting(status, ' wait.')}`;
    if (!status.counts.turns) return 'There are no turns yet. The first ones stay word for word.';
    return status.strategy === 'layered' ? calmLayers(status, settings.layered) : calmSummary(status);
}

/** @param {Status} status @param {any} layered */
function calmLayers(status, layered) {
    const until = untilFold(status, layered);
    if (until <= 0) return `${counted(status.backlog.turns, 'turn')} ${status.backlog.turns === 1 ? 'waits' : 'wait'} to be`
        + ' folded. It goes on with the next message.';
    const next = `${number(until)} more ${until === 1 ? 'turn' : 'turns'} until the next fold.`;
    return status.summarized_through ? `Everything is folded; ${next}` : `Nothing needs folding yet; ${next}`;
}

/** @param {Status} status */
function calmSummary(status) {
    const when = status.strategy === 'rolling' ? 'after a reply, once enough of it is there' : 'before an answer, once it is due';
    return status.backlog.turns
        ? `${counted(status.backlog.turns, 'turn')} may be folded; that happens ${when}.`
        : 'The summary is up to date; what was said since is sent word for word.';
}

/** @param {Status} status @param {string} end */
const waiting = ({ backlog }, end) => (backlog.turns ? ` ${counted(backlog.turns, 'turn')}${end}` : '');

/** Why nothing folds at the moment, a sentence each. @param {Status} status @param {any} settings effective ones
 *  @param {any} skipped of a projection @returns {string[]} */
export function whyNot(status, settings, skipped = null) {
    const also = status.counts.skipped && status.strategy === 'layered'
        ? [`${counted(status.counts.skipped, 'turn')} of it you skipped: they never fold unasked.`] : [];
    return [...barred(status) ?? (status.strategy === 'layered' ? counting(status, settings.layered) : looking(skipped)), ...also];
}

/** @param {Status} status @returns {string[]|null} */
function barred(status) {
    const { connection, last_error: error } = status;
    if (status.strategy === 'none') return ['This chat keeps no memory. Another strategy can be chosen in its settings.'];
    if (!status.enabled) return ['Memory is switched off in the settings, so every message is sent as it is.'];
    if (status.backlog.choice_needed) return ['An old chat folds only once you have said what to do with its backlog.'];
    if (connection.provider === 'missing') return [`The connection “${connection.name}” that should fold it does not exist.`];
    if (status.paused) return ['It is paused. Resume lets it fold by itself again; Summarize now folds once, pause or not.'];
    if (error?.retry_at) return ['The last try failed, and it waits before the next one. What it would have folded stays as it is.'];
    return null;
}

/** @param {Status} status @param {any} layered @returns {string[]} */
function counting(status, layered) {
    const until = untilFold(status, layered);
    const stays = `The newest ${counted(layered.verbatim_turns, 'turn')} always stay word for word.`;
    const start = layered.window === 'compat' ? 1 : layered.flush_turns;
    if (until > 0) return [stays, `A fold begins when ${counted(start, 'turn')} more lie outside: ${number(until)} to go.`];
    return [stays, 'A fold is due. It begins with the next message or reply, or with Summarize now.'];
}

/** @param {any} skipped @returns {string[]} */
const looking = (skipped) => (skipped
    ? [reasonOf(skipped.reason), ...(skipped.pending_turns ? [`${counted(skipped.pending_turns, 'turn')} outside the window`
        + `${skipped.pending_tokens ? ` with ${number(skipped.pending_tokens)} tokens` : ''} would be next.`] : [])]
    : ['Nothing holds it up: it folds as soon as enough waits.']);
