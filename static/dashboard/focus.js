/** The focus of a part of a page: it is not lost where what had it goes. */
import { html, useEffect, useRef } from './vendor/htm-preact.js';

/**
 * Gives the focus on when what had it in a part of the page has gone, and nothing else has taken it.
 * @param {{current: any}} box the part, there from the first drawing on
 * @param {(box: any, last: HTMLElement) => () => HTMLElement|null} after asked while `last` has the focus; what it
 *   answers is asked when `last` has gone
 */
export function useFocusKept(box, after) {
    useEffect(() => {
        const part = box.current;
        let last = /** @type {HTMLElement|null} */ (null);
        let next = /** @type {() => HTMLElement|null} */ (() => null);
        const onFocus = (/** @type {any} */ { target }) => {
            last = target;
            next = after(part, target);
        };
        // What is pressed again and again has the focus since the first time.
        const onClick = () => part.contains(document.activeElement) && onFocus({ target: document.activeElement });
        // Whoever left it for nothing has let it go; what is taken away while it has the focus is not connected then.
        const onOut = (/** @type {any} */ { target, relatedTarget }) => queueMicrotask(() => {
            if (!relatedTarget && target.isConnected) last = null;
        });
        const observer = new MutationObserver(() => {
            if (!last || last.isConnected || document.activeElement !== document.body) return;
            last = null;
            next()?.focus({ preventScroll: true });
        });
        part.addEventListener('focusin', onFocus);
        part.addEventListener('click', onClick);
        part.addEventListener('focusout', onOut);
        observer.observe(part, { childList: true, subtree: true });
        return () => {
            part.removeEventListener('focusin', onFocus);
            part.removeEventListener('click', onClick);
            part.removeEventListener('focusout', onOut);
            observer.disconnect();
        };
    }, []);
}

/** A list whose items may go, and the button below it that brings more: the focus goes on to the item that comes in
 *  the place, else to the one before. @param {{children?: any}} props */
export function FocusInList({ children }) {
    const box = useRef(null);
    useFocusKept(box, nextItem);
    return html`<div class="as-if-not-there" ref=${box}>${children}</div>`;
}

const CAN = 'a[href], button:not([disabled]), summary';

/** @param {HTMLElement} box @param {HTMLElement} last @returns {() => HTMLElement|null} */
function nextItem(box, last) {
    const items = () => [...box.querySelectorAll('li')].filter((item) => item.querySelector(CAN));
    const before = items();
    const own = before.findIndex((item) => item.contains(last));
    const place = own < 0 ? before.length : own; // the button below the list: the first that it brought
    return () => {
        const now = items();
        return (now[place] ?? now.at(-1))?.querySelector(CAN) ?? document.getElementById('main');
    };
}
