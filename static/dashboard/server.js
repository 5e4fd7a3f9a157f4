/** The server, the key that opens it, and what was read of it. */
import { useCallback, useEffect, useRef, useState } from './vendor/htm-preact.js';
import { Turnfold, TurnfoldError } from '../turnfold.js';
import { useNews } from './news.js';

const KEY = 'turnfold.key';
const REST_MS = 400; // between two readings of the same thing, however much happens
const REST_SHARE = 4; // times what a reading took: a page that is costly to read keeps nothing else waiting
const locked = new EventTarget();

const kept = sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY) ?? '';
export const turnfold = new Turnfold({ server: location.origin, key: kept });

/** A chat. @param {string} id */
export const chat = (id) => turnfold.chat(id);

/** How the server and its connections are: the answer of /readyz.
 *  @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function health(signal) {
    const answer = await turnfold.fetch('/readyz', { signal, cache: 'no-store' });
    return answer.json();
}

/** Opens the server with a key. @param {string} key @param {boolean} [keep] on this device, not for this tab alone */
export function unlock(key, keep = false) {
    turnfold.key = key.trim();
    sessionStorage.setItem(KEY, turnfold.key);
    if (keep) localStorage.setItem(KEY, turnfold.key);
    else localStorage.removeItem(KEY);
}

/** Whether a call failed for want of the right key; if so, the page asks for it. @param {unknown} error */
export function asksForKey(error) {
    const asks = error instanceof TurnfoldError && error.status === 401;
    if (asks) locked.dispatchEvent(new Event('locked'));
    return asks;
}

/** @param {() => void} told when the server wants a key */
export function onLocked(told) {
    locked.addEventListener('locked', told);
    return () => locked.removeEventListener('locked', told);
}

/** What to tell of anything that was thrown, for people. @param {unknown} error */
export const detailOf = (error) => (error instanceof TurnfoldError ? error.detail : String(error));

/**
 * Something read of the server, kept up to date: read anew when `deps` change and when news concern it, never twice at
 * once, and not more often than every 400 ms. What was read stays while it is read anew for news' sake, and with `keep`
 * also while it is read for other `deps`.
 *
 *     const { data, error, loading, reload } = useLoad((signal) => chat(id).status({ signal }), [id], { chat: id });
 *
 * @template T @param {(signal: AbortSignal) => Promise<T>} load
 * @param {unknown[]} deps something else is read when they change
 * @param {{chat?: string, kinds?: string[]}|null} [about] the news that concern it (see useNews); null: none
 * @param {{keep?: boolean, rest?: number}} [options] `rest`: at least so many milliseconds between two readings
 * @returns {{data: T|null, error: any, loading: boolean, reload: () => void}}
 */
export function useLoad(load, deps, about = null, { keep = false, rest = REST_MS } = {}) {
    const [state, setState] = useState(/** @type {any} */ ({ data: null, error: null, loading: true }));
    const reader = useRef(/** @type {any} */ (null));
    reader.current ??= new Reader(setState);
    reader.current.load = load;
    reader.current.rest = rest;
    useEffect(() => {
        reader.current.begin(keep);
        return () => reader.current.end();
    }, deps);
    const reload = useCallback(() => reader.current.again(), []);
    useNews(about && ((news) => { if (!(about.chat && isEnd(news))) reload(); }), about ?? {});
    return { ...state, reload };
}

/** Whether a chat is gone, and what concerned it not to be read any more. @param {import('./news.js').News} news */
export const isEnd = ({ kind, data }) => kind === 'chat' && data.why === 'deleted';

/** Reads one thing: never twice at once, the newest wish last. */
class Reader {
    /** @param {(state: any) => void} tell */
    constructor(tell) {
        this.tell = tell;
        this.load = /** @type {(signal: AbortSignal) => Promise<any>} */ (async () => null);
        this.cut = /** @type {AbortController|null} */ (null);
        this.wanted = this.reading = false;
        this.timer = 0;
        this.rest = REST_MS;
    }

    /** @param {boolean} keep what was read before */
    begin(keep) {
        this.end();
        this.cut = new AbortController();
        this.tell((/** @type {any} */ state) => ({ data: keep ? state.data : null, error: null, loading: true }));
        void this.#read(this.cut);
    }

    again() {
        if (this.wanted || !this.cut) return;
        this.wanted = true;
        if (!this.timer && !this.reading) void this.#read(this.cut);
    }

    end() {
        this.cut?.abort();
        this.cut = null;
        this.wanted = this.reading = false;
        clearTimeout(this.timer);
        this.timer = 0;
    }

    /** @param {AbortController} cut */
    async #read(cut) {
        this.wanted = false;
        this.reading = true;
        const begun = performance.now();
        try {
            const data = await this.load(cut.signal);
            if (cut === this.cut) this.tell({ data, error: null, loading: false });
        } catch (error) {
            asksForKey(error);
            const failed = (/** @type {any} */ state) => ({ data: state.data, error, loading: false });
            if (cut === this.cut) this.tell(failed);
        }
        if (cut !== this.cut) return;
        this.reading = false;
        this.timer = setTimeout(() => {
            this.timer = 0;
            if (this.wanted && cut === this.cut) void this.#read(cut);
        }, Math.max(this.rest, REST_SHARE * (performance.now() - begun)));
    }
}
