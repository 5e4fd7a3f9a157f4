/** What a chat and those in it are called. */
import { html, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { Button, Failure, Field, Section } from '../parts.js';
import { chat } from '../server.js';

const FIELDS = /** @type {const} */ ([
    ['title', 'Title', 'Shown in the list of chats.'],
    ['user_name', 'Your name in it', 'Who speaks as the user. Summaries use it.'],
    ['character_name', 'Who answers', 'Whom the model speaks as. Summaries use it.'],
]);

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
            ${FIELDS.map(([name, label, hint]) => html`<${Field} label=${label} hint=${hint} control=${(/** @type {any} */ given) => html`
                <input ...${given} type="text" dir="auto" autocomplete="off" maxlength="500" value=${typed[name] ?? about[name] ?? ''}
                    onInput=${(/** @type {any} */ event) => setTyped({ ...typed, [name]: event.target.value })} />`} />`)}
            <${Failure} error=${save.error} />
            <${Button} type="submit" busy=${save.busy}>Save the names</${Button}>
        </form>
    </${Section}>`;
}
