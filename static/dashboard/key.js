/** Asks for the key of a server that has one. */
import { html, useState } from './vendor/htm-preact.js';
import { useAction } from './actions.js';
import { Button, Check, Dialog, Failure, Field, ticked, written } from './parts.js';
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
    return html`<${Dialog} title="This server asks for a key">
        <form onSubmit=${onSubmit}>
            <p>It is the value of <code>TURNFOLD_API_KEY</code> on the server.</p>
            <${Field} label="Key" type="password" required autocomplete="current-password" value=${key}
                onInput=${written(setKey)} />
            <${Check} label="Keep it on this device" checked=${keep} onChange=${ticked(setKeep)} />
            <${Failure} error=${open.error} />
            <div class="actions">
                <${Button} kind="primary" type="submit" busy=${open.busy}>Open</${Button}>
            </div>
        </form>
    </${Dialog}>`;
}
