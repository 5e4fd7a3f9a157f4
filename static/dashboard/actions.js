/** Doing something, once at a time, and telling how it went. */
import { useEffect, useRef, useState } from './vendor/htm-preact.js';
import { asksForKey, detailOf } from './server.js';

/** `about`: what it tells of; `place`: the page that it was told on.
 *  @typedef {{id: number, text: string, kind: 'done'|'error', undo?: () => void, about: string,
 *    place: string}} Notice */

const SHOWN_MS = 8000; // an error stays until it is closed
const MOST = 3;
const told = new EventTarget();
let notices = /** @type {Notice[]} */ ([]);
let last = 0;

/** @param {Notice[]} now */
function show(now) {
    notices = now;
    told.dispatchEvent(new Event('notices'));
}

/** @param {number} id */
export const dismiss = (id) => show(notices.filter((notice) => notice.id !== id));

/** The page one is on, whatever its query. */
const here = () => location.hash.split('?')[0];

/** Tells at the page's foot what was done, or what went wrong; `undo` is offered beside it. What is told of the same
 *  thing, e.g. a job's id, is told once: the newest; each undo stays. Success is no news any more on another page.
 *  @param {string} text @param {'done'|'error'} [kind] @param {() => void} [undo] @param {string} [about] */
export function notify(text, kind = 'done', undo, about = text) {
    const id = last += 1;
    const others = notices.filter((notice) => notice.undo || (notice.text !== text && notice.about !== about));
    show([...others.slice(1 - MOST), { id, text, kind, undo, about, place: here() }]);
    if (kind === 'done') setTimeout(() => dismiss(id), SHOWN_MS);
}

/** Takes away the successes that were told on other pages. */
export function leavePage() {
    const left = notices.filter(({ kind, place }) => kind === 'error' || place === here());
    if (left.length < notices.length) show(left);
}

/** @returns {Notice[]} */
export function useNotices() {
    const [now, setNow] = useState(notices);
    useEffect(() => {
        const look = () => setNow(notices);
        told.addEventListener('notices', look);
        return () => told.removeEventListener('notices', look);
    }, []);
    return now;
}

/**
 * Something to do when asked: `run` does it unless it is being done, `busy` says so, `error` is what it failed with.
 * A failure is also told at the page's foot, unless `quiet`. What still runs when the part goes is not cut, unless its
 * `signal` is used.
 *
 *     const pause = useAction(() => chat(id).request('POST', '/pause'), { done: 'Paused.' });
 *     html`<${Button} busy=${pause.busy} onClick=${pause.run}>Pause</${Button}>`
 *
 * @template {any[]} A @template R @param {(...given: A) => Promise<R>} act
 * @param {{done?: string | ((result: R) => string|null), quiet?: boolean}} [options] `done`: what to tell after it
 * @returns {{run: (...given: A) => Promise<R|undefined>, busy: boolean, error: any, forget: () => void}}
 */
export function useAction(act, { done, quiet = false } = {}) {
    const [state, setState] = useState(/** @type {{busy: boolean, error: any}} */ ({ busy: false, error: null }));
    const running = useRef(false);
    /** @param {A} given */
    const run = async (...given) => {
        if (running.current) return undefined;
        running.current = true;
        setState({ busy: true, error: null });
        try {
            const result = await act(...given);
            const text = typeof done === 'function' ? done(result) : done;
            if (text) notify(text);
            setState({ busy: false, error: null });
            return result;
        } catch (error) {
            setState({ busy: false, error });
            const cut = /** @type {any} */ (error)?.code === 'aborted';
            if (!asksForKey(error) && !quiet && !cut) notify(detailOf(error), 'error');
            return undefined;
        } finally {
            running.current = false;
        }
    };
    return { run, ...state, forget: () => setState({ busy: false, error: null }) };
}
