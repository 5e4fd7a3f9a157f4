/** Why nothing folds, and when the next fold comes, in words. */
import { counted, number } from '../format.js';

/** @typedef {import('../../turnfold.js').Status} Status */

/** By the `reason` of an answer, or of what a projection tells as `skipped`. */
const REASONS = /** @type {Record<string, string>} */ ({
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

/** Turns outside the window that start a fold. @param {any} layered settings */
const starts = (layered) => (layered.window === 'compat' ? 1 : layered.flush_turns);

/** Turns until the next fold of layered memory; 0 or less: it is due. @param {Status} status
 *  @param {any} layered settings */
export function untilFold({ backlog, counts, layers }, layered) {
    if (backlog.turns) return starts(layered) - backlog.turns;
    const folded = layers.reduce((sum, { turns }) => sum + turns, 0);
    return layered.verbatim_turns + starts(layered) - Math.max(0, counts.turns - folded - counts.skipped);
}

/** Whether something is to be folded by itself. @param {Status} status @param {any} settings effective ones */
export function isDue(status, settings) {
    const { strategy, enabled, paused, job, backlog } = status;
    if (job) return true;
    if (strategy === 'none' || !enabled || paused || backlog.choice_needed) return false;
    return strategy === 'layered' ? untilFold(status, settings.layered) <= 0 : backlog.turns > 0;
}

/** The one line of a chat that nothing works on. @param {Status} status @param {any} settings effective ones */
export function calm(status, settings) {
    const { turns, choice_needed: asks } = status.backlog;
    if (status.strategy === 'none') return 'This chat is stored as it is: nothing of it folds.';
    if (!status.enabled) return 'Memory is switched off: every message is sent, and nothing folds.';
    if (asks) return 'Nothing folds until you have chosen.';
    if (status.paused) return `Paused: nothing folds by itself.${turns ? ` ${waits(turns)}.` : ''}`;
    if (!status.counts.turns) return 'There are no turns yet. The first ones stay word for word.';
    return status.strategy === 'layered' ? calmLayers(status, settings.layered) : calmSummary(status);
}

/** '3 turns wait'. @param {number} turns */
export const waits = (turns) => `${counted(turns, 'turn')} ${turns === 1 ? 'waits' : 'wait'}`;

/** @param {Status} status @param {any} layered */
function calmLayers(status, layered) {
    const until = untilFold(status, layered);
    const goesOn = status.last_error?.retry_at ? 'It is tried again by itself.' : 'It goes on with the next message.';
    if (until <= 0) return `${waits(status.backlog.turns)} to be folded. ${goesOn}`;
    const next = `${number(until)} more ${until === 1 ? 'turn' : 'turns'} until the next fold.`;
    return `${status.summarized_through ? 'Everything is folded' : 'Nothing needs folding yet'}; ${next}`;
}

/** @param {Status} status */
function calmSummary({ strategy, backlog }) {
    if (!backlog.turns) return 'The summary is up to date; what was said since is sent word for word.';
    const when = strategy === 'rolling' ? 'after a reply, once there is enough' : 'before an answer, once it is due';
    return `${counted(backlog.turns, 'turn')} can be folded. That happens ${when}.`;
}

/** Why nothing folds at the moment, a sentence each. @param {Status} status @param {any} settings effective ones
 *  @param {any} skipped of a projection @returns {string[]} */
export function whyNot(status, settings, skipped = null) {
    const layered = status.strategy === 'layered';
    const { skipped: left } = status.counts;
    const reasons = barred(status) ?? (layered ? counting(status, settings.layered) : looking(skipped));
    return layered && left ? [...reasons, `${counted(left, 'turn')} you skipped: they never fold unasked.`] : reasons;
}

/** @param {Status} status @returns {string[]|null} */
function barred({ strategy, enabled, backlog, connection, paused, job, last_error: error }) {
    if (job) return ['It folds at this moment.'];
    if (strategy === 'none') return ['This chat keeps no memory. Its settings offer other strategies.'];
    if (!enabled) return ['Memory is switched off in the settings, so every message is sent as it is.'];
    if (backlog.choice_needed) return ['An old chat folds only once you have said what to do with its backlog.'];
    if (connection.provider === 'missing') return [`The connection “${connection.name}” does not exist.`];
    if (paused) return ['It is paused. Resume lets it fold by itself again; Summarize now folds once, pause or not.'];
    if (error?.retry_at) return ['The last try failed, and it waits a while before the next one.'];
    return null;
}

/** @param {Status} status @param {any} layered @returns {string[]} */
function counting(status, layered) {
    const until = untilFold(status, layered);
    const stays = `The newest ${counted(layered.verbatim_turns, 'turn')} always stay word for word.`;
    if (until <= 0) return [stays, 'A fold is due. It begins with the next message or reply, or with Summarize now.'];
    const [start, lie] = [counted(starts(layered), 'turn'), starts(layered) === 1 ? 'lies' : 'lie'];
    return [stays, `A fold begins when ${start} ${lie} outside: ${number(until)} to go.`];
}

/** @param {any} skipped @returns {string[]} */
function looking(skipped) {
    if (!skipped) return ['Nothing holds it up: it folds as soon as enough waits.'];
    const { reason, pending_turns: turns, pending_tokens: tokens } = skipped;
    const pending = `${counted(turns, 'turn')}${tokens ? ` with ${number(tokens)} tokens` : ''} would be next.`;
    return turns ? [reasonOf(reason), pending] : [reasonOf(reason)];
}
