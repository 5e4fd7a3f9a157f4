/** The reader: the original messages of a chat, and searching among them. */
import { html, useState } from '../vendor/htm-preact.js';
import { FocusInList } from '../focus.js';
import { counted, number, places } from '../format.js';
import { Button, Note, Section, useId } from '../parts.js';
import { amend, go, href } from '../router.js';
import { Deleted } from './messages-deleted.js';
import { MessageList } from './messages-list.js';
import { STATES, indexOf } from './messages-places.js';
import { Hits, SearchBox } from './search.js';

const ABOUT = 'As they were said. Visible ones are sent word for word; a ghosted one is told by a snippet, and stays.';

/** @param {import('./page.js').ChatProps} props */
export function MessagesPage(props) {
    const { id, status, route: { query: words }, reload } = props;
    const { q = '', at, state } = words;
    if (q && !at) return html`<${SearchBox} id=${id} query=${q} /><${Hits} key=${q} id=${id} query=${q} />`;
    const all = !state || state === 'all';
    return html`
        <${SearchBox} id=${id} query=${q} />
        <${Section} title="Messages" about=${ABOUT}
            actions=${q && html`<a href=${href(['chats', id, 'messages'], { q })}>Back to what was found</a>`}>
            <div class="reader-tools">
                <${States} id=${id} state=${state ?? 'all'} counts=${status.counts} />
                ${all && html`<${Jump} id=${id} words=${words} newest=${status.counts.messages - 1} />`}
            </div>
            <${ByHand} id=${id} words=${words} />
            ${state === 'deleted' ? html`<${FocusInList}>
                <${Deleted} id=${id} chat=${props.chat} onDone=${reload} /></${FocusInList}>`
                : html`<${MessageList} ...${props} words=${words} />`}
        </${Section}>`;
}

/** @param {{id: string, state: string, counts: any}} props */
const States = ({ id, state, counts }) => html`<nav class="states" aria-label="Which messages"><ul>
    ${STATES.map(([name, label]) => {
        const count = name === 'all' ? counts.messages : counts[name];
        const to = href(['chats', id, 'messages'], { state: name === 'all' ? null : name });
        return html`<li key=${name}><a href=${to} aria-current=${name === state ? 'page' : undefined}>
            ${label}${count !== undefined && ` ${number(count)}`}</a></li>`;
    })}
</ul></nav>`;

/** @param {{id: string, words: Record<string, string>, newest: number}} props */
function Jump({ id, words: { first, last }, newest }) {
    const [text, setText] = useState('');
    const field = useId();
    const onSubmit = (/** @type {any} */ event) => {
        event.preventDefault();
        if (indexOf(text) !== null) go(['chats', id, 'messages'], { at: text, first, last });
    };
    return html`<form class="jump" onSubmit=${onSubmit}>
        <label for=${field}>Go to #</label>
        <input id=${field} type="number" min="0" max=${Math.max(0, newest)} inputmode="numeric" required value=${text}
            onInput=${(/** @type {any} */ event) => setText(event.target.value)} />
        <${Button} type="submit">Go</${Button}>
    </form>`;
}

/** What was chosen for a snippet by hand, over whichever pages.
 *  @param {{id: string, words: Record<string, string>}} props */
function ByHand({ id, words }) {
    const [first, last] = [indexOf(words.first), indexOf(words.last)];
    if (first === null) return null;
    const forget = () => {
        amend({ first: null, last: null });
        document.getElementById('main')?.focus({ preventScroll: true }); // the button goes
    };
    const clear = html`<${Button} kind="quiet" onClick=${forget}>Forget it</${Button}>`;
    if (last === null || last < first) {
        return html`<div class="by-hand" role="status"><${Note}>
            <p>A snippet by hand begins at #${number(first)}. Choose “End the snippet here” at the last message of a
                turn.</p>${clear}</${Note}></div>`;
    }
    return html`<div class="by-hand" role="status"><${Note}>
        <p>A snippet over ${places(first, last)}, ${counted(last - first + 1, 'message')}.</p>
        <div class="actions">
            <a class="button primary" href=${href(['chats', id, 'memory'], { first, last })}>Write it</a>${clear}
        </div></${Note}></div>`;
}
