/** Taking in a memory that another program made of this chat. */
import { html, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { counted } from '../format.js';
import { Failure, Field, Note, Section } from '../parts.js';
import { chat } from '../server.js';

/** @param {import('./page.js').ChatProps} props */
export function ImportMemory({ id, reload }) {
    const [over, setOver] = useState(false);
    const [answer, setAnswer] = useState(/** @type {any} */ (null));
    const take = useAction(async (/** @type {File} */ file) => {
        setAnswer(null);
        const found = await chat(id).request('POST', '/import', { raw: file, timeout: 0 });
        setAnswer({ ...found, file: file.name });
        reload();
    }, { quiet: true });
    /** @param {any} event */
    const onDrop = (event) => {
        event.preventDefault();
        setOver(false);
        const [file] = event.dataTransfer.files;
        if (file) void take.run(file);
    };
    /** @param {any} event */
    const onPick = (event) => {
        const [file] = event.target.files;
        event.target.value = ''; // the same file may be taken again
        if (file) void take.run(file);
    };
    return html`<${Section} title="Import a memory"
        about="From Summaryception, its forks, or a Turnfold file of this chat: what lies over messages that nothing covers yet.">
        <div class=${`drop ${over ? 'over' : ''}`} onDragOver=${(/** @type {any} */ event) => { event.preventDefault(); setOver(true); }}
            onDragLeave=${() => setOver(false)} onDrop=${onDrop}>
            <${Field} label="Memory file" hint="Choose it, or drop it here." control=${(/** @type {any} */ given) => html`
                <input ...${given} type="file" accept=".json,.jsonl,application/json" disabled=${take.busy} onChange=${onPick} />`} />
            ${take.busy && html`<p role="status">Reading the file…</p>`}
        </div>
        <${Failure} error=${take.error} />
        ${answer && html`<${Taken} answer=${answer} />`}
    </${Section}>`;
}

/** @param {any} props */
const Taken = ({ answer: { file, snippets, warnings } }) => html`
    <div role="status">
        <p>${snippets ? html`${counted(snippets, 'snippet')} of <bdi>${file}</bdi> found ${snippets === 1 ? 'its' : 'their'} place.`
            : html`Nothing of <bdi>${file}</bdi> fitted.`}</p>
        ${warnings.length > 0 && html`<${Note} kind="warning">
            <p>${counted(warnings.length, 'thing')} to know:</p>
            <ul>${warnings.map((/** @type {any} */ { code, detail }) => html`
                <li><span class="said">${detail}</span> <code>${code}</code></li>`)}</ul>
        </${Note}>`}
    </div>`;
