/** Forgetting the memory of a chat, and deleting the chat. */
import { html, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { counted, nameOf } from '../format.js';
import { Button, Confirm, Dialog, Failure, Section } from '../parts.js';
import { go } from '../router.js';
import { chat } from '../server.js';
import { TextLine } from './care-text.js';

/** @param {import('./page.js').ChatProps} props */
export function Ending(props) {
    const [asks, setAsks] = useState('');
    const close = () => setAsks('');
    return html`<${Section} title="Starting over">
        <ul class="bare care-rows">
            <${Way} name="Clear the memory"
                about="Every snippet is forgotten; every message stays and is visible again."
                onClick=${() => setAsks('clear')} />
            <${Way} name="Delete the chat" about="Its messages and its memory go for good."
                onClick=${() => setAsks('delete')} />
        </ul>
        ${asks === 'clear' && html`<${Clear} ...${props} onClose=${close} />`}
        ${asks === 'delete' && html`<${Delete} ...${props} onClose=${close} />`}
    </${Section}>`;
}

/** @param {any} props */
const Way = ({ name, about, onClick }) => html`<li>
    <p class="hint">${about}</p>
    <${Button} kind="danger" onClick=${onClick}>${name}</${Button}>
</li>`;

/** @param {any} props */
function Clear({ id, status, reload, onClose }) {
    const clear = useAction(async () => {
        const { cleared_snippets: gone, unghosted_messages: visible } = await chat(id).request('POST', '/clear');
        onClose();
        reload();
        return `Forgot ${counted(gone, 'snippet')}; ${counted(visible, 'message')} visible again.`;
    }, { done: (said) => said });
    const text = `No message is lost: ${counted(status.counts.ghosted, 'message')} that snippets stand for now are sent`
        + ' word for word again, and the next message folds from the beginning. What people wrote into snippets'
        + ' cannot be brought back.';
    return html`<${Confirm} title="Clear the memory?" yes="Clear it" text=${text} busy=${clear.busy} onYes=${clear.run}
        onClose=${onClose} />`;
}

/** @param {any} props */
function Delete({ id, chat: about, onClose }) {
    const [typed, setTyped] = useState('');
    const name = nameOf(about);
    const same = typed.trim() === name.trim();
    const end = useAction(async () => {
        await chat(id).request('DELETE', '', { timeout: 0 });
        go([]);
    }, { done: 'The chat is deleted.', quiet: true });
    /** @param {any} event */
    const onSubmit = (event) => { event.preventDefault(); if (same) void end.run(); };
    return html`<${Dialog} title="Delete this chat for good?" onClose=${onClose} foot=${html`
        <${Button} onClick=${onClose}>Cancel</${Button}>
        <${Button} kind="danger" busy=${end.busy} disabled=${!same} onClick=${end.run}>Delete for good</${Button}>`}>
        <p>${counted(about.counts.messages, 'message')} and all memory of them will be gone. Only a file that you export
            before can bring them back.</p>
        <form onSubmit=${onSubmit}>
            <${TextLine} label="To be sure, type its name" hint=${html`<bdi>${name}</bdi>`} dir="auto" value=${typed}
                onText=${setTyped} />
            <${Failure} error=${end.error} />
        </form>
    </${Dialog}>`;
}
