/** Taking in a memory that another program made of this chat. */
import { html, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { counted } from '../format.js';
import { Failure, Field, Note, Section } from '../parts.js';
import { chat } from '../server.js';

const ABOUT = 'From Summaryception, its forks, or a Turnfold file of this chat. What lies over messages that nothing'
    + ' covers yet is taken.';

/** @param {import('./page.js').ChatProps} props */
export function ImportMemory({ id, reload }) {
    const [answer, setAnswer] = useState(/** @type {any} */ (null));
    const take = useAction(async (/** @type {File} */ file) => {
        setAnswer(null);
        const found = await chat(id).request('POST', '/import', { raw: file, timeout: 0 });
        setAnswer({ ...found, file: file.name });
        reload();
    }, { quiet: true });
    return html`<${Section} title="Import a memory" about=${ABOUT}>
        <${DropBox} busy=${take.busy} onFile=${take.run} />
        <${Failure} error=${take.error} />
        <div role="status">
            ${take.busy ? html`<p>Reading the file…</p>` : answer && html`<${Taken} answer=${answer} />`}
        </div>
    </${Section}>`;
}

/** @param {{busy: boolean, onFile: (file: File) => void}} props */
function DropBox({ busy, onFile }) {
    const [over, setOver] = useState(false);
    /** @param {any} event */
    const onDragOver = (event) => { event.preventDefault(); event.stopPropagation(); setOver(true); };
    /** @param {any} event */
    const onDrop = (event) => {
        event.preventDefault();
        event.stopPropagation(); // a page may take files that are dropped anywhere else
        setOver(false);
        const [file] = event.dataTransfer.files;
        if (file) onFile(file);
    };
    /** @param {any} event */
    const onChange = ({ target }) => {
        const [file] = target.files;
        if (file) onFile(file);
        target.value = ''; // the same file may be taken again
    };
    return html`<div class=${`care-drop ${over ? 'over' : ''}`} onDragOver=${onDragOver}
        onDragLeave=${() => setOver(false)} onDrop=${onDrop}>
        <${Field} label="Memory file" hint="Choose it, or drop it here." control=${(/** @type {any} */ given) => html`
            <input ...${given} type="file" accept=".json,.jsonl" disabled=${busy} onChange=${onChange} />`} />
    </div>`;
}

/** @param {any} props */
const Taken = ({ answer: { file, snippets, warnings } }) => html`
    <p>${snippets ? `${counted(snippets, 'snippet')} found a place, from ` : 'Nothing fitted of '}
        <bdi>${file}</bdi>.</p>
    ${warnings.length > 0 && html`<${Note} kind="warning">
        <p>${counted(warnings.length, 'thing')} to know:</p>
        <ul>${warnings.map((/** @type {any} */ { code, detail }) => html`
            <li><span class="said">${detail}</span> <code>${code}</code></li>`)}</ul>
    </${Note}>`}`;
