/** What a form of settings needs to know, read of the server. */
import { turnfold } from '../server.js';

/** @param {AbortSignal} signal @returns {Promise<{server: any, presets: any[], connections: string[]}>} */
export async function readGround(signal) {
    const [server, presets, { items }] = await Promise.all([
        turnfold.request('GET', '/settings', { signal }), turnfold.request('GET', '/presets', { signal }),
        turnfold.request('GET', '/connections', { query: { limit: 1000 }, signal }),
    ]);
    return { server, presets, connections: items.map((/** @type {any} */ one) => one.name) };
}
