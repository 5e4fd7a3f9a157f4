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
    const { scope } = about.effective_settings.summary_buffer;
    if (about.strategy !== 'summary_buffer' || scope !== 'session') return null;
    /** @param {any} event */
    const onSubmit = (event) => { event.preventDefault(); setAsks(true); };
    return html`<${Section} title="Sessions"
        about="Each session that requests name has messages and a summary of its own. One can be forgotten here.">
        <form onSubmit=${onSubmit}>
            <${TextLine} label="Session" required value=${session} onText=${setSession} />
            <${Failure} error=${forget.error} />
            <${Button} kind="danger" type="submit" busy=${forget.busy}>Forget the session</${Button}>
        </form>
        ${asks && html`<${Confirm} title="Forget this session?" yes="Forget it" onYes=${forget.run} onClose=${close}
            text="Its messages and its summary go for good; those of the chat itself stay." />`}
    </${Section}>`;
}
