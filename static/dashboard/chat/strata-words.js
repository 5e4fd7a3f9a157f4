/** What is said of the picture: names of cells and bands, what marks mean, what the whole is, when the next fold comes. */
import { counted, number, places, short } from '../format.js';

/** @typedef {import('./strata-layout.js').Cell} Cell @typedef {import('./strata-layout.js').Band} Band
 *  @typedef {import('./strata-layout.js').Strata} Strata */

/** What a mark says in one word, and what it means. @type {Record<string, {word: string, about: string}>} */
export const MARKS = {
    stale: { word: 'stale', about: 'A message under it has changed since it was written. It is made anew by itself, unless a person wrote it.' },
    degraded: { word: 'degraded', about: 'It was cut short, made from a clipped passage, or not by the model that was meant to.' },
    edited: { word: 'edited', about: 'A person has changed its text, which is never replaced unasked.' },
    manual: { word: 'by hand', about: 'A person wrote it, and it is never replaced unasked.' },
    pinned: { word: 'pinned', about: 'Pinned messages are always sent word for word, and never fold.' },
    skipped: { word: 'skipped', about: 'You chose to leave these turns as they are: they do not fold unasked.' },
    folding: { word: 'at work', about: 'It is being written now, or comes next.' },
};

/** What the kinds of cells that are no snippets are called. @type {Record<string, {word: string, about: string}>} */
export const KINDS = {
    window: { word: 'Window', about: 'The newest turns, which are always sent word for word.' },
    waiting: { word: 'Waits to fold', about: 'Turns over the window, sent word for word until they fold.' },
    visible: { word: 'Word for word', about: 'Sent as they are.' },
    hidden: { word: 'Hidden', about: 'Not sent and never folded.' },
    omitted: { word: 'Omitted', about: 'Never part of the story: not sent, not folded.' },
    mixed: { word: 'Of several kinds', about: 'Too many short stretches to show one by one.' },
};

/** '9 turns (10–18)', 'turn 4', or how many. @param {Cell} cell */
export function turnsOf({ from, to, turns }) {
    if (!turns) return '';
    if (from === null || to === null || to < from) return counted(turns, 'turn');
    return from === to ? `turn ${number(from)}` : `${number(turns)} turns (${number(from)}–${number(to)})`;
}

/** The title of a cell: 'Layer 1, snippet 3 of 12'. @param {Cell} cell @param {Band} band @param {boolean} single one
 *  summary stands for all */
export function titleOf(cell, band, single = false) {
    if (cell.kind !== 'snippet') return cell.marks.includes('skipped') ? 'Skipped' : KINDS[cell.kind]?.word ?? cell.kind;
    return single ? 'Summary' : `Layer ${band.layer}, snippet ${number(cell.number)} of ${number(cell.of)}`;
}

/** Its marks in words. @param {Cell} cell @returns {string[]} */
export function marksOf(cell) {
    const marks = cell.marks.filter((mark) => mark !== 'pinned').map((mark) => MARKS[mark].word);
    return cell.pins ? [...marks, counted(cell.pins, 'pinned message')] : marks;
}

/** What a cell measures: turns, messages, tokens. @param {Cell} cell @returns {string[]} */
export function measures(cell) {
    const tokens = cell.tokens === null ? '' : `${number(cell.tokens)} token${cell.tokens === 1 ? '' : 's'}`;
    return [turnsOf(cell), `messages ${places(cell.first_index, cell.last_index)}`, tokens].filter(Boolean);
}

/** The whole name of a cell, for those who cannot see it. @param {Cell} cell @param {Band} band @param {boolean} single */
export const nameOf = (cell, band, single = false) =>
    [titleOf(cell, band, single), ...measures(cell), ...marksOf(cell).filter((mark) => mark !== titleOf(cell, band).toLowerCase())].join(', ');

/** A band's name and what is beside it. @param {Band} band @param {boolean} single */
export function headOf(band, single = false) {
    const turns = counted(band.turns, 'turn');
    if (band.kind === 'surface') return { title: 'Word for word', about: turns };
    if (band.kind === 'between') return { title: 'Not folded', about: `${counted(band.messages, 'message')} among older turns` };
    const title = single ? 'Summary' : `Layer ${band.layer}`;
    const count = band.cells.length + band.older;
    return { title, about: single ? turns : `${counted(count, 'snippet')}, ${turns}` };
}

/** The picture in a sentence or two. @param {Strata} strata */
export function summaryOf(strata) {
    const snippets = strata.layers.flatMap((layer) => layer.snippets);
    const told = snippets.reduce((sum, one) => sum + one.turns, 0);
    const all = `${counted(strata.messages, 'message')} in ${counted(strata.turns, 'turn')}, ${short(strata.raw_tokens)} tokens.`;
    if (!snippets.length) return all;
    const tokens = snippets.reduce((sum, one) => sum + one.tokens, 0);
    const single = isSingle(strata);
    const what = single ? 'One summary tells' : `${counted(snippets.length, 'snippet')} in ${counted(strata.layers.length, 'layer')} tell`;
    return `${all} ${what} ${counted(told, 'turn')} in ${short(tokens)} tokens; the rest is word for word.`;
}

/** Whether one summary is written anew with every fold. @param {{strategy: string}} strata */
export const isSingle = ({ strategy }) => strategy === 'rolling' || strategy === 'summary_buffer';

/** How many summaries there were before the one. @param {{items: any[], next_cursor: string|null}|null} page */
export const before = (page) => (!page || !page.items.length ? ''
    : `It went on from ${page.next_cursor ? 'more than ' : ''}${counted(page.items.length, 'summary', 'summaries')} before it.`);

/**
 * When the next fold comes, for people; null where there is nothing to say.
 * @param {import('../../turnfold.js').Status} status @param {any} settings effective ones @param {Strata} strata
 * @returns {string|null}
 */
export function nextFold(status, settings, strata) {
    const { strategy, backlog } = status;
    if (strategy === 'none') return 'This chat has no memory: every message is sent as it is. A strategy can be chosen in its settings.';
    if (!status.enabled) return 'The memory is switched off: every message is sent as it is, and nothing folds.';
    if (strata.folding.length || status.job) return 'A fold is at work.';
    if (backlog.choice_needed) return `${counted(backlog.turns, 'older turn')} wait for your choice above.`;
    if (status.paused) return 'Folding is paused: nothing folds by itself until it is resumed.';
    if (strategy === 'rolling') return ofRolling(settings.rolling, status, strata);
    return strategy === 'summary_buffer' ? ofBuffer(settings.summary_buffer, strata) : ofLayered(settings.layered, status, strata);
}

/** @param {any} settings @param {import('../../turnfold.js').Status} status @param {Strata} strata */
function ofLayered({ verbatim_turns: kept, flush_turns: flush, turns_per_batch: batch, window }, status, strata) {
    const least = window === 'compat' ? 1 : flush;
    const more = kept - strata.window.turns + least - status.backlog.turns;
    const which = strata.layers.length ? 'The next fold comes' : 'Nothing is folded yet: the first fold comes';
    if (more <= 0) return `${which} with the next reply.`;
    const what = `the oldest ${number(batch)} of them become one snippet, the newest ${number(kept)} stay word for word`;
    return `${which} when ${counted(more, 'more turn')} ${more === 1 ? 'is' : 'are'} there: ${what}.`;
}

/** @param {any} settings @param {import('../../turnfold.js').Status} status @param {Strata} strata */
function ofRolling({ trigger_turns: turns, trigger_tokens: tokens, keep_recent_turns: kept }, status, strata) {
    const more = kept - strata.window.turns + turns - status.backlog.turns;
    const ways = [
        turns && (more > 0 ? `when ${counted(more, 'more turn')} ${more === 1 ? 'is' : 'are'} there` : 'with the next reply'),
        tokens && `when ${number(tokens)} tokens wait before the newest ${counted(kept, 'turn')}`,
    ].filter(Boolean);
    return ways.length ? `The summary is written anew ${ways.join(', or ')}.` : 'Nothing folds unasked: both triggers are off.';
}

/** @param {any} settings @param {Strata} strata */
function ofBuffer({ max_messages_before_summary: most, recent_messages_to_keep: kept }, strata) {
    const open = strata.stretches.filter(({ state }) => state === 'visible').reduce((sum, one) => sum + one.messages, 0);
    return `Before an answer, once ${counted(most, 'message')} are not in the summary (${number(open)} by now), all but the`
        + ` newest ${number(kept)} are folded into it.`;
}
