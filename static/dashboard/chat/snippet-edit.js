/** Editing a snippet: what is typed stays whatever happens, and nobody's words are overwritten unseen. */
import { html, useEffect, useRef, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { TurnfoldError, part } from '../../turnfold.js';
import { Button, Failure, Field, Note } from '../parts.js';
import { chat, useLoad } from '../server.js';
import { readSnippet } from './snippet-read.js';
import { notifyStep, useUndo } from './snippet-steps.js';

/** @typedef {{text: string, etag: string, base: string}} Draft `etag`, `base`: of the text that it began from */
/** @type {Map<string, Draft>} drafts that are not saved yet, by chat and snippet: they outlive the panel */
const drafts = new Map();

/** The draft of a snippet, if there is one. @param {string} id of the chat
 *  @param {import('./snippet-words.js').Snippet} snippet @param {string} etag */
export function useDraft(id, snippet, etag) {
    const key = `${id}/${snippet.id}`;
    const [draft, setDraft] = useState(drafts.get(key));
    /** @param {Draft|undefined} next */
    const keep = (next) => {
        if (next) drafts.set(key, next);
        else drafts.delete(key);
        setDraft(next);
    };
    return {
        open: !!draft, text: draft?.text ?? '', etag: draft?.etag ?? etag, base: draft?.base ?? '',
        begin: () => keep({ text: snippet.text, etag, base: snippet.text }),
        type: (/** @type {string} */ text) => draft && keep({ ...draft, text }),
        end: () => keep(undefined),
    };
}

/** @param {{chat: string, snippet: import('./snippet-words.js').Snippet, draft: ReturnType<typeof useDraft>,
 *   onChanged: () => void}} props */
export function Editor({ chat: id, snippet, draft, onChanged }) {
    const undo = useUndo(id, onChanged);
    const box = useRef(/** @type {any} */ (null));
    useEffect(() => box.current.focus(), []);
    const save = useAction(async (/** @type {string} */ etag) => {
        const body = { text: draft.text };
        await chat(id).request('PATCH', `/snippets/${part(snippet.id)}`, { body, headers: { 'If-Match': etag } });
        draft.end();
        onChanged();
        notifyStep(id, 'The text is changed.', undo.run);
    }, { quiet: true });
    const clash = save.error instanceof TurnfoldError && save.error.status === 412;
    const mine = () => save.run(draft.etag);
    const onInput = (/** @type {any} */ event) => draft.type(event.target.value);
    const control = (/** @type {any} */ given) => html`<textarea ...${given} dir="auto" value=${draft.text}
        maxlength="65536" ref=${box} onInput=${onInput}></textarea>`;
    return html`<div class="snippet-editor">
        <${Field} label="Text" control=${control} hint="It is sent from now on, and never replaced unasked." />
        ${clash && html`<${Clash} chat=${id} snippet=${snippet} draft=${draft} busy=${save.busy} onMine=${save.run}
            onChanged=${onChanged} />`}
        ${!clash && html`<${Failure} error=${save.error} />`}
        ${!clash && html`<div class="actions">
            <${Button} kind="primary" busy=${save.busy} disabled=${!draft.text.trim()} onClick=${mine}>Save</${Button}>
            <${Button} onClick=${draft.end}>Cancel</${Button}>
        </div>`}
    </div>`;
}

/** Somebody else has changed it meanwhile: both texts, and the choice. @param {any} props */
function Clash({ chat: id, snippet, draft, busy, onMine, onChanged }) {
    const read = (/** @type {AbortSignal} */ signal) => readSnippet(id, snippet.id, signal);
    const { data: now, error, reload } = useLoad(read, [id, snippet.id], { chat: id });
    const theirs = () => { draft.end(); onChanged(); };
    return html`<${Note} kind="warning">
        <p>The snippet was changed while you wrote. Above is your text; this is the one that is there now:</p>
        <p class="said snippet-text">${now?.snippet.text ?? '…'}</p>
        <${Failure} error=${error} retry=${reload} />
        <div class="actions">
            <${Button} kind="primary" busy=${busy} disabled=${!now} onClick=${() => onMine(now?.etag)}>
                Save mine over it</${Button}>
            <${Button} onClick=${theirs}>Keep that one</${Button}>
        </div>
    </${Note}>`;
}
