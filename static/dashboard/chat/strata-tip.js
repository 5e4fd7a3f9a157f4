/** What is told of a cell beside it, while it is pointed at or has the focus. Its accessible name says the same. */
import { html, useEffect, useLayoutEffect, useRef, useState } from '../vendor/htm-preact.js';
import { MARKS, KINDS, marksOf, measures, titleOf } from './strata-words.js';

const AWAY = 6; // pixels from the bands
const REST_MS = 300; // of a pointer, before it is told of what is under it
const TOP = 64; // pixels of a page that its head covers

/**
 * Of which cell is told: of the one that the keyboard has come to, or that a pointer has moved to. What comes under a
 * pointer that stands still is not told of, and a key or scrolling takes the tip away.
 */
export function useTip() {
    const [tip, setTip] = useState({ key: '', hovered: false });
    const asked = useRef({ key: '', timer: 0 });
    const ask = (/** @type {string} */ key) => {
        clearTimeout(asked.current.timer);
        asked.current.key = key;
    };
    const show = (/** @type {string} */ key, hovered = false) =>
        setTip((now) => (now.key === key && now.hovered === hovered ? now : { key, hovered }));
    const hide = () => { clearTimeout(asked.current.timer); show(''); };
    const leave = () => {
        ask('');
        setTip((now) => (now.hovered ? { key: '', hovered: false } : now));
    };
    useEffect(() => {
        addEventListener('scroll', leave, { passive: true, capture: true });
        addEventListener('keydown', hide, { capture: true }); // before the keys of the picture, which show another
        return () => {
            clearTimeout(asked.current.timer);
            removeEventListener('scroll', leave, { capture: true });
            removeEventListener('keydown', hide, { capture: true });
        };
    }, []);
    return {
        key: tip.key,
        hide,
        onFocus: (/** @type {any} */ { target }, /** @type {string} */ key) => {
            clearTimeout(asked.current.timer);
            if (target.matches(':focus-visible')) show(key);
        },
        onMove: (/** @type {PointerEvent} */ event, /** @type {string} */ under) => {
            if (event.pointerType === 'touch' || !(event.movementX || event.movementY)) return;
            const inTip = /** @type {Element} */ (event.target).closest('.strata-tip');
            const key = inTip ? tip.key : under;
            if (asked.current.key === key) return;
            ask(key);
            asked.current.timer = setTimeout(() => show(key, true), REST_MS);
        },
        onLeave: leave,
    };
}

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

/** Above or below all bands, whichever is nearer to the cell, so that no row and no name of one is covered; beside the
 *  cell where neither is in sight. @param {HTMLElement} root @param {HTMLElement} box @param {string} key */
function place(root, box, key) {
    const cell = [.../** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll('[data-key]'))]
        .find((one) => one.dataset.key === key);
    if (!cell) return;
    const [frame, at] = [root.getBoundingClientRect(), cell.getBoundingClientRect()];
    const left = at.left - frame.left + (at.width - box.offsetWidth) / 2;
    const high = box.offsetHeight + AWAY;
    const seen = [frame.top - high, frame.bottom + AWAY]
        .filter((top) => top >= TOP && top + box.offsetHeight <= innerHeight)
        .sort((one, other) => Math.abs(one - at.top) - Math.abs(other - at.top));
    const beside = at.top - high >= TOP ? at.top - high : at.bottom + AWAY;
    box.style.left = `${Math.max(0, Math.min(left, frame.width - box.offsetWidth))}px`;
    box.style.top = `${(seen[0] ?? beside) - frame.top}px`;
}
