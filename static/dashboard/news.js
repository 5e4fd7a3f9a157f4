/** What happens on the server: one stream for the whole page, open while somebody looks at it. Nothing polls. */
import { useEffect, useRef, useState } from './vendor/htm-preact.js';

/** `kind`: an event of GET /v1/events, or `reopened`: some may have been missed.
 *  @typedef {{kind: string, data: any}} News */

/** @type {Set<(news: News) => void>} */
const listeners = new Set();
const state = { live: false, told: new EventTarget() };
/** @type {AbortController|null} */
let cut = null;

/** @param {News} news */
const tell = (news) => { for (const listener of [...listeners]) listener(news); };

/** @param {boolean} live */
function setLive(live) {
    if (state.live === live) return;
    state.live = live;
    state.told.dispatchEvent(new Event('live'));
}

/** @param {import('../turnfold.js').Turnfold} server @param {(error: unknown) => void} refused */
async function follow(server, refused) {
    const mine = cut = new AbortController();
    const onOpen = () => { setLive(true); tell({ kind: 'reopened', data: {} }); };
    const events = server.events('/events', { signal: mine.signal, onOpen, onLost: () => setLive(false) });
    try {
        for await (const { event, data } of events) tell({ kind: event, data });
    } catch (error) {
        refused(error);
    }
    if (cut === mine) setLive(false);
}

/** Follows the server while the page is visible: a page that nobody sees costs nothing, and reads anew when it is seen
 *  again. @param {import('../turnfold.js').Turnfold} server @param {(error: unknown) => void} refused */
export function startNews(server, refused) {
    const look = () => {
        const seen = document.visibilityState === 'visible';
        if (seen && !cut?.signal.aborted && cut) return;
        if (seen) void follow(server, refused);
        else cut?.abort();
    };
    document.addEventListener('visibilitychange', look);
    look();
}

/** Follows again from the beginning, e.g. with another key. @param {import('../turnfold.js').Turnfold} server
 *  @param {(error: unknown) => void} refused */
export function restartNews(server, refused) {
    cut?.abort();
    void follow(server, refused);
}

/**
 * Calls `told` with the news that concern it: of one chat and of the server if `chat` is given, of the `kinds` if they
 * are, and whenever some may have been missed.
 * @param {((news: News) => void)|null} told @param {{chat?: string, kinds?: string[]}} about
 */
export function useNews(told, { chat, kinds }) {
    const now = useRef(told);
    now.current = told;
    useEffect(() => {
        /** @param {News} news */
        const listener = (news) => {
            const mine = !chat || (news.data.chat_id ?? chat) === chat; // what is told of no chat concerns them all
            const concerns = mine && (!kinds || kinds.includes(news.kind));
            if (concerns || news.kind === 'reopened') now.current?.(news);
        };
        listeners.add(listener);
        return () => { listeners.delete(listener); };
    }, [chat, kinds?.join()]);
}

/** Whether news arrive at the moment. @returns {boolean} */
export function useLive() {
    const [live, setNow] = useState(state.live);
    useEffect(() => {
        const look = () => setNow(state.live);
        look();
        state.told.addEventListener('live', look);
        return () => state.told.removeEventListener('live', look);
    }, []);
    return live;
}
