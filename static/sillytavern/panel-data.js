/** What the panel knows of the server's settings, for all chats and for the open one, and which of the two it shows. */

import { listen, session } from './session.js';
import { server, settings } from './settings.js';

/**
 * @typedef {'all'|'chat'} Scope
 * @typedef {import('./panel-save.js').Target} Target
 * @type {{all: any, chat: any, presets: any[], error: any}} `all`: of `/v1/settings`; `chat`: the open one; null before
 *   they are known; `error`: why they are not
 */
export const data = { all: null, chat: null, presets: [], error: null };

listen('opened', () => { data.chat = null; });
listen('closed', () => { data.chat = null; });

/** The scope that is shown: without a chat there is only one. @returns {Scope} */
export const scope = () => (session.chat && settings().scope === 'chat' ? 'chat' : 'all');

/** Where a setting of the present scope is kept. @returns {Target} */
export function target() {
    const chat = session.chat;
    if (scope() === 'chat' && chat) {
        return { key: `chat ${chat.id}`, patch: (values) => chat.request('PATCH', '', { body: { settings: values } }) };
    }
    const all = server();
    return { key: `all ${all.server}`, patch: (values) => all.request('PATCH', '/settings', { body: values }) };
}

/** Takes in what the server answered to a change. @param {Target} changed @param {any} answer */
export function take(changed, answer) {
    if (changed.key.startsWith('all ')) data.all = answer;
    else if (changed.key === `chat ${session.chat?.id}`) data.chat = answer;
}

/** Asks for everything that the panel shows of settings; of a chat only once the server has it. Never throws. */
export async function load() {
    const [asked, chat] = [server(), session.phase === 'ready' ? session.chat : null];
    try {
        const told = await Promise.all([
            asked.request('GET', '/settings'),
            chat?.request('GET', '') ?? null,
            data.presets.length ? data.presets : asked.request('GET', '/presets'),
        ]);
        if (asked.server !== server().server) return;
        [data.all, , data.presets] = told;
        if (chat && chat === session.chat) data.chat = told[1];
        data.error = null;
    } catch (error) {
        data.error = error;
    }
}

/** What is in force in the scope that is shown; null while that is not known. @param {string} path */
export const inForce = (path) => at(scope() === 'chat' ? data.chat?.effective_settings : data.all, path);

/** Whether the scope that is shown has a value of its own. @param {string} path */
export const isOwn = (path) => at((scope() === 'chat' ? data.chat : data.all)?.settings, path) != null;

/** Whether the open chat goes its own way in this. @param {string} path */
export const isOwnOfChat = (path) => at(data.chat?.settings, path) != null;

/** @param {any} values @param {string} path */
const at = (values, path) => path.split('.').reduce((inner, step) => inner?.[step], values) ?? null;
