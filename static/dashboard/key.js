/** Asks for the key of a server that has one. */
import { html, useState } from './vendor/htm-preact.js';
import { useAction } from './actions.js';
import { Button, Dialog, Failure, Field } from './parts.js';
import { turnfold, unlock } from './server.js';

/** @param {{onOpen: () => void}} props */
export function KeyDialog({ onOpen }) {
    const [key, setKey] = useState(turnfold.key);
    const [keep, setKeep] = useState(false);
    const open = useAction(async () => {
        unlock(key, keep);
        await turnfold.request('GET', '/settings');
        onOpen();
    }, { quiet: true });
    /** @param {any} event */
    const onSubmit = (event) => { event.preventDefault(); void open.run(); };
    return html`<${Dialog} title="This server asks for a key" onClose=${() => {}}>
        <form onSubmit=${onSubmit}>
            <p>It is the value of <code>TURNFOLD_API_KEY</code> on the server.</p>
            <${Field} label="Key" control=${(/** @type {any} */ given) => html`<input ...${given} type="password" required
                autocomplete="current-password" value=${key} onInput=${(/** @type {any} */ event) => setKey(event.target.value)} />`} />
            <label class="check"><input type="checkbox" checked=${keep} onChange=${(/** @type {any} */ event) => setKeep(event.target.checked)} />
                Keep it on this device</label>
            <${Failure} error=${open.error} />
            <div class="actions"><${Button} kind="primary" type="submit" busy=${open.busy}>Open</${Button}></div>
        </form>
    </${Dialog}>`;
}
