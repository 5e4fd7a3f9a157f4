/** Where a chat branched off, and branching off from it. */
import { html, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { Button, Failure, Section } from '../parts.js';
import { go, href } from '../router.js';
import { chat } from '../server.js';
import { TextLine } from './care-text.js';

/** @param {import('./page.js').ChatProps} props */
export function Copies({ id, chat: about }) {
    const [place, setPlace] = useState('');
    const fork = useAction(async () => {
        const body = place.trim() ? { at_message_id: await messageAt(id, place.trim()) } : {};
        const made = await chat(id).request('POST', '/fork', { body, timeout: 0 });
        go(['chats', made.id]);
    }, { done: 'Forked. This is the branch.', quiet: true });
    /** @param {any} event */
    const onSubmit = (event) => { event.preventDefault(); void fork.run(); };
    const parent = about.parent_chat_id;
    return html`<${Section} title="Branches"
        about="A fork is a new chat with the history and the memory up to a message. This one stays as it is.">
        ${parent && html`<p>This chat branched off from <a href=${href(['chats', parent])}>
            <bdi>${parent}</bdi></a>.</p>`}
        <form onSubmit=${onSubmit}>
            <${TextLine} label="Fork after message"
                hint="Its number, as the messages show it. Empty: after the newest one."
                inputmode="numeric" pattern="#?[0-9,]*" value=${place} onText=${setPlace} />
            <${Failure} error=${fork.error} />
            <${Button} type="submit" busy=${fork.busy}>Fork</${Button}>
        </form>
    </${Section}>`;
}

/** The id of the message with this number. @param {string} id @param {string} place */
async function messageAt(id, place) {
    const index = Number(place.replace(/[#,]/g, ''));
    const { items } = await chat(id).request('GET', '/messages', { query: { from_index: index, limit: 1 } });
    if (items[0]?.index !== index) throw new Error(`There is no message ${place}.`);
    return items[0].id;
}
