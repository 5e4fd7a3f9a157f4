/** What is the matter with a server's address: asked step by step, told with what to do about it. */

import { Turnfold } from './turnfold.js';

/**
 * @typedef {{ok: boolean, text: string, todo?: string, version?: string}} Finding `todo`: the next step
 */

const PATIENCE_MS = 5000;

/** @param {string} address @param {string} key @returns {Promise<Finding>} */
export async function probe(address, key) {
    const { server } = new Turnfold({ server: address }); // as it will be called
    const url = parsed(server);
    if (!url || /\s/.test(server) || !/^https?:$/.test(url.protocol)) return bad('This is no address.', 'It looks like http://127.0.0.1:8787.');
    if (location.protocol === 'https:' && url.protocol === 'http:' && !isLoopback(url.hostname)) {
        return bad('This page came by https, and browsers do not let it call http.', 'Give Turnfold an https address.');
    }
    const answer = await health(server);
    if (!(answer instanceof Response)) return silent(server);
    const alive = await answer.json().catch(() => null);
    if (!answer.ok || alive?.status !== 'ok' || !alive.version) {
        return bad(`Something answers at ${server}, but it is not Turnfold.`, 'Look at the address and its port.');
    }
    return admitted(server, key, alive.version);
}

/** @param {string} address */
function parsed(address) {
    try {
        return new URL(address);
    } catch {
        return null;
    }
}

/** @param {string} name */
const isLoopback = (name) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(name);

/** @param {string} text @param {string} todo @returns {Finding} */
const bad = (text, todo) => ({ ok: false, text, todo });

/** @param {string} address @param {RequestInit} [how] @returns {Promise<Response|null>} */
const health = (address, how) => fetch(`${address}/healthz`, {
    ...how, signal: AbortSignal.timeout(PATIENCE_MS),
}).catch(() => null);

/**
 * Nothing could be read. A question whose answer the page may not see tells "away" from "not let in".
 * @param {string} address
 */
async function silent(address) {
    if (!await health(address, { mode: 'no-cors' })) {
        return bad(`Nothing answers at ${address}.`, 'Start Turnfold, or look at the address and its port.');
    }
    const todo = `Add ${location.origin} to TURNFOLD_CORS_ORIGINS where Turnfold runs (on another machine, its name`
        + ' to TURNFOLD_ALLOWED_HOSTS too), and start it anew.';
    return bad('Something answers there, but does not let this page in.', todo);
}

/** @param {string} address @param {string} key @param {string} version @returns {Promise<Finding>} */
async function admitted(address, key, version) {
    try {
        await new Turnfold({ server: address, key, timeout: PATIENCE_MS }).request('GET', '/settings');
        return { ok: true, text: `Turnfold ${version} answers.`, version };
    } catch (/** @type {any} */ error) {
        if (error.status !== 401) return bad(error.detail, 'Turnfold is there, but its log may say more.');
        return key ? bad('Turnfold does not know this key.', 'Copy it from TURNFOLD_API_KEY, where Turnfold runs.')
            : bad('Turnfold wants a key.', 'Put the value of its TURNFOLD_API_KEY into the field for it.');
    }
}
