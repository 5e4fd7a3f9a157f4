/** Of a summary buffer that remembers session by session: forgetting one. */
import { html, useState } from '../vendor/htm-preact.js';
import { part } from '../../turnfold.js';
import { useAction } from '../actions.js';
import { Button, Confirm, Failure, Field, Section } from '../parts.js';
import { chat } from '../server.js';

/** @param {import('./page.js').ChatProps} props */
export function Session({ id, chat: about, reload }) {
    const [session, setSession] = useState('');
    const [asks, setAsks] = useState(false);
    const forget = useAction(async () => {
        setAsks(false);
        await chat(id).request('DELETE', `/sessions/${part(session.trim())}`);
        setSession('');
        reload();
    }, { done: 'The session is forgotten.', quiet: true });
    if (about.strategy !== 'summary_buffer') return null;
    /** @param {any} event */
    const onSubmit = (event) => { event.preventDefault(); setAsks(true); };
    return html`<${Section} title="Sessions" about="Where requests name a session, what was remembered of one can be forgotten.">
        <form onSubmit=${onSubmit}>
            <${Field} label="Session" control=${(/** @type {any} */ given) => html`<input ...${given} type="text" required
                autocomplete="off" value=${session} onInput=${(/** @type {any} */ event) => setSession(event.target.value)} />`} />
            <${Failure} error=${forget.error} />
            <${Button} kind="danger" type="submit" busy=${forget.busy}>Forget the session</${Button}>
        </form>
        ${asks && html`<${Confirm} title="Forget this session?" yes="Forget it" onYes=${forget.run} onClose=${() => setAsks(false)}
            text="What is remembered of it goes; the history of the chat stays as it is." />`}
    </${Section}>`;
}
