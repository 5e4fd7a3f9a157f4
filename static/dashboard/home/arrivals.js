/** Chat files on their way in: how to choose and drop them, and what became of each. */
import { html, useEffect, useState } from '../vendor/htm-preact.js';
import { counted } from '../format.js';
import { Badge, Button, Note, Progress, Section } from '../parts.js';
import { href } from '../router.js';
import { arrivals, forget, leaveOut, takeIn } from './importing.js';
import { size } from './words.js';

/** A file input that looks like a button. @param {{text: string, kind?: string}} props */
export const ChooseFiles = ({ text, kind = 'plain' }) => html`
    <label class=${`button choose ${kind}`}>${text}
        <input class="unseen" type="file" multiple onChange=${(/** @type {any} */ { target }) => {
            const files = [...target.files];
            target.value = ''; // the same file may be chosen again
            if (files.length) takeIn(files);
        }} />
    </label>`;

/** @param {DragEvent} event */
const carriesFiles = (event) => event.dataTransfer?.types.includes('Files') ?? false;

/** @param {DragEvent} event */
function drop(event) {
    const items = [...event.dataTransfer?.items ?? []].filter(({ kind }) => kind === 'file')
        .map((item) => ({ entry: item.webkitGetAsEntry?.(), file: item.getAsFile() }));
    const folders = items.filter(({ entry }) => entry?.isDirectory).map(({ entry }) => entry?.name ?? '');
    const files = items.filter(({ entry }) => !entry?.isDirectory).map(({ file }) => file);
    takeIn(files.filter((file) => file !== null), folders);
}

/** Takes in what is dropped anywhere on the page. @returns {boolean} whether files are held over it */
function useDrop() {
    const [over, setOver] = useState(false);
    useEffect(() => {
        const mind = (/** @type {DragEvent} */ event) => {
            if (!carriesFiles(event)) return;
            event.preventDefault();
            setOver(event.type === 'dragover');
            if (event.type === 'drop') drop(event);
        };
        const leave = (/** @type {DragEvent} */ event) => { if (!event.relatedTarget) setOver(false); };
        const heard = /** @type {[string, any][]} */ ([['dragover', mind], ['drop', mind], ['dragleave', leave]]);
        for (const [kind, listener] of heard) document.addEventListener(kind, listener);
        return () => { for (const [kind, listener] of heard) document.removeEventListener(kind, listener); };
    }, []);
    return over;
}

/** Shows that files may be let go. */
export const DropZone = () => useDrop() && html`
    <div class="drop-zone"><p>Drop the chat files here</p></div>`;

/** @param {{warnings: {code: string, detail: string}[]}} props */
const Warnings = ({ warnings }) => warnings.length > 0 && html`
    <details class="warnings" open><summary>${counted(warnings.length, 'remark')}</summary>
        <ul>${warnings.map(({ detail }) => html`<li class="said">${detail}</li>`)}</ul>
    </details>`;

/** @param {{one: import('./importing.js').Arrival}} props */
const Came = ({ one: { name, result } }) => result && html`
    <p><a href=${href(['chats', result.chat_id])}>Open <bdi>${name}</bdi></a>
        <span class="quiet-text"> ${counted(result.messages, 'message')}${result.snippets > 0
            && `, ${counted(result.snippets, 'snippet')} of memory`}</span>
        ${result.waits && html` <${Badge} kind="warn">asks you before it folds</${Badge}>`}</p>
    <${Warnings} warnings=${result.warnings} />`;

/** @param {{one: import('./importing.js').Arrival}} props */
const OnItsWay = ({ one }) => html`
    <div class="on-its-way">
        <p class="one-line"><bdi>${one.name}</bdi></p>
        ${one.state === 'sending' && html`<${Progress} label=${`Taking in ${one.name}`} value=${null} />`}
        <span class="quiet-text">${size(one.size)}, ${one.state === 'sending' ? 'being taken in' : 'waits'}</span>
        <${Button} kind="quiet" aria-label=${`Leave out ${one.name}`} onClick=${() => leaveOut(one)}>Cancel</${Button}>
    </div>`;

/** @param {{one: import('./importing.js').Arrival}} props */
const Refused = ({ one }) => html`
    <${Note} kind="error"><p><strong><bdi>${one.name}</bdi></strong>: ${one.detail}</p></${Note}>`;

const VIEWS = { waiting: OnItsWay, sending: OnItsWay, done: Came, refused: Refused };

/** What came in, and what is coming. */
export function Arrivals() {
    const all = arrivals.use();
    if (!all.length) return null;
    const isOver = all.every(({ state }) => state === 'done' || state === 'refused');
    const leave = () => { forget(); document.getElementById('main')?.focus(); };
    const actions = isOver && html`<${Button} kind="quiet" onClick=${leave}>Close</${Button}>`;
    const title = isOver ? (all.some(({ result }) => result) ? 'Imported' : 'Not imported') : 'Importing';
    return html`<${Section} title=${title} actions=${actions}>
        <ul class="arrivals" aria-live="polite">${all.map((one) => html`
            <li key=${one.key}><${VIEWS[one.state]} one=${one} /></li>`)}</ul>
    </${Section}>`;
}
