/** What is said of the picture: names of cells and bands, what marks mean, what the whole is. */
import { counted, number, places, short } from '../format.js';

/** @typedef {import('./strata-layout.js').Cell} Cell @typedef {import('./strata-layout.js').Band} Band
 *  @typedef {import('./strata-layout.js').Strata} Strata */

/** What a mark says in one word, and what it means. @type {Record<string, {word: string, about: string}>} */
export const MARKS = {
    stale: {
        word: 'stale',
        about: 'What is under it has changed since. It is made anew by itself, unless a person wrote it.',
    },
    degraded: {
        word: 'degraded',
        about: 'It was cut short, made from a clipped passage, or not by the model that was meant to.',
    },
    edited: { word: 'edited', about: 'A person has changed its text, which is never replaced unasked.' },
    manual: { word: 'by hand', about: 'A person wrote it, and it is never replaced unasked.' },
    pinned: { word: 'pinned', about: 'Pinned messages lie among its turns: sent word for word, never folded.' },
    skipped: { word: 'skipped', about: 'Somebody chose to leave these turns as they are: they do not fold unasked.' },
    folding: { word: 'at work', about: 'It is being written now, or comes next.' },
};

/** What the kinds of cells that are no snippets are called. @type {Record<string, {word: string, about: string}>} */
export const KINDS = {
    window: { word: 'Window', about: 'The newest turns, which are always sent word for word.' },
    waiting: { word: 'Waits to fold', about: 'Turns over the window, sent word for word until they fold.' },
    pinned: {
        word: 'Pinned',
        about: 'Always sent word for word, never folded. The sign is also on the snippet among whose turns it lies.',
    },
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
    if (cell.marks.includes('skipped')) return 'Skipped';
    if (cell.kind !== 'snippet') return KINDS[cell.kind]?.word ?? cell.kind;
    return single ? 'Summary' : `Layer ${band.layer}, snippet ${number(cell.number)} of ${number(cell.of)}`;
}

/** Its marks in words. @param {Cell} cell @returns {string[]} */
export function marksOf(cell) {
    const marks = cell.marks.filter((mark) => mark !== 'skipped').map((mark) => MARKS[mark].word);
    return cell.pins && cell.kind !== 'pinned' ? [...marks, counted(cell.pins, 'pinned message')] : marks;
}

/** What a cell measures: turns, messages, tokens. @param {Cell} cell @returns {string[]} */
export function measures(cell) {
    const tokens = cell.tokens === null ? '' : counted(cell.tokens, 'token');
    return [turnsOf(cell), `messages ${places(cell.first_index, cell.last_index)}`, tokens].filter(Boolean);
}

/** The whole name of a cell, for those who cannot see it.
 *  @param {Cell} cell @param {Band} band @param {boolean} single */
export const nameOf = (cell, band, single = false) =>
    [titleOf(cell, band, single), ...measures(cell), ...marksOf(cell)].join(', ');

/** A band's name and what is beside it. @param {Band} band @param {boolean} single */
export function headOf(band, single = false) {
    const { title, lines } = linesOf(band, single);
    return { title, lines, about: lines.join(band.kind === 'between' ? ' ' : ', ') };
}

/** @param {Band} band @param {boolean} single @returns {{title: string, lines: string[]}} */
function linesOf(band, single) {
    const turns = counted(band.turns, 'turn');
    if (band.kind === 'surface') return { title: 'Word for word', lines: [turns] };
    if (band.kind === 'between') {
        return { title: 'Not folded', lines: [counted(band.messages, 'message'), 'among older turns'] };
    }
    const title = single ? 'Summary' : `Layer ${band.layer}`;
    const count = band.cells.length + band.older;
    return { title, lines: single ? [turns] : [counted(count, 'snippet'), turns] };
}

/** The picture in a sentence or two. @param {Strata} strata */
export function summaryOf(strata) {
    const snippets = strata.layers.flatMap((layer) => layer.snippets);
    const told = snippets.reduce((sum, one) => sum + one.turns, 0);
    const size = `${counted(strata.messages, 'message')} in ${counted(strata.turns, 'turn')}`;
    const all = `${size}, ${short(strata.raw_tokens)} tokens.`;
    if (!snippets.length) return all;
    const tokens = snippets.reduce((sum, one) => sum + one.tokens, 0);
    const count = `${counted(snippets.length, 'snippet')} in ${counted(strata.layers.length, 'layer')}`;
    const what = isSingle(strata) ? 'One summary tells' : `${count} tell${snippets.length === 1 ? 's' : ''}`;
    return `${all} ${what} ${counted(told, 'turn')} in ${short(tokens)} tokens.`;
}

/** Whether one summary is written anew with every fold. @param {{strategy: string}} strata */
export const isSingle = ({ strategy }) => strategy === 'rolling' || strategy === 'summary_buffer';

/** How many summaries there were before the one. @param {{items: any[], next_cursor: string|null}|null} page */
export const before = (page) => (!page || !page.items.length ? ''
    : `It went on from ${page.next_cursor ? 'more than ' : ''}${counted(page.items.length, 'summary', 'summaries')}.`);
