/** One snippet: what it says, where it comes from, what is under it, and what can be done with it. */
import { html, useEffect, useRef } from '../vendor/htm-preact.js';
import { ago, date } from '../format.js';
import { Badge, Button, Failure, Loading } from '../parts.js';
import { useFocusKept } from '../focus.js';
import { useLoad } from '../server.js';
import { SnippetActions } from './snippet-actions.js';
import { Editor, useDraft } from './snippet-edit.js';
import { readSnippet } from './snippet-read.js';
import { Originals, Parts, Versions } from './snippet-under.js';
import { coverOf, costOf, originOf, sizeOf, stateOf, titleOf } from './snippet-words.js';
import { MARKS } from './strata-words.js';

/**
 * @param {{chat: string, id: string, strategy: string, memory: number, onOpen: (id: string) => void,
 *   onClose: () => void, onChanged: () => void}} props `strategy` of the chat; `onChanged`: the memory has changed
 */
export function SnippetPanel({ chat, id, strategy, memory, onOpen, onClose, onChanged }) {
    const box = useRef(/** @type {any} */ (null));
    const read = (/** @type {AbortSignal} */ signal) => readSnippet(chat, id, signal);
    const { data, error, reload } = useLoad(read, [chat, id], { chat }, { keep: true });
    const found = data?.snippet.id === id ? data : null;
    const shown = !!found || !!error;
    useEffect(() => {
        if (shown) box.current?.querySelector('h3')?.focus();
    }, [id, shown]);
    useFocusKept(box, nextIn);
    const onKeyDown = (/** @type {any} */ event) => {
        if (event.key === 'Escape' && event.target.tagName !== 'TEXTAREA') onClose();
    };
    const changed = () => { reload(); onChanged(); };
    return html`<section class="snippet-panel" aria-label="Snippet" ref=${box} onKeyDown=${onKeyDown}>
        <header class="section-head">
            <h3 tabindex="-1">${found ? titleOf(found.snippet) : error ? 'Not found' : 'Snippet'}</h3>
            <${Button} kind="quiet" aria-label="Close the snippet" onClick=${onClose}>✕</${Button}>
        </header>
        ${!shown && html`<${Loading} />`}
        <${Failure} error=${error} retry=${reload} />
        ${found && html`<${Body} key=${id} chat=${chat} ...${found} strategy=${strategy} memory=${memory}
            onOpen=${onOpen} onClose=${onClose} onChanged=${changed} />`}
    </section>`;
}

/** What has the focus after something of the panel: the title of the part it was in, else what can be done, else the
 *  heading. @param {HTMLElement} panel @param {HTMLElement} last @returns {() => HTMLElement|null} */
function nextIn(panel, last) {
    const fold = last.closest('details');
    const next = '.snippet-editor textarea, .snippet-at-work button, .actions button';
    return () => (fold?.isConnected ? fold.querySelector('summary') : null)
        ?? panel.querySelector(next) ?? panel.querySelector('h3');
}

/** @param {any} props */
function Body({ chat, snippet, etag, strategy, memory, onOpen, onClose, onChanged }) {
    const draft = useDraft(chat, snippet, etag);
    return html`
        ${snippet.parent_id && html`<p><${Button} kind="quiet up" onClick=${() => onOpen(snippet.parent_id)}>
            ↑ ${snippet.state === 'superseded' ? 'The summary after it' : 'The snippet it is part of'}</${Button}></p>`}
        ${stateOf(snippet) && html`<p class="about"><${Badge}>${snippet.state}</${Badge}> ${stateOf(snippet)}</p>`}
        ${draft.open && html`<${Editor} chat=${chat} snippet=${snippet} draft=${draft} onChanged=${onChanged} />`}
        ${!draft.open && html`<p class="said snippet-text">${snippet.text}</p>`}
        <${Marks} snippet=${snippet} />
        <${SnippetActions} chat=${chat} snippet=${snippet} etag=${etag} strategy=${strategy} draft=${draft}
            onClose=${onClose} onChanged=${onChanged} />
        <${Facts} snippet=${snippet} />
        <${Parts} chat=${chat} snippet=${snippet} onOpen=${onOpen} />
        <${Originals} chat=${chat} snippet=${snippet} version=${memory} />
        <${Versions} chat=${chat} snippet=${snippet} etag=${etag} />`;
}

/** @param {{snippet: import('./snippet-words.js').Snippet}} props */
function Marks({ snippet }) {
    const { stale, degraded, kind, edited_at: edited } = snippet;
    const byHand = kind === 'manual';
    const marks = [stale && 'stale', degraded && 'degraded', edited && !byHand && 'edited', byHand && 'manual'];
    const there = /** @type {string[]} */ (marks.filter(Boolean));
    if (!there.length) return null;
    return html`<ul class="snippet-marks">${there.map((mark) => html`<li key=${mark}>
        <${Badge} kind=${mark === 'stale' || mark === 'degraded' ? 'warn' : 'plain'}>${MARKS[mark].word}</${Badge}>
        ${' '}${MARKS[mark].about}</li>`)}</ul>`;
}

/** @param {{snippet: import('./snippet-words.js').Snippet}} props */
function Facts({ snippet }) {
    const { connection, model, created_at: created, edited_at: edited } = snippet;
    const by = [connection, model].filter(Boolean).join(', ');
    /** @type {[string, any][]} */
    const facts = [
        ['Stands for', coverOf(snippet)], ['Size', sizeOf(snippet)], ['Origin', originOf(snippet)],
        ['Written by', by && html`<bdi>${by}</bdi>`], ['Cost', costOf(snippet)],
        ['Made', html`<time datetime=${created} title=${date(created)}>${ago(created)}</time>`],
        ['Edited', edited && html`<time datetime=${edited} title=${date(edited)}>${ago(edited)}</time>`],
    ];
    return html`<dl class="snippet-facts">${facts.filter(([, value]) => value).map(([name, value]) => html`
        <div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}
