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
    history.replaceState(null, '', href(parts, { ...query, ...changed }));
    dispatchEvent(new HashChangeEvent('hashchange'));
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
