/** What can be done with one message of the history. */
import { html } from '../vendor/htm-preact.js';
import { notify, useAction } from '../actions.js';
import { number } from '../format.js';
import { Button } from '../parts.js';
import { amend } from '../router.js';
import { chat, detailOf } from '../server.js';

/** The marks that can be set or taken away: a key, what the button says, the change, and what is told of it.
 *  @param {any} message @returns {[string, string, object, string][]} */
const marksOf = ({ pinned, hidden, history }) => [
    pinned ? ['pin', 'Unpin', { pinned: false }, 'is no longer pinned.']
        : ['pin', 'Pin', { pinned: true }, 'is pinned: always sent word for word.'],
    hidden ? ['hide', 'Show', { hidden: false }, 'is shown again.']
        : ['hide', 'Hide', { hidden: true }, 'is hidden: never sent, never folded.'],
    history === 'omit' ? ['omit', 'Keep in the story', { history: 'keep' }, 'is part of the story again.']
        : ['omit', 'Omit from the story', { history: 'omit' }, 'is omitted: it was no part of the story.'],
];

/** @param {{id: string, message: any, strategy: string, first: number|null, onDone: () => void,
 *  onAsk: (what: 'edit'|'versions'|'fork', message: any) => void}} props `onAsk`: opens the dialog of that name */
export function MessageActions({ id, message, strategy, first, onDone, onAsk }) {
    const { index } = message;
    const change = useAction(async (/** @type {object} */ fields, /** @type {string} */ text) => {
        await chat(id).edit(message.id, fields);
        notify(`#${number(index)} ${text}`);
        onDone();
    });
    const remove = useAction(async () => {
        await chat(id).remove(message.id);
        notify(`#${number(index)} is deleted, and kept for 30 days.`, 'done', () => restore(id, message.id, onDone));
        onDone();
    });
    const byHand = strategy === 'layered' && !message.ghosted;
    return html`<div class="actions message-actions" role="group" aria-label=${`Message ${number(index)}`}>
        <${Button} onClick=${() => onAsk('edit', message)}>Edit</${Button}>
        ${marksOf(message).map(([key, label, fields, text]) => html`<${Button} key=${key} busy=${change.busy}
            onClick=${() => change.run(fields, text)}>${label}</${Button}>`)}
        <${Button} onClick=${() => onAsk('versions', message)}>Earlier texts</${Button}>
        ${byHand && html`
            <${Button} onClick=${() => amend({ first: index, last: null })}>Begin a snippet here</${Button}>`}
        ${byHand && first !== null && index >= first && html`
            <${Button} onClick=${() => amend({ last: index })}>End the snippet here</${Button}>`}
        <${Button} onClick=${() => onAsk('fork', message)}>Fork from here</${Button}>
        <${Button} kind="danger" busy=${remove.busy} onClick=${remove.run}>Delete</${Button}>
    </div>`;
}

/** Brings a deleted message back, and says how that went.
 *  @param {string} id @param {string} message @param {() => void} onDone */
export async function restore(id, message, onDone) {
    try {
        const { index } = await chat(id).request('POST', `/messages/${encodeURIComponent(message)}/restore`);
        notify(`#${number(index)} is back.`);
        onDone();
    } catch (error) {
        notify(detailOf(error), 'error');
    }
}
