/** What is said of a snippet: how it came to be, what may be done with it, what its deletion makes visible. */
import { counted, number, percent, places } from '../format.js';

/** @typedef {{id: string, strategy: string, layer: number, position: number, text: string, tokens: number,
 *   source_tokens: number, kind: string, state: string, parent_id: string|null, children: string[],
 *   covers: {first_index: number, last_index: number, turns: number, messages: number}|null, stale: boolean,
 *   degraded: boolean, connection: string|null, model: string|null, created_at: string, edited_at: string|null,
 *   usage: {calls: number, prompt_tokens: number, completion_tokens: number}}} Snippet as the API shows it */

/** @type {Record<string, string>} */
const KINDS = {
    fold: 'Folded from turns of the chat.',
    seed: 'Folded from turns of the chat, then moved down as it was: the first of its layer.',
    merge: 'Merged from snippets of the layer above.',
    manual: 'Written by hand.',
    import: 'Came in with an imported memory.',
    rolling: 'The summary so far, written anew with the turns that were folded.',
    buffer: 'The summary so far, extended by the messages that were folded.',
};

/** @type {Record<string, string>} */
const STATES = {
    absorbed: 'It is a part of a merged snippet, which is sent in its place.',
    superseded: 'A newer summary went on from it. It can be read, but not changed.',
    dormant: 'It belongs to a strategy that the chat does not use now, and sleeps: it is not sent.',
};

/** What was done when a text was replaced. @type {Record<string, string>} */
export const REPLACED = {
    edit: 'Replaced by an edit',
    regenerate: 'Written anew',
    heal: 'Written anew, since what is under it had changed',
    undo: 'Taken back',
};

/** @param {Snippet} one */
export const titleOf = ({ strategy, layer }) => (isOne(strategy) ? 'Summary' : `Layer ${layer} snippet`);

/** @param {Snippet} one */
export const originOf = ({ kind }) => KINDS[kind] ?? kind;

/** @param {Snippet} one @returns {string} empty for a live one */
export const stateOf = ({ state }) => STATES[state] ?? '';

/** Which messages are under it. @param {Snippet} one */
export function coverOf({ covers }) {
    if (!covers) return 'Nothing is left under it.';
    const { first_index: first, last_index: last, turns, messages } = covers;
    return `${counted(turns, 'turn')}, ${counted(messages, 'message')}: ${places(first, last)}`;
}

/** How large it is, beside what it was made from. @param {Snippet} one */
export function sizeOf({ tokens, source_tokens: source, strategy, children }) {
    const parts = children.length && !isOne(strategy) ? ' of its parts' : '';
    const from = source ? `, made from ${number(source)}${parts} (${percent(tokens, source)})` : '';
    return counted(tokens, 'token') + from;
}

/** @param {string} strategy */
const isOne = (strategy) => strategy === 'rolling' || strategy === 'summary_buffer';

/** What it has cost; empty where no model was asked. @param {Snippet} one */
export const costOf = ({ usage }) => (usage.calls
    ? `${counted(usage.calls, 'call')}: ${number(usage.prompt_tokens)} tokens in, `
        + `${number(usage.completion_tokens)} out` : '');

/** What the API lets be done with it. @param {Snippet} one @param {string} strategy of the chat */
export function allowed(one, strategy) {
    const stands = one.state !== 'superseded';
    return { edit: stands, regenerate: stands && one.strategy === strategy, remove: one.state === 'live' };
}

/** What becomes of the chat without it. @param {Snippet} one */
export function afterDeletion({ covers, strategy, children, tokens }) {
    if (isOne(strategy) && children.length) {
        return 'The summary before it stands again, and what this one alone covered is visible, word for word.'
            + ' It folds anew with the next reply.';
    }
    if (!covers) return 'Nothing is left under it. You can undo this.';
    const { first_index: first, last_index: last, turns, messages } = covers;
    return `${counted(messages, 'message')} (${counted(turns, 'turn')}, ${places(first, last)}) will be visible again,`
        + ` word for word, in place of these ${counted(tokens, 'token')}. With the next reply they fold anew.`
        + ' You can undo this.';
}

/** What a taken back step was. @type {Record<string, string>} */
export const UNDONE = {
    edit: 'The edit is taken back.',
    delete: 'The deletion is taken back: the snippet is there again.',
    manual: 'The snippet by hand is taken back.',
    regenerate: 'The text from before is there again.',
};

/** How a job that makes a snippet anew ended. @param {import('../../turnfold.js').Job} job @returns {string} */
export function endOf({ state, error, reason }) {
    if (state === 'succeeded') return error?.detail ?? '';
    if (state === 'cancelled') return 'Stopped: the text is as it was.';
    return error?.detail ?? reason ?? 'It was not made anew: the text is as it was.';
}

/** Where a snippet by hand may stand: what is visible before the window, the newest first.
 *  @param {import('./strata-layout.js').Strata} strata @returns {{first_index: number, last_index: number}[]} */
export function openPlaces({ stretches, window, pinned }) {
    const edge = window.first_index ?? Infinity;
    const free = stretches.filter((one) => one.state === 'visible' && one.turns && one.first_index < edge
        && pinned.filter(({ index }) => index >= one.first_index && index <= one.last_index).length < one.messages);
    const before = (/** @type {number} */ last) => Math.min(last, edge - 1);
    return free.reverse().map((one) => ({ first_index: one.first_index, last_index: before(one.last_index) }));
}
