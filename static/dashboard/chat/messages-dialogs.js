/** The dialogs over a message: its text, its earlier texts, a fork. They stand over the page, so that news from the
 *  server take nothing that is typed in them. */
import { html, useState } from '../vendor/htm-preact.js';
import { notify, useAction } from '../actions.js';
import { FocusInList } from '../focus.js';
import { ago, date, number } from '../format.js';
import { Button, Dialog, Failure, Field, Loading, Note } from '../parts.js';
import { go } from '../router.js';
import { chat, useLoad } from '../server.js';
import { LongText } from './messages-text.js';

const PAGE = 50;
const MOST = 1000;
const path = (/** @type {any} */ message) => `/messages/${encodeURIComponent(message.id)}`;
/** @param {(text: string) => void} set */
const typed = (set) => (/** @type {any} */ event) => set(event.target.value);

/** @param {{id: string, message: any, now: any, onDone: () => void, onClose: () => void}} props `message` as it was
 *  when the dialog opened, `now` as it is, if it is on the page */
export function EditDialog({ id, message, now, onDone, onClose }) {
    const [text, setText] = useState(message.content ?? '');
    const [name, setName] = useState(message.name ?? '');
    const save = useAction(async () => {
        const content = text === '' && message.tool_calls ? null : text;
        await chat(id).edit(message.id, {
            ...(content !== message.content && { content }),
            ...((name || null) !== message.name && { name: name || null }),
        });
        notify(`#${number(message.index)} is changed.`);
        onDone();
        onClose();
    }, { quiet: true });
    const changed = now && (now.content !== message.content || now.name !== message.name);
    const foot = html`<${Button} onClick=${onClose}>Cancel</${Button}>
        <${Button} kind="primary" busy=${save.busy} onClick=${save.run}>Save</${Button}>`;
    const title = `Edit message #${number(message.index)}`;
    return html`<${Dialog} wide=${true} title=${title} onClose=${onClose} foot=${foot}>
        ${message.snippet_id && html`<${Note} kind="warning"><p>A snippet stands for this message. It becomes stale, and
            is made anew from the new text in the background; your own words in a snippet stay.</p></${Note}>`}
        ${changed && html`<${Note} kind="warning"><p>The message was changed meanwhile. Saving puts your text in its
            place; the other one is kept among its earlier texts.</p></${Note}>`}
        <${Field} label="Text" control=${(/** @type {any} */ given) => html`
            <textarea ...${given} autofocus class="editor" dir="auto" value=${text} onInput=${typed(setText)} />`} />
        <${Field} label="Who speaks" hint=${`Empty: nobody by name (${message.role}).`}
            control=${(/** @type {any} */ given) => html`
                <input ...${given} dir="auto" value=${name} onInput=${typed(setName)} />`} />
        <${Failure} error=${save.error} />
    </${Dialog}>`;
}

/** @param {{id: string, message: any, onDone: () => void, onClose: () => void}} props */
export function VersionsDialog({ id, message, onDone, onClose }) {
    const [limit, setLimit] = useState(PAGE);
    const load = (/** @type {AbortSignal} */ signal) =>
        chat(id).request('GET', `${path(message)}/versions`, { query: { limit }, signal });
    const { data, error, reload } = useLoad(load, [id, message.id, limit], null, { keep: true });
    const back = useAction(async (/** @type {string} */ version) => {
        await chat(id).request('POST', `${path(message)}/restore`, { body: { version } });
        notify(`#${number(message.index)} says again what it said.`);
        onDone();
        onClose();
    }, { quiet: true });
    const more = data?.next_cursor && limit < MOST;
    return html`<${Dialog} wide=${true} title=${`Earlier texts of #${number(message.index)}`} onClose=${onClose}>
        <p class="hint">Overwritten texts are kept for 30 days. Bringing one back keeps the present one in turn.</p>
        <${Failure} error=${error} retry=${reload} /><${Failure} error=${back.error} />
        ${!data && !error && html`<${Loading} />`}
        ${data?.items.length === 0 && html`<p class="empty">It has said nothing else in the last 30 days.</p>`}
        <${FocusInList}><ol class="versions">${data?.items.map((/** @type {any} */ one) => html`
            <${Version} key=${one.version} one=${one} busy=${back.busy} onBack=${() => back.run(one.version)} />`)}</ol>
        ${more && html`<${Button} onClick=${() => setLimit(Math.min(MOST, limit + 200))}>Show more</${Button}>`}
        </${FocusInList}>
    </${Dialog}>`;
}

/** @param {{one: any, busy: boolean, onBack: () => void}} props */
const Version = ({ one: { content, why, name, replaced_at: at }, busy, onBack }) => html`<li>
    <header>
        <time datetime=${at} title=${date(at)}>${why} ${ago(at)}</time>
        ${name && html`<bdi class="who one-line">${name}</bdi>`}
        <${Button} busy=${busy} onClick=${onBack}>Bring back</${Button}>
    </header>
    <${LongText} text=${content ?? ''} />
</li>`;

/** @param {{id: string, message: any, onClose: () => void}} props */
export function ForkDialog({ id, message, onClose }) {
    const [own, setOwn] = useState('');
    const fork = useAction(async () => {
        const body = { at_message_id: message.id, ...(own.trim() && { id: own.trim() }) };
        const made = await chat(id).request('POST', '/fork', { body });
        onClose();
        go(['chats', made.id, 'memory']);
        notify('The chat is forked; this is the new one.');
    }, { quiet: true });
    const foot = html`<${Button} onClick=${onClose}>Cancel</${Button}>
        <${Button} kind="primary" busy=${fork.busy} onClick=${fork.run}>Fork</${Button}>`;
    return html`<${Dialog} title=${`Fork from #${number(message.index)}`} onClose=${onClose} foot=${foot}>
        <p>A fork is a new chat with the history up to and with this message, and its memory. This chat stays as it is,
            and no model is called.</p>
        <${Field} label="Id of the new chat" hint="Empty: the server makes one."
            control=${(/** @type {any} */ given) => html`
                <input ...${given} autofocus value=${own} onInput=${typed(setOwn)} />`} />
        <${Failure} error=${fork.error} />
    </${Dialog}>`;
}
