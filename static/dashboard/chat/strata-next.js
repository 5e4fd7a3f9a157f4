/** When the next fold comes, and what it will do, for people. */
import { counted, number } from '../format.js';

const OFF = 'Nothing folds unasked: both triggers are off.';
const NONE = 'This chat has no memory: every message is sent as it is. Its settings offer others.';

/** @typedef {import('./strata-layout.js').Strata} Strata @typedef {import('../../turnfold.js').Status} Status */

/**
 * When the next fold comes, for people; null where there is nothing to say.
 * @param {Status} status @param {any} settings effective ones @param {Strata} strata
 * @returns {string|null}
 */
export function nextFold(status, settings, strata) {
    const { strategy, backlog } = status;
    if (strategy === 'none') return NONE;
    if (!status.enabled) return 'The memory is switched off: every message is sent as it is, and nothing folds.';
    if (strata.folding.length || status.job) return 'A fold is at work.';
    if (backlog.choice_needed) return `${counted(backlog.turns, 'older turn')} wait for your choice above.`;
    if (status.paused) return 'Folding is paused: nothing folds by itself until it is resumed.';
    if (strategy === 'rolling') return ofRolling(settings.rolling, status, strata);
    if (strategy === 'summary_buffer') return ofBuffer(settings.summary_buffer, strata);
    return ofLayered(settings.layered, status, strata);
}

/** @param {any} settings @param {Status} status @param {Strata} strata */
function ofLayered({ verbatim_turns: kept, flush_turns: flush, turns_per_batch: batch, window }, status, strata) {
    const least = window === 'compat' ? 1 : flush;
    const more = kept - strata.window.turns + least - status.backlog.turns;
    const which = strata.layers.length ? 'The next fold comes' : 'Nothing is folded yet: the first fold comes';
    if (more <= 0) return `${which} with the next reply.`;
    const what = `the oldest ${number(batch)} become one snippet, the newest ${number(kept)} stay word for word`;
    return `${which} when ${there(more)}: ${what}.`;
}

/** @param {any} settings @param {Status} status @param {Strata} strata */
function ofRolling({ trigger_turns: turns, trigger_tokens: tokens, keep_recent_turns: kept }, status, strata) {
    const more = kept - strata.window.turns + turns - status.backlog.turns;
    const ways = [
        turns && (more > 0 ? `when ${there(more)}` : 'with the next reply'),
        tokens && `when ${number(tokens)} tokens wait before the newest ${counted(kept, 'turn')}`,
    ].filter(Boolean);
    return ways.length ? `The summary is written anew ${ways.join(', or ')}.` : OFF;
}

/** @param {number} turns */
const there = (turns) => (turns === 1 ? '1 more turn is there' : `${number(turns)} more turns are there`);

/** @param {any} settings @param {Strata} strata */
function ofBuffer({ max_messages_before_summary: most, recent_messages_to_keep: kept }, strata) {
    const visible = strata.stretches.filter(({ state }) => state === 'visible');
    const open = visible.reduce((sum, one) => sum + one.messages, 0);
    return `Before an answer, once ${counted(most, 'message')} are not in the summary (${number(open)} by now), all but`
        + ` the newest ${number(kept)} are folded into it.`;
}
