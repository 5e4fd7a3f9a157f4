/** What is under a snippet: its parts, its original messages, the texts it had before. Read when they are asked for. */
import { html, useEffect, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { ago, counted, number } from '../format.js';
import { part } from '../../turnfold.js';
import { Badge, Button, Failure, Loading } from '../parts.js';
import { href } from '../router.js';
import { chat, useLoad } from '../server.js';
import { coverOf, REPLACED, titleOf } from './snippet-words.js';

const PARTS_AT_ONCE = 20;

/** A part of the panel that opens, and reads only then. @param {{title: string, children: () => any}} props */
function Fold({ title, children }) {
    const [open, setOpen] = useState(false);
    const onToggle = (/** @type {any} */ event) => setOpen(event.target.open);
    return html`<details class="snippet-under" onToggle=${onToggle}>
        <summary>${title}</summary>
        ${open && children()}
    </details>`;
}

/** The snippets that it was made from; each opens in its place. @param {any} props */
export function Parts({ chat: id, snippet, onOpen }) {
    const single = snippet.kind === 'rolling' || snippet.kind === 'buffer';
    const count = snippet.children.length;
    if (!count) return null;
    return html`<${Fold} title=${single ? 'The summary before it' : counted(count, 'part')}>${() => html`
        <${PartList} id=${id} ids=${snippet.children} onOpen=${onOpen} />`}</${Fold}>`;
}

/** @param {{id: string, ids: string[], onOpen: (id: string) => void}} props */
function PartList({ id, ids, onOpen }) {
    const [most, setMost] = useState(PARTS_AT_ONCE);
    const some = ids.slice(0, most);
    const read = (/** @type {AbortSignal} */ signal) =>
        Promise.all(some.map((one) => chat(id).request('GET', `/snippets/${part(one)}`, { signal })));
    const { data, error, reload } = useLoad(read, [id, some.join()], null, { keep: true });
    if (error) return html`<${Failure} error=${error} retry=${reload} />`;
    if (!data) return html`<${Loading} />`;
    return html`<ul class="snippet-parts">
            ${data.map((/** @type {any} */ one) => html`<${Part} key=${one.id} one=${one} onOpen=${onOpen} />`)}</ul>
        ${ids.length > most && html`<${Button} onClick=${() => setMost(most + PARTS_AT_ONCE)}>More</${Button}>`}`;
}

/** @param {{one: import('./snippet-words.js').Snippet, onOpen: (id: string) => void}} props */
const Part = ({ one, onOpen }) => html`<li><button type="button" onClick=${() => onOpen(one.id)}>
    <span class="said clipped">${one.text}</span>
    <span class="quiet-text">${titleOf(one)} · ${coverOf(one)} · ${counted(one.tokens, 'token')}</span>
</button></li>`;

/** Pages of 50, each when it is asked for. @param {{id: string, path: string, version: unknown, empty: string,
 *   item: (one: any) => any}} props `version`: what they are read anew for */
function Pages({ id, path, version, empty, item }) {
    const [items, setItems] = useState(/** @type {any[]} */ ([]));
    const [cursor, setCursor] = useState(/** @type {string|null} */ (null));
    const read = (/** @type {AbortSignal} */ signal) => chat(id).request('GET', path, { signal, query: { limit: 50 } });
    const first = useLoad(read, [id, path, version], null, { keep: true });
    useEffect(() => {
        setItems(first.data?.items ?? []);
        setCursor(first.data?.next_cursor ?? null);
    }, [first.data]);
    const more = useAction(async () => {
        const page = await chat(id).request('GET', path, { query: { limit: 50, cursor } });
        setItems([...items, ...page.items]);
        setCursor(page.next_cursor);
    });
    if (first.error) return html`<${Failure} error=${first.error} retry=${first.reload} />`;
    if (!first.data) return html`<${Loading} />`;
    if (!first.data.items.length) return html`<p class="quiet-text">${empty}</p>`;
    return html`<ol class="snippet-under-list">${items.map(item)}</ol>
        ${cursor && html`<${Button} busy=${more.busy} onClick=${more.run}>More</${Button}>`}`;
}

/** The messages under it, whatever its layer. @param {any} props */
export function Originals({ chat: id, snippet, version }) {
    if (!snippet.covers) return null;
    const path = `/snippets/${part(snippet.id)}/messages`;
    const item = (/** @type {any} */ one) => html`<li key=${one.id}>
        <p class="quiet-text"><a href=${href(['chats', id, 'messages'], { at: one.index })}>#${number(one.index)}</a>
            ${' '}<bdi>${one.name || one.role}</bdi></p>
        <p class="said">${one.content}</p></li>`;
    return html`<${Fold} title=${counted(snippet.covers.messages, 'original message')}>${() => html`
        <${Pages} id=${id} path=${path} version=${version} empty="Nothing is left under it." item=${item} />`}
    </${Fold}>`;
}

/** The texts it had before, newest first. @param {any} props `etag`: another text has come where it changes */
export function Versions({ chat: id, snippet, etag }) {
    const path = `/snippets/${part(snippet.id)}/versions`;
    const item = (/** @type {any} */ one) => html`<li key=${one.replaced_at}>
        <p class="quiet-text">${REPLACED[one.why] ?? one.why} ${ago(one.replaced_at)} · ${counted(one.tokens, 'token')}
            ${one.edited && html` <${Badge}>by a person</${Badge}>`}
            ${one.stale && html` <${Badge} kind="warn">stale</${Badge}>`}</p>
        <p class="said">${one.text}</p></li>`;
    return html`<${Fold} title="Earlier texts">${() => html`
        <${Pages} id=${id} path=${path} version=${etag} empty="It has had no other text." item=${item} />`}</${Fold}>`;
}
