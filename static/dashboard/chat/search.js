/** Searching a chat: the box, and what was found. */
import { html, useEffect, useState } from '../vendor/htm-preact.js';
import { FocusInList } from '../focus.js';
import { counted, number } from '../format.js';
import { Button, Failure, Loading, Section, useId } from '../parts.js';
import { go, href } from '../router.js';
import { chat, useLoad } from '../server.js';
import { Marked } from './messages-text.js';
import { termsOf } from './search-marks.js';

const MORE = [50, 200, 1000]; // hits, more on asking; the last is the most that the server gives

/** @param {{id: string, query: string}} props */
export function SearchBox({ id, query }) {
    const [text, setText] = useState(query);
    const field = useId();
    useEffect(() => setText(query), [query]);
    const onSubmit = (/** @type {any} */ event) => {
        event.preventDefault();
        go(['chats', id, 'messages'], { q: text.trim() });
    };
    return html`<form class="search" role="search" onSubmit=${onSubmit}>
        <label for=${field} class="unseen">Search this chat</label>
        <input id=${field} type="search" dir="auto" value=${text} maxlength="500"
            placeholder="Search messages and snippets"
            onInput=${(/** @type {any} */ event) => setText(event.target.value)} />
        <${Button} type="submit">Search</${Button}>
    </form>`;
}

/** @param {{id: string, query: string}} props */
export function Hits({ id, query }) {
    const [limit, setLimit] = useState(MORE[0]);
    useEffect(() => setLimit(MORE[0]), [query]);
    const load = (/** @type {AbortSignal} */ signal) =>
        chat(id).request('GET', '/search', { query: { q: query, limit }, signal });
    const { data, error, reload } = useLoad(load, [id, query, limit], null, { keep: limit > MORE[0] });
    const next = data?.items.length === limit && MORE.find((more) => more > limit);
    const terms = termsOf(query);
    return html`<${Section} title="Found" actions=${html`<a href=${href(['chats', id, 'messages'])}>All messages</a>`}
        about="What holds every word comes first. Words in double quotes must stand side by side.">
        <${Failure} error=${error} retry=${reload} />
        ${!data && !error && html`<${Loading} what="Searching" />`}
        ${data && html`<p class="quiet-text" role="status">${howMany(data.items.length, Boolean(next))}</p>`}
        <${FocusInList}><ol class="hits">${data?.items.map((/** @type {any} */ hit) => html`
            <${Hit} key=${`${hit.kind} ${hit.message_id ?? hit.snippet_id}`} id=${id} hit=${hit} query=${query}
                terms=${terms} />`)}</ol>
        ${next && html`<${Button} onClick=${() => setLimit(next)}>Show more</${Button}>`}
        </${FocusInList}>
    </${Section}>`;
}

/** @param {number} count @param {boolean} more */
function howMany(count, more) {
    if (!count) return 'Nothing in this chat holds these words.';
    return more ? `The first ${counted(count, 'place')}` : counted(count, 'place');
}

/** @param {{id: string, hit: any, query: string, terms: RegExp[]}} props */
const Hit = ({ id, hit: { kind, index, snippet_id: snippet, excerpt }, query, terms }) => html`
    <li>
        ${kind === 'message' ? html`
            <a href=${href(['chats', id, 'messages'], { at: index, q: query })}>Message #${number(index)}</a>`
            : html`<a href=${href(['chats', id, 'memory'], { snippet })}>
                Snippet${index === null ? '' : ` from #${number(index)}`}</a>`}
        <p class="said"><${Marked} text=${excerpt} terms=${terms} /></p>
    </li>`;
