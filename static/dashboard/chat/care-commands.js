/** A line for slash commands, as frontends have one. */
import { html, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { Button, Failure, Field, Section, useId } from '../parts.js';
import { chat, turnfold, useLoad } from '../server.js';

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
    const known = data?.items ?? [];
    const meant = known.find((/** @type {any} */ { name }) => name === line.trim().split(' ')[0]);
    /** @param {any} event */
    const onSubmit = (event) => { event.preventDefault(); void send.run(); };
    return html`<${Section} title="Slash commands" about="What frontends with a line to type in offer, here as well.">
        <form onSubmit=${onSubmit}>
            <${Field} label="Command" hint=${meant ? [meant.help, meant.arguments].filter(Boolean).join(' · ') : '/sc-help lists them.'}
                control=${(/** @type {any} */ given) => html`<input ...${given} type="text" list=${list} required autocomplete="off"
                    spellcheck=${false} value=${line} onInput=${(/** @type {any} */ event) => setLine(event.target.value)} />`} />
            <datalist id=${list}>${known.map((/** @type {any} */ { name, help }) => html`<option value=${name}>${help}</option>`)}</datalist>
            <${Button} type="submit" busy=${send.busy}>Run</${Button}>
        </form>
        <${Failure} error=${send.error} />
        <div role="status">${answer && html`<pre class="said answer" tabindex="0" aria-label="Answer">${answer}</pre>`}</div>
    </${Section}>`;
}
