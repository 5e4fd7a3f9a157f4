/** A chat as a file, in each of the four formats. */
import { html } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { Button, Section } from '../parts.js';
import { chat } from '../server.js';
import { fileName, save } from './care-files.js';

const FORMATS = [
    { format: 'turnfold', name: 'Turnfold', ending: 'jsonl',
        about: 'Everything: messages, memory, what was deleted and can come back. To move or to keep.' },
    { format: 'sillytavern', name: 'SillyTavern', ending: 'jsonl',
        about: 'Opens there, with the memory where the Summaryception extension keeps it.' },
    { format: 'summaryception', name: 'Summaryception', ending: 'json',
        about: 'The live memory alone, as that extension exports it.' },
    { format: 'openai', name: 'Messages', ending: 'json', about: 'The history as OpenAI messages, without memory.' },
];

/** @param {import('./page.js').ChatProps} props */
export const ExportFiles = ({ id }) => html`
    <${Section} title="Export" about="The chat as a file, as it is at this moment.">
        <ul class="bare care-rows">${FORMATS.map((format) => html`<${Format} id=${id} ...${format} />`)}</ul>
    </${Section}>`;

/** @param {any} props */
function Format({ id, format, name, about, ending }) {
    const { run, busy } = useAction(async () => {
        const { server, path } = chat(id);
        const response = await server.open('GET', `${path}/export`, { query: { format } });
        const file = fileName(response.headers.get('content-disposition'), `chat.${format}.${ending}`);
        save(await response.blob(), file);
        return file;
    }, { done: (file) => `Exported: ${file}` });
    return html`<li>
        <div><h3>${name}</h3><p class="hint">${about}</p></div>
        <${Button} busy=${busy} onClick=${run} aria-label=${`Download as ${name}`}>Download</${Button}>
    </li>`;
}
