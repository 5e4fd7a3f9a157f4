/** A line for slash commands, as frontends have one. */
import { html, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { Button, Failure, Section, useId } from '../parts.js';
import { chat, turnfold, useLoad } from '../server.js';
import { TextLine } from './care-text.js';

/** @typedef {{name: string, help: string, arguments: string}} Command */

/** @param {import('./page.js').ChatProps} props */
export function Commands({ id, reload }) {
    const list = useId();
    const [line, setLine] = useState('/sc-status');
    const [answer, setAnswer] = useState('');
    const { data } = useLoad((signal) => turnfold.request('GET', '/commands', { signal }), []);
    const send = useAction(async () => {
        setAnswer('');
        setAnswer((await chat(id).command(line.trim())).text);
        reload();
    }, { quiet: true });
    const known = /** @type {Command[]} */ (data?.items ?? []);
    /** @param {any} event */
    const onSubmit = (event) => { event.preventDefault(); void send.run(); };
    return html`<${Section} title="Slash commands" about="What frontends with a line to type in offer, here as well.">
        <form onSubmit=${onSubmit}>
            <${TextLine} label="Command" hint=${meaning(known, line)} list=${list} required spellcheck=${false}
                value=${line} onText=${setLine} />
            <datalist id=${list}>${known.map(({ name, help }) => html`
                <option value=${name}>${help}</option>`)}</datalist>
            <${Button} type="submit" busy=${send.busy}>Run</${Button}>
        </form>
        <${Failure} error=${send.error} />
        <div role="status">
            ${answer && html`<pre class="said care-answer" tabindex="0" aria-label="Answer">${answer}</pre>`}
        </div>
    </${Section}>`;
}

/** @param {Command[]} known @param {string} line */
function meaning(known, line) {
    const meant = known.find(({ name }) => name === line.trim().split(' ')[0]);
    return meant ? [meant.help, meant.arguments].filter(Boolean).join(' · ') : '/sc-help lists them.';
}
