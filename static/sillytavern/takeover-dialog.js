/** What one is asked when a chat comes from Summaryception, and what one is told when its memory was taken over. */

import { beginning, button, count, element } from './dom.js';
import { dialog, toast } from './host.js';
import { PAUSE } from './original.js';

/**
 * @typedef {{snippets: number, banks: number, hidden: number, running: boolean,
 *   items: {id: string, text: string, note?: string}[]}} Offer `items`: settings, and who writes the summaries
 * @typedef {{snippets: number, warnings: {code: string, detail: string}[], ghosts: number, stranded: number,
 *   running: boolean}} Result
 * @typedef {{answer: 'taken'|'anew'|'left', chosen: Set<string>, scope: 'all'|'chat'}} Decided `scope`: of the settings
 */

// Of the server's warnings those by which nothing is lost: where a snippet without a range was put, and the like.
const NOTES = new Set([
    'range_inferred', 'range_clipped', 'range_reversed', 'range_overlaps', 'layer_changed', 'pointer_recomputed',
    'not_used', 'messages_missing',
]);
const MOST_SHOWN = 200; // characters of a prompt

/** @type {[Decided['answer'], string, string][]} */
const CHOICES = [
    ['taken', 'Take its memory over', 'Its snippets become Turnfold’s, and the messages under them ghosts: readable as'
        + ' before, with the snippets in the prompt. No model is asked.'],
    ['anew', 'Begin anew', 'The messages that it hid are shown again, and Turnfold makes a memory of its own of them.'],
    ['left', 'Leave this chat to Summaryception', 'Turnfold stays out of it: it folds nothing and adds nothing.'],
];

/**
 * @param {Offer} offer @param {AbortSignal} signal closes the dialog
 * @returns {Promise<Decided|null>} null where nothing was decided
 */
export async function drawOffer(offer, signal) {
    /** @type {Decided['answer']|null} */
    let answer = null;
    const boxes = offer.items.map(box);
    const off = offer.running ? [box(OFF)] : [];
    const scope = scopes();
    const choices = CHOICES.map(([choice, title, meaning]) => {
        const look = { className: 'turnfold-choice', 'data-choice': choice };
        const made = button('', () => { answer = choice; popup.complete(null); }, look);
        made.append(element('b', {}, title), element('span', {}, meaning));
        return made;
    });
    const popup = dialog(element('div', { className: 'turnfold-backlog turnfold-takeover' },
        element('h3', {}, 'A memory from Summaryception'),
        element('p', {}, `${found(offer)} Nothing is folded in this chat before you choose, and nothing of`
            + ' Summaryception’s is deleted, whatever you choose.'),
        ...boxes.length ? [element('h4', {}, 'Its settings, if its memory is taken over'), ...rows(boxes)] : [],
        offer.items.some(isSetting) ? scope.root : null,
        ...rows(off), ...choices), { okButton: 'Not now', signal });
    await popup.show();
    const chosen = new Set([...boxes, ...off].filter(({ input }) => input.checked).map(({ id }) => id));
    return answer && { answer, chosen, scope: scope.all.checked ? 'all' : 'chat' };
}

/** @param {{row: Node}[]} boxes */
const rows = (boxes) => boxes.map(({ row }) => row);

/** A pause is the chat's own in any case. @param {{id: string}} item */
const isSetting = ({ id }) => id !== PAUSE;

/** For whom the settings hold. Summaryception's held for all chats, so that is what its user expects. */
function scopes() {
    const [all, chat] = [true, false].map((checked) => element('input', { type: 'radio', name: 'tf-takes', checked }));
    const row = (/** @type {Node} */ input, /** @type {string} */ text) => element('label', {}, input, text);
    const legend = element('legend', {}, 'These settings then hold for');
    const root = element('fieldset', { className: 'turnfold-scope' }, legend,
        row(all, 'all chats, as they do in Summaryception'), row(chat, 'this chat alone'));
    return { all, root };
}

const OFF = {
    id: 'off',
    text: 'Switch Summaryception off',
    note: 'It still runs: it would go on hiding messages and adding its own memory. Its settings and memory stay.',
};

/** @param {Offer} offer */
function found({ snippets, banks, hidden }) {
    const several = banks > 1 ? ` in ${banks} banks, of which the active one is taken` : '';
    const under = hidden ? `, and hidden ${count(hidden, 'message')} of it` : '';
    return `Summaryception has made ${count(snippets, 'snippet')} of this chat${several}${under}.`;
}

/** @param {{id: string, text: string, note?: string}} item */
function box({ id, text, note }) {
    const input = element('input', { type: 'checkbox', checked: true, 'data-item': id });
    const row = element('label', { className: 'turnfold-item checkbox_label', title: text },
        input, element('span', {}, beginning(text, MOST_SHOWN), note ? element('small', {}, ` ${note}`) : null));
    return { id, input, row };
}

/**
 * What came of it. @param {Result} result @param {AbortSignal} signal
 * @returns {Promise<boolean>} whether to show the messages that were hidden and are under no snippet
 */
export async function drawResult(result, signal) {
    const notes = result.warnings.filter(({ code }) => NOTES.has(code));
    const losses = result.warnings.filter(({ code }) => !NOTES.has(code));
    if (result.snippets && !losses.length && !result.stranded && !result.running) {
        toast('success', sum(result));
        return false;
    }
    let show = false;
    const shows = button(`Show ${count(result.stranded, 'hidden message')} again`,
        () => { show = true; popup.complete(null); }, { className: 'turnfold-choice', 'data-choice': 'show' });
    const popup = dialog(element('div', { className: 'turnfold-backlog turnfold-takeover' },
        element('h3', {}, 'From Summaryception'),
        element('p', {}, sum(result)),
        ...losses.map(told),
        notes.length ? folded(notes) : null,
        result.running ? element('p', {}, STILL_RUNNING) : null,
        ...(result.stranded ? [element('p', {}, STRANDED), shows] : [])), { okButton: 'Close', signal });
    await popup.show();
    return show;
}

/** @param {{detail: string}} warning */
const told = ({ detail }) => element('p', { className: 'turnfold-text' }, detail);

/** @param {{detail: string}[]} notes */
const folded = (notes) => (
    element('details', {}, element('summary', {}, count(notes.length, 'note')), ...notes.map(told))
);

const STRANDED = 'Some messages that Summaryception hid are under no snippet here: the model gets neither them nor a'
    + ' summary of them. Shown again, they are sent, and folded in their turn. “Repair” finds them later too.';
const STILL_RUNNING = 'Summaryception still runs, and will hide messages again. To stop it: Extensions, Manage'
    + ' extensions, switch it off there, and reload the page.';

/** @param {Result} result */
const sum = ({ snippets, ghosts }) => (snippets
    ? `${count(snippets, 'snippet')} taken over. ${count(ghosts, 'message')} that Summaryception had hidden are now`
        + ' ghosts of Turnfold’s.'
    : 'Nothing of its memory could be taken. Nothing folds until you decide: open the chat again, or use the panel.');
