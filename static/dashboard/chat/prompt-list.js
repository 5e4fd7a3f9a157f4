/** A prompt, message by message, with what is left out at its place. */
import { html, useRef, useState } from '../vendor/htm-preact.js';
import { counted, number, places } from '../format.js';
import { Badge, Button } from '../parts.js';
import { href } from '../router.js';
import { Calls, LongText } from './messages-text.js';
import { REASONS, ends, tokensOf } from './prompt-rows.js';

const MORE = 50;
const RANGES = 50; // of one gap that are listed
const FRAME = '(What the system message costs by itself; the memory stands in it.)';
const EMPTY = 'Nothing is sent yet: the chat has no messages, and there is no system prompt.';
/** @type {Record<string, string>} */
const PARTS = {
    system: 'System', pinned: 'Pinned', memory: 'Memory', history: 'History', frame: 'Frame', current: 'Current',
    opening: 'Opening',
};

/** @param {{id: string, rows: (import('./prompt-rows.js').PieceRow|import('./prompt-rows.js').GapRow)[]}} props */
export function PromptList({ id, rows }) {
    const [shown, setShown] = useState({ head: MORE, tail: MORE });
    const list = useRef(/** @type {any} */ (null));
    const { head, rest, tail } = ends(rows, shown);
    if (!rows.length) return html`<p class="empty">${EMPTY}</p>`;
    const more = (/** @type {'head'|'tail'} */ end) => {
        setShown({ ...shown, [end]: shown[end] + MORE });
        if (rest.length <= MORE) list.current.focus(); // the button goes
    };
    const next = Math.min(MORE, rest.length);
    return html`<ol class="prompt" ref=${list} tabindex="-1">
        ${head.map((row) => html`<${Row} key=${row.key} id=${id} row=${row} />`)}
        ${rest.length > 0 && html`<li key="rest" class="rest">
            <p><strong>${counted(rest.length, 'more row')}</strong>, ${counted(tokensOf(rest), 'token')}. They are
                part of the prompt, and not shown here yet.</p>
            <div class="actions">
                <${Button} onClick=${() => more('head')}>Show the next ${next}</${Button}>
                <${Button} onClick=${() => more('tail')}>Show the last ${next} of them</${Button}>
            </div>
        </li>`}
        ${tail.map((row) => html`<${Row} key=${row.key} id=${id} row=${row} />`)}
    </ol>`;
}

/** @param {{id: string, row: any}} props */
const Row = ({ id, row }) => (row.gap ? html`<${Gap} id=${id} gap=${row} />`
    : html`<${Piece} id=${id} piece=${row.piece} />`);

/** @param {{id: string, piece: import('./prompt-rows.js').Piece}} props */
const Piece = ({ id, piece }) => html`
    <li class=${`piece ${piece.part}`}>
        <header>
            <span class="part">${PARTS[piece.part] ?? piece.part}</span>
            <span class="role">${piece.role}</span>
            ${piece.name && html`<bdi class="who one-line">${piece.name}</bdi>`}
            ${piece.index !== null && html`
                <a href=${href(['chats', id, 'messages'], { at: piece.index })}>#${number(piece.index)}</a>`}
            ${piece.part === 'memory' && html`<a href=${href(['chats', id, 'memory'])}>See its layers</a>`}
            <span class="weight">${counted(piece.tokens, 'token')}</span>
        </header>
        ${piece.content ? html`<${LongText} text=${piece.content} />`
            : !piece.tool_calls && html`<p class="quiet-text">${piece.part === 'system' ? FRAME : '(no text)'}</p>`}
        <${Calls} calls=${piece.tool_calls} />
    </li>`;

/** @param {{id: string, gap: import('./prompt-rows.js').GapRow}} props */
const Gap = ({ id, gap }) => html`
    <li class="gap">
        <p><a href=${href(['chats', id, 'messages'], { at: gap.first })}>${places(gap.first, gap.last)}</a>
            ${gap.first === gap.last ? ' is not sent' : ' are not sent'}</p>
        <ul class="reasons">${gap.reasons.map(([reason, count]) => html`<li key=${reason}>
            <${Badge} kind=${reason === 'trimmed' || reason === 'orphan' ? 'warn' : 'plain'}>${reason}</${Badge}>
            ${` ${counted(count, 'message')}: ${REASONS[reason] ?? reason}`}
            ${reason === 'ghosted' && html` (<a href=${href(['chats', id, 'memory'])}>the picture</a>)`}</li>`)}</ul>
        ${gap.ranges.length > 1 && html`<${Ranges} ranges=${gap.ranges} />`}
    </li>`;

/** @param {{ranges: import('./prompt-rows.js').Range[]}} props */
const Ranges = ({ ranges }) => html`<details><summary>${counted(ranges.length, 'stretch', 'stretches')}</summary>
    <p class="hint">${ranges.slice(0, RANGES)
        .map((one) => `${places(one.first_index, one.last_index)} ${one.reason}`).join(' · ')}
        ${ranges.length > RANGES && ` and ${number(ranges.length - RANGES)} more`}</p></details>`;
