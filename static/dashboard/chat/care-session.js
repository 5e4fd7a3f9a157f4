/** Of a summary buffer that remembers session by session: forgetting one. */
import { html, useState } from '../vendor/htm-preact.js';
import { part } from '../../turnfold.js';
import { useAction } from '../actions.js';
import { Button, Confirm, Failure, Section } from '../parts.js';
import { chat } from '../server.js';
import { TextLine } from './care-text.js';

/** @param {import('./page.js').ChatProps} props */
export function Session({ id, chat: about, reload }) {
    const [session, setSession] = useState('');
    const [asks, setAsks] = useState(false);
    const close = () => setAsks(false);
    const forget = useAction(async () => {
        close();
        await chat(id).request('DELETE', `/sessions/${part(session.trim())}`);
        setSession('');
        reload();
    }, { done: 'The session is forgotten.', quiet: true });
    if (about.strategy !== 'summary_buffer') return null;
    /** @param {any} event */
    const onSubmit = (event) => { event.preventDefault(); setAsks(true); };
    return html`<${Section} title="Sessions"
        about="Where requests name a session, what is remembered of one can be forgotten.">
        <form onSubmit=${onSubmit}>
            <${TextLine} label="Session" required value=${session} onText=${setSession} />
            <${Failure} error=${forget.error} />
            <${Button} kind="danger" type="submit" busy=${forget.busy}>Forget the session</${Button}>
        </form>
        ${asks && html`<${Confirm} title="Forget this session?" yes="Forget it" onYes=${forget.run} onClose=${close}
            text="What is remembered of it goes; the history of the chat stays as it is." />`}
    </${Section}>`;
}
