/** What this SillyTavern remembers of Turnfold. Everything about memory itself is kept, and decided, by the server. */

import { Turnfold } from './turnfold.js';
import { context } from './host.js';

const KEY = 'turnfold';

/**
 * `placement`: where the memory stands in the prompt, in SillyTavern's own numbers: position 0 after the main prompt,
 * 1 in the chat at `depth`, 2 before the main prompt, -1 nowhere (the macro alone); role 0 system, 1 user, 2 assistant.
 * `begun`: takeovers that their chats' files do not tell yet, by the chats' ids.
 * `source`: who answers the prompts of the server's `client` provider in this browser; `profile` is a profile's id.
 */
const DEFAULTS = Object.freeze({
    server: 'http://127.0.0.1:8787',
    key: '',
    enabled: true,
    placement: { position: 0, depth: 4, role: 0 },
    source: { kind: 'main', profile: '' },
    icons: true,
    scope: 'all',
    begun: {},
});

/** The settings; what is missing has its default. Change fields in place and call `save`. @returns {any} */
export function settings() {
    const { extensionSettings } = context();
    const own = extensionSettings[KEY] ??= {};
    for (const [name, value] of Object.entries(DEFAULTS)) own[name] ??= structuredClone(value);
    return own;
}

/** Keeps what was changed. */
export const save = () => context().saveSettingsDebounced();

/** The server as the settings name it now. @param {number} [timeout] milliseconds */
export const server = (timeout) => new Turnfold({ server: settings().server, key: settings().key, timeout });
