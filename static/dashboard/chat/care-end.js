/** Forgetting the memory of a chat, and deleting the chat. */
import { html, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { counted, nameOf, number } from '../format.js';
import { Button, Confirm, Dialog, Failure, Field, Section } from '../parts.js';
import { go } from '../router.js';
import { chat } from '../server.js';

/** @param {import('./page.js').ChatProps} props */
export function Ending(props) {
    const [asks, setAsks] = useState('');
    const close = () => setAsks('');
    return html`<${Section} title="Starting over">
        <ul class="plain rows">
            <li><div><h3>Clear the memory</h3><p class="hint">Every snippet is forgotten; every message stays and is visible again.</p></div>
                <${Button} kind="danger" onClick=${() => setAsks('clear')}>Clear the memory</${Button}></li>
            <li><div><h3>Delete the chat</h3><p class="hint">Its messages and its memory, for good.</p></div>
                <${Button} kind="danger" onClick=${() => setAsks('delete')}>Delete the chat</${Button}></li>
        </ul>
        ${asks === 'clear' && html`<${Clear} ...${props} onClose=${close} />`}
        ${asks === 'delete' && html`<${Delete} ...${props} onClose=${close} />`}
    </${Section}>`;
}

/** @param {any} props */
function Clear({ id, status, reload, onClose }) {
    const clear = useAction(async () => {
        const answer = await chat(id).request('POST', '/clear');
        onClose();
        reload();
        return answer;
    }, { done: ({ cleared_snippets: gone, unghosted_messages: visible }) => (
        `Forgot ${counted(gone, 'snippet')}; ${counted(visible, 'message')} visible again.`) });
    return html`<${Confirm} title="Clear the memory?" yes="Clear it" busy=${clear.busy} onYes=${clear.run} onClose=${onClose}
        text=${`No message is lost: the ${counted(status.counts.ghosted, 'message')} under snippets are sent word for word again,`
            + ' and the next message folds from the beginning. What people wrote into snippets is gone, and cannot be undone.'} />`;
}

/** @param {any} props */
function Delete({ id, chat: about, onClose }) {
    const [typed, setTyped] = useState('');
    const name = nameOf(about);
    const end = useAction(async () => {
        await chat(id).request('DELETE', '', { timeout: 0 });
        go([]);
    }, { done: 'The chat is deleted.', quiet: true });
    const same = typed.trim() === name.trim();
    /** @param {any} event */
    const onSubmit = (event) => { event.preventDefault(); if (same) void end.run(); };
    return html`<${Dialog} title="Delete this chat for good?" onClose=${onClose} foot=${html`
        <${Button} onClick=${onClose}>Cancel</${Button}>
        <${Button} kind="danger" busy=${end.busy} disabled=${!same} onClick=${end.run}>Delete for good</${Button}>`}>
        <p>${counted(about.counts.messages, 'message')} and everything remembered of them go. Only a file that you export
            before brings ${number(about.counts.messages) === '1' ? 'it' : 'them'} back.</p>
        <form onSubmit=${onSubmit}>
            <${Field} label="To be sure, type its name" hint=${html`<bdi>${name}</bdi>`} control=${(/** @type {any} */ given) => html`
                <input ...${given} type="text" dir="auto" autocomplete="off" value=${typed}
                    onInput=${(/** @type {any} */ event) => setTyped(event.target.value)} />`} />
            <${Failure} error=${end.error} />
        </form>
    </${Dialog}>`;
}
