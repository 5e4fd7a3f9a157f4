/** Where in the dashboard one is: `#/chats/ID/prompt?view=reply`. Addresses can be shared, kept and gone back from. */
import { useEffect, useState } from './vendor/htm-preact.js';

/** @typedef {{parts: string[], query: Record<string, string>}} Route */

/** An address. @param {string[]} parts e.g. ['chats', id, 'prompt'] @param {Record<string, any>} [query] */
export function href(parts, query = {}) {
    const given = Object.entries(query).filter(([, value]) => value != null && value !== '');
    const words = new URLSearchParams(given).toString();
    return `#/${parts.map(encodeURIComponent).join('/')}${words && `?${words}`}`;
}

/** @param {string[]} parts @param {Record<string, any>} [query] */
export const go = (parts, query) => { location.hash = href(parts, query); };

/** The same place with other words in its query; the way back leads past it. @param {Record<string, any>} changed */
export function amend(changed) {
    const { parts, query } = read();
    history.replaceState(history.state, '', href(parts, { ...query, ...changed }));
    dispatchEvent(new HashChangeEvent('hashchange'));
}

/** The same place with something opened over it, which the way back closes. @param {Record<string, any>} changed */
export function open(changed) {
    const { parts, query } = read();
    history.pushState({ opened: true }, '', href(parts, { ...query, ...changed }));
    dispatchEvent(new HashChangeEvent('hashchange'));
}

let closing = false;

/** Closes it: goes back where it was opened here, else takes its words away, as where a link led to it.
 *  @param {Record<string, any>} changed */
export function close(changed) {
    if (!history.state?.opened) amend(changed);
    else if (!closing) {
        closing = true; // a second one would lead out of the place
        addEventListener('popstate', () => { closing = false; }, { once: true });
        history.back();
    }
}

/** Gives the page its title. @param {string} title */
export const entitle = (title) => { document.title = `${title} · Turnfold`; };

/** @param {string} text */
function decode(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

/** @returns {Route} */
export function read() {
    const [path, words = ''] = location.hash.replace(/^#\/?/, '').split('?');
    return { parts: path ? path.split('/').map(decode) : [], query: Object.fromEntries(new URLSearchParams(words)) };
}

/** @returns {Route} */
export function useRoute() {
    const [route, setRoute] = useState(read);
    useEffect(() => {
        const look = () => setRoute(read());
        addEventListener('hashchange', look);
        return () => removeEventListener('hashchange', look);
    }, []);
    return route;
}
