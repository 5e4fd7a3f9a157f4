/** One chat: what is told of it everywhere, and the page that stands below. */
import { html } from '../vendor/htm-preact.js';
import { nameOf } from '../format.js';
import { Badge, Failure, Loading, Tabs } from '../parts.js';
import { href } from '../router.js';
import { chat, useLoad } from '../server.js';
import { ExportFiles } from './care-export.js';
import { Repair } from './care-repair.js';
import { CarePage } from './care.js';
import { MemoryPage } from './memory.js';
import { MessagesPage } from './messages.js';
import { ChatSettingsPage } from './settings.js';
import { StateStrip } from './state.js';
import { PromptPage } from './prompt.js';

/** @type {[string, string, any][]} the last part of the address, what it is called, and the page */
const TABS = [
    ['memory', 'Memory', MemoryPage], ['prompt', 'Prompt', PromptPage], ['messages', 'Messages', MessagesPage],
    ['settings', 'Settings', ChatSettingsPage], ['care', 'Care', CarePage],
];
const STRATEGIES = /** @type {Record<string, string>} */ ({
    layered: 'Layered memory', rolling: 'Rolling memory', summary_buffer: 'Summary buffer', none: 'No memory',
});

/**
 * What every page of a chat is given: `id`; `chat` and `status` as the API answers them, `reload` to read both anew
 * (news of the chat do that by themselves); `route`.
 * @typedef {{id: string, chat: any, status: import('../../turnfold.js').Status, reload: () => void,
 *   route: import('../router.js').Route}} ChatProps
 */

/** @param {{route: import('../router.js').Route}} props */
export function ChatPage({ route }) {
    const [, id = '', tab = 'memory'] = route.parts;
    const read = async (/** @type {AbortSignal} */ signal) => {
        const calls = [chat(id).request('GET', '', { signal }), chat(id).status({ signal })];
        const [about, status] = await Promise.all(calls);
        return { about, status };
    };
    const { data, error, reload } = useLoad(read, [id], { chat: id });
    if (!data && error) return html`<${Unread} id=${id} error=${error} reload=${reload} />`;
    if (!data) return html`<h1 class="unseen">Chat</h1><${Loading} what="Opening the chat" />`;
    const { about, status } = data;
    const [, , Page] = TABS.find(([name]) => name === tab) ?? TABS[0];
    const items = TABS.map(([name, title, page]) => (
        { name: title, href: href(['chats', id, name]), current: page === Page }));
    const given = { id, chat: about, status, reload, route };
    return html`
        <div class="page-head">
            <div>
                <h1 class="one-line">${nameOf(about)}</h1>
                <${Badge}>${STRATEGIES[about.strategy] ?? about.strategy}</${Badge}>
                ${status.paused && html` <${Badge} kind="warn">Paused</${Badge}>`}
                ${!status.enabled && html` <${Badge} kind="warn">Switched off</${Badge}>`}
            </div>
        </div>
        ${error && html`<${Failure} error=${error} retry=${reload} />`}
        <${StateStrip} ...${given} />
        <${Tabs} label="Parts of the chat" items=${items} />
        <${Page} ...${given} />`;
}

/** A chat that cannot be shown: damaged perhaps, and then still to be repaired and taken home.
 *  @param {{id: string, error: any, reload: () => void}} props */
const Unread = ({ id, error, reload }) => html`
    <h1>Chat</h1>
    <${Failure} error=${error} retry=${reload} />
    ${error.status >= 500 && html`<${Repair} id=${id} reload=${reload} /><${ExportFiles} id=${id} />`}`;
