/** What a chat and those in it are called. */
import { html, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { Button, Failure, Section } from '../parts.js';
import { chat } from '../server.js';
import { TextLine } from './care-text.js';

const FIELDS = [
    { name: 'title', label: 'Title', hint: 'Shown in the list of chats.' },
    { name: 'user_name', label: 'Your name in it', hint: 'Who speaks as the user. Summaries use it.' },
    { name: 'character_name', label: 'Who answers', hint: 'Whom the model speaks as. Summaries use it.' },
];

/** @param {import('./page.js').ChatProps} props */
export function Names({ id, chat: about, reload }) {
    const [typed, setTyped] = useState(/** @type {Record<string, string>} */ ({}));
    const save = useAction(async () => {
        const fields = Object.fromEntries(Object.entries(typed).map(([name, text]) => [name, text.trim() || null]));
        await chat(id).request('PATCH', '', { body: fields });
        setTyped({});
        reload();
    }, { done: 'Renamed.', quiet: true });
    const changed = Object.entries(typed).some(([name, text]) => text.trim() !== (about[name] ?? ''));
    /** @param {any} event */
    const onSubmit = (event) => { event.preventDefault(); if (changed) void save.run(); };
    return html`<${Section} title="Names">
        <form onSubmit=${onSubmit}>
            ${FIELDS.map(({ name, ...said }) => html`<${TextLine} ...${said} dir="auto" maxlength="500"
                value=${typed[name] ?? about[name] ?? ''}
                onText=${(/** @type {string} */ text) => setTyped({ ...typed, [name]: text })} />`)}
            <${Failure} error=${save.error} />
            <${Button} type="submit" busy=${save.busy}>Save the names</${Button}>
        </form>
    </${Section}>`;
}
