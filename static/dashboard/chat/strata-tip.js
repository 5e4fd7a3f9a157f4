/** What is told of a cell beside it, while it is pointed at or has the focus. Its accessible name says the same. */
import { html, useLayoutEffect, useRef } from '../vendor/htm-preact.js';
import { MARKS, KINDS, marksOf, measures, titleOf } from './strata-words.js';

const AWAY = 6; // pixels from the cell

/** @param {{cell: import('./strata-layout.js').Cell, band: import('./strata-layout.js').Band, single: boolean,
 *   root: {current: any}}} props */
export function Tip({ cell, band, single, root }) {
    const box = useRef(/** @type {any} */ (null));
    useLayoutEffect(() => place(root.current, box.current, cell.key));
    const about = MARKS[cell.marks[0]]?.about ?? KINDS[cell.kind]?.about;
    const doing = cell.kind === 'snippet' ? 'Open it to read it.' : 'Leads to the messages.';
    return html`<span class="strata-tip" ref=${box} aria-hidden="true">
        <strong>${titleOf(cell, band, single)}</strong>
        <span>${measures(cell).join(' · ')}</span>
        ${marksOf(cell).length > 0 && html`<span>${marksOf(cell).join(' · ')}</span>`}
        <span class="quiet-text">${about ?? doing}</span>
    </span>`;
}

/** Above the cell, inside the picture. @param {HTMLElement} root @param {HTMLElement} box @param {string} key */
function place(root, box, key) {
    const cell = /** @type {HTMLElement|undefined} */ (
        [.../** @type {any} */ (root.querySelectorAll('[data-key]'))].find((one) => one.dataset.key === key));
    if (!cell) return;
    const [frame, at] = [root.getBoundingClientRect(), cell.getBoundingClientRect()];
    const left = at.left - frame.left + (at.width - box.offsetWidth) / 2;
    box.style.left = `${Math.max(0, Math.min(left, frame.width - box.offsetWidth))}px`;
    box.style.top = `${at.top - frame.top - box.offsetHeight - AWAY}px`;
}
