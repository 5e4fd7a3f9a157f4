/** The messages of a chat that were deleted and can be had again. */
import { html, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { counted, number } from '../format.js';
import { Button, Failure, Loading } from '../parts.js';
import { chat, useLoad } from '../server.js';
import { restore } from './messages-actions.js';
import { whoOf } from './messages-places.js';
import { Calls, LongText } from './messages-text.js';

const KINDS = ['history', 'history_set'];
const PAGE = 50;
const MOST = 1000; // that one call answers with

/** @param {{id: string, chat: any, onDone: () => void}} props */
export function Deleted({ id, chat: about, onDone }) {
    const [limit, setLimit] = useState(PAGE);
    const load = (/** @type {AbortSignal} */ signal) =>
        chat(id).request('GET', '/messages', { query: { state: 'deleted', limit }, signal });
    const { data, error, reload } = useLoad(load, [id, limit], { chat: id, kinds: KINDS }, { keep: true });
    const done = () => { reload(); onDone(); };
    if (!data && !error) return html`<${Loading} what="Reading what was deleted" />`;
    if (!data) return html`<${Failure} error=${error} retry=${reload} />`;
    return html`
        <${Failure} error=${error} retry=${reload} />
        <p class="hint">They are kept for 30 days. A restored one comes back to its old place, with its marks.</p>
        ${!data.items.length && html`<p class="empty">Nothing was deleted in the last 30 days.</p>`}
        <ol class="lines">${data.items.map((/** @type {any} */ message) => html`
            <${Gone} key=${message.id} id=${id} message=${message} chat=${about} onDone=${done} />`)}</ol>
        ${data.next_cursor && (limit < MOST ? html`
            <${Button} onClick=${() => setLimit(Math.min(MOST, limit + 200))}>Show more</${Button}>`
            : html`<p class="hint">More than ${number(MOST)} are kept; these are the first.</p>`)}`;
}

/** @param {any} props */
function Gone({ id, message, chat: about, onDone }) {
    const back = useAction(() => restore(id, message.id, onDone));
    return html`<li class="line deleted">
        <header>
            <span class="place">was #${number(message.index)}</span>
            <bdi class="who one-line">${whoOf(message, about)}</bdi>
            <span class="weight">${counted(message.tokens, 'token')}</span>
            <${Button} busy=${back.busy} onClick=${back.run}
                aria-label=${`Restore message ${number(message.index)}`}>Restore</${Button}>
        </header>
        ${message.content && html`<${LongText} text=${message.content} />`}
        <${Calls} calls=${message.tool_calls} />
    </li>`;
}
