/** One chat: what is told of it everywhere, and the page that stands below. */
import { html, useEffect, useRef, useState } from '../vendor/htm-preact.js';
import { nameOf, titled } from '../format.js';
import { lazy } from '../lazy.js';
import { useNews } from '../news.js';
import { Badge, Failure, Loading, Tabs } from '../parts.js';
import { entitle, href } from '../router.js';
import { chat, isEnd, useLoad } from '../server.js';
import { MemoryPage } from './memory.js';
import { StateStrip } from './state.js';

const PromptPage = lazy(() => import('./prompt.js').then((found) => found.PromptPage));
const MessagesPage = lazy(() => import('./messages.js').then((found) => found.MessagesPage));
const ChatSettingsPage = lazy(() => import('./settings.js').then((found) => found.ChatSettingsPage));
const CarePage = lazy(() => import('./care.js').then((found) => found.CarePage));
const Unread = lazy(() => import('./unread.js').then((found) => found.Unread));

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

/** The chat, until it is deleted; then nothing of it is read any more, unless it comes back.
 *  @param {{route: import('../router.js').Route}} props */
export function ChatPage({ route }) {
    const [, id = ''] = route.parts;
    const [missing, setMissing] = useState(/** @type {'never'|'deleted'|null} */ (null));
    useNews((news) => {
        if (isEnd(news)) setMissing('deleted');
        else if (news.kind === 'chat') setMissing(null);
    }, { chat: id, kinds: ['chat'] });
    const onMissing = () => setMissing('never');
    return missing
        ? html`<${Missing} why=${missing} />`
        : html`<${Opened} id=${id} route=${route} onMissing=${onMissing} />`;
}

/** Says that the chat is not there, to who was reading it too. @param {{why: 'never'|'deleted'}} props */
function Missing({ why }) {
    const head = useRef(/** @type {any} */ (null));
    const title = why === 'deleted' ? 'This chat is not there any more' : 'This chat is not there';
    useEffect(() => {
        entitle(title);
        head.current.focus();
    }, [title]);
    return html`<div class="page-head"><div>
        <h1 ref=${head} tabindex="-1">${title}</h1>
        <p>${why === 'deleted' ? 'It was deleted, perhaps on another page. ' : 'Perhaps it was deleted. '}
            <a href="#/">Go to the chats</a></p>
    </div></div>`;
}

/** @param {{id: string, route: import('../router.js').Route, onMissing: () => void}} props */
function Opened({ id, route, onMissing }) {
    const tab = route.parts[2] ?? 'memory';
    const read = async (/** @type {AbortSignal} */ signal) => {
        const calls = [chat(id).request('GET', '', { signal }), chat(id).status({ signal })];
        const [about, status] = await Promise.all(calls);
        return { about, status };
    };
    const { data, error, reload } = useLoad(read, [id], { chat: id });
    const [, name, Page] = TABS.find(([one]) => one === tab) ?? TABS[0];
    const title = data && `${titled(nameOf(data.about))} – ${name}`;
    useEffect(() => { if (title) entitle(title); }, [title]);
    useEffect(() => { if (error?.status === 404) onMissing(); }, [error]);
    if (!data && error) return html`<${Unread} id=${id} error=${error} reload=${reload} />`;
    if (!data) return html`<h1 class="unseen">Chat</h1><${Loading} what="Opening the chat" />`;
    const { about, status } = data;
    const items = TABS.map(([path, called, page]) => (
        { name: called, href: href(['chats', id, path]), current: page === Page }));
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
