/** Pages that are fetched when somebody first looks at them. */
import { html, useEffect, useState } from './vendor/htm-preact.js';
import { TurnfoldError } from '../turnfold.js';
import { useNews } from './news.js';
import { Failure, Loading } from './parts.js';

const unreachable = () => new TurnfoldError(
    `This page was not fetched: Turnfold at ${location.origin} cannot be reached. Is it running?`, {});

/**
 * A part of the page whose module is fetched when it is first shown, and kept.
 *     const HomePage = lazy(() => import('./home/page.js').then((module) => module.HomePage));
 * @param {() => Promise<any>} fetched
 */
export function lazy(fetched) {
    let Part = /** @type {any} */ (null);
    return (/** @type {any} */ props) => {
        const [error, setError] = useState(/** @type {any} */ (null));
        const [, setThere] = useState(!!Part);
        const get = () => {
            setError(null);
            fetched().then((found) => { Part = found; setThere(true); }, () => setError(unreachable()));
        };
        useNews(error && get, {}); // the server is there again
        useEffect(() => { if (!Part) get(); }, []);
        if (Part) return html`<${Part} ...${props} />`;
        return error ? html`<${Failure} error=${error} retry=${get} />` : html`<${Loading} what="Opening the page" />`;
    };
}
