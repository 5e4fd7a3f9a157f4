/** What can be done with a snippet: edit, make anew, delete; each can be taken back. */
import { html, useEffect, useRef, useState } from '../vendor/htm-preact.js';
import { notify, useAction } from '../actions.js';
import { part } from '../../turnfold.js';
import { Button, Confirm, Progress } from '../parts.js';
import { chat, turnfold } from '../server.js';
import { notifyStep, useUndo } from './snippet-steps.js';
import { afterDeletion, allowed, endOf } from './snippet-words.js';

/** @param {any} props see SnippetPanel */
export function SnippetActions({ chat: id, snippet, etag, strategy, draft, onClose, onChanged }) {
    const { edit, regenerate, remove } = allowed(snippet, strategy);
    const [asks, setAsks] = useState(false);
    const undo = useUndo(id, onChanged);
    const anew = useRegeneration(id, snippet.id, undo.run, onChanged);
    const gone = useAction(async () => {
        setAsks(false);
        await chat(id).request('DELETE', `/snippets/${part(snippet.id)}`, { headers: { 'If-Match': etag } });
        onClose();
        onChanged();
        notifyStep(id, 'The snippet is deleted: its messages are visible again.', undo.run);
    });
    if (draft.open) return null;
    return html`
        ${anew.job ? html`<div class="snippet-at-work" role="status">
            <${Progress} label="Writing it anew" value=${null} text="Writing it anew. Until then the text stays." />
            <${Button} busy=${anew.stop.busy} onClick=${anew.stop.run}>Stop</${Button}>
        </div>` : html`<div class="actions">
            ${edit && html`<${Button} onClick=${draft.begin}>Edit</${Button}>`}
            ${regenerate && html`<${Button} busy=${anew.begin.busy} onClick=${anew.begin.run}>Write anew</${Button}>`}
            ${remove && html`<${Button} kind="danger" busy=${gone.busy} onClick=${() => setAsks(true)}>
                Delete</${Button}>`}
        </div>`}
        ${asks && html`<${Confirm} title="Delete this snippet?" yes="Delete" busy=${gone.busy} onYes=${gone.run}
            onClose=${() => setAsks(false)} text=${afterDeletion(snippet)} />`}`;
}

/** Has a snippet written anew, and follows the job. @param {string} id of the chat @param {string} snippet
 *  @param {() => void} back undoes it @param {() => void} onChanged */
function useRegeneration(id, snippet, back, onChanged) {
    const [job, setJob] = useState(/** @type {string|null} */ (null));
    const cut = useRef(/** @type {AbortController|null} */ (null));
    useEffect(() => () => cut.current?.abort(), []);
    const begin = useAction(async () => {
        const { job: begun } = await chat(id).request('POST', `/snippets/${part(snippet)}/regenerate`);
        setJob(begun.id);
        void follow(begun.id);
    });
    /** @param {string} begun */
    const follow = async (begun) => {
        const mine = cut.current = new AbortController();
        const ended = await turnfold.follow(begun, { signal: mine.signal }).catch(() => null);
        if (mine.signal.aborted) return;
        setJob(null);
        onChanged();
        if (!ended) return;
        if (ended.state === 'succeeded' && !endOf(ended)) notifyStep(id, 'It is written anew.', back);
        else notify(endOf(ended), ended.state === 'cancelled' ? 'done' : 'error', undefined, begun);
    };
    const stop = useAction(() => turnfold.request('POST', `/jobs/${job}/cancel`));
    return { job, begin, stop };
}
