/** Making a chat that begins empty. */
import { html, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { Button, Dialog, Failure, Field } from '../parts.js';
import { go } from '../router.js';
import { turnfold } from '../server.js';

/** @type {[string, string, string][]} name, label, hint */
const FIELDS = [
    ['title', 'Title', 'What the chat is called in the list.'],
    ['user_name', 'You are', 'Who speaks as the user.'],
    ['character_name', 'The character is', 'Who answers.'],
];

/** @param {{onClose: () => void}} props */
export function NewChat({ onClose }) {
    const [given, setGiven] = useState(/** @type {Record<string, string>} */ ({}));
    const make = useAction(async () => {
        const said = Object.entries(given).map(([name, value]) => [name, value.trim()]).filter(([, value]) => value);
        const { id } = await turnfold.request('POST', '/chats', { body: Object.fromEntries(said) });
        onClose();
        go(['chats', id]);
    }, { quiet: true });
    /** @param {string} name */
    const set = (name) => (/** @type {any} */ { target }) => setGiven((now) => ({ ...now, [name]: target.value }));
    /** @param {any} event */
    const onSubmit = (event) => { event.preventDefault(); void make.run(); };
    return html`<${Dialog} title="New chat" onClose=${onClose}>
        <form onSubmit=${onSubmit}>
            <p class="about">All of it may be left out, and changed later.</p>
            ${FIELDS.map(([name, label, hint]) => html`<${Field} key=${name} label=${label} hint=${hint}
                control=${(/** @type {any} */ about) => html`
                    <input ...${about} value=${given[name] ?? ''} maxlength="200" onInput=${set(name)} />`} />`)}
            <${Failure} error=${make.error} />
            <div class="actions"><${Button} kind="primary" type="submit" busy=${make.busy}>Make it</${Button}></div>
        </form>
    </${Dialog}>`;
}
