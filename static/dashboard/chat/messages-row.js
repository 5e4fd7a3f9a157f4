/** One message of the history, as it was said and with how it stands. */
import { html, useState } from '../vendor/htm-preact.js';
import { ago, counted, date, number } from '../format.js';
import { Badge, Button } from '../parts.js';
import { href } from '../router.js';
import { MessageActions } from './messages-actions.js';
import { stateOf, whoOf } from './messages-places.js';
import { Calls, LongText } from './messages-text.js';

/** @type {Record<string, string>} */
const KINDS = { visible: 'good', ghosted: 'plain', hidden: 'warn', omitted: 'warn' };

/** How a message stands to memory. @param {{id: string, message: any, skipped: boolean}} props */
export const Marks = ({ id, message, skipped }) => {
    const state = stateOf(message);
    const snippet = message.snippet_id && href(['chats', id, 'memory'], { snippet: message.snippet_id });
    return html`
        ${snippet ? html`<a class="badge-link" href=${snippet} title="The snippet that stands for it">
            <${Badge} kind=${KINDS[state]}>${state} ↗</${Badge}></a>`
            : html`<${Badge} kind=${KINDS[state]}>${state}</${Badge}>`}
        ${message.pinned && html` <${Badge} kind="good">pinned</${Badge}>`}
        ${skipped && html` <${Badge} title="Skipped with a backlog: never folded unasked">skipped</${Badge}>`}`;
};

/** @param {any} props `message`, `chat`, `skipped`, `terms`, `marked`; the rest goes to its actions */
export function MessageRow({ message, chat, skipped, terms, marked, ...rest }) {
    const [open, setOpen] = useState(false);
    const { index, role, created_at: at } = message;
    return html`<li class=${`line ${stateOf(message)} ${marked ? 'sought' : ''}`} id=${`message-${index}`} tabindex="-1"
        aria-current=${marked ? 'true' : undefined}>
        <header>
            <a class="place" href=${href(['chats', rest.id, 'messages'], { at: index })}>#${number(index)}</a>
            <bdi class="who one-line">${whoOf(message, chat)}</bdi>
            <span class="role">${role}</span>
            <span class="standing"><${Marks} id=${rest.id} message=${message} skipped=${skipped} /></span>
            <span class="weight">
                <time datetime=${at} title=${date(at)}>${ago(at)}</time> · ${counted(message.tokens, 'token')}</span>
            <${Button} kind="quiet" aria-expanded=${open} aria-label=${`Change message ${number(index)}`}
                onClick=${() => setOpen(!open)}>Change</${Button}>
        </header>
        ${open && html`<${MessageActions} message=${message} ...${rest} />`}
        ${message.content ? html`
            <${LongText} text=${message.content} terms=${terms} whole=${marked && terms.length > 0} />`
            : !message.tool_calls && html`<p class="quiet-text">(no text)</p>`}
        <${Calls} calls=${message.tool_calls} />
    </li>`;
}
