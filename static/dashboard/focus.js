/** The focus of a part of a page: it is not lost where what had it goes. */
import { useEffect } from './vendor/htm-preact.js';

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
        const observer = new MutationObserver(() => {
            if (!last || last.isConnected || document.activeElement !== document.body) return;
            last = null;
            next()?.focus({ preventScroll: true });
        });
        part.addEventListener('focusin', onFocus);
        observer.observe(part, { childList: true, subtree: true });
        return () => { part.removeEventListener('focusin', onFocus); observer.disconnect(); };
    }, []);
}
