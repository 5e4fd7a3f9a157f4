/** The list of chats: searching it, paging through it, and keeping it as it is now. */
import { html, useCallback, useEffect, useRef, useState } from '../vendor/htm-preact.js';
import { FocusInList } from '../focus.js';
import { ago, counted, date, nameOf, percent } from '../format.js';
import { useNews } from '../news.js';
import { Badge, Button, Failure, Field, Progress } from '../parts.js';
import { amend, href } from '../router.js';
import { turnfold, useLoad } from '../server.js';
import { newestOf, settled, waiting, workOf } from './rows.js';

const PAGE = 50;
const TYPED_MS = 250; // after the last letter until it is searched for
const MINUTE_MS = 60_000;
const SLOW_MS = 2000;
const STRATEGIES = /** @type {Record<string, string>} */ ({
    layered: 'Layered', rolling: 'Rolling', summary_buffer: 'Buffer', none: 'No memory',
});

/** The newest jobs, and those that run, however old. @param {AbortSignal} signal */
async function readJobs(signal) {
    const asked = [{}, { state: 'running', limit: 200 }];
    const ask = (/** @type {any} */ query) => turnfold.request('GET', '/jobs', { query, signal });
    const [newest, running] = await Promise.all(asked.map(ask));
    return newestOf([...newest.items, ...running.items]);
}

/** What goes on in each chat. @returns {(id: string) => ReturnType<typeof workOf>} */
function useWork() {
    const { data, reload } = useLoad(readJobs, [], { kinds: ['job'] });
    useSlowly(reload, ['summarized']);
    return (id) => workOf(data?.[id]);
}

/** Reads anew for news that come often, though not at each: a row may be two seconds old.
 *  @param {() => void} reload @param {string[]} kinds */
function useSlowly(reload, kinds) {
    const timer = useRef(0);
    useEffect(() => () => clearTimeout(timer.current), []);
    useNews(({ kind }) => {
        if (kind === 'reopened') return; // then it is read at once
        timer.current ||= setTimeout(() => {
            timer.current = 0;
            reload();
        }, SLOW_MS);
    }, { kinds });
}

/** Draws anew every minute: times that are told as "3 minutes ago" go on. */
function useMinutes() {
    const [, show] = useState(0);
    useEffect(() => {
        const timer = setInterval(() => show((before) => before + 1), MINUTE_MS);
        return () => clearInterval(timer);
    }, []);
}

/** @param {{row: import('./rows.js').Row}} props */
const Ghosts = ({ row: { counts, strategy } }) => counts && strategy !== 'none' && html`
    <span class="ghosts"><span class="ghost-bar" aria-hidden="true"><span
        style=${{ width: `${counts.messages ? (100 * counts.ghosted) / counts.messages : 0}%` }}></span></span>
        ${percent(counts.ghosted, counts.messages)} ghosted</span>`;

/** @param {{row: import('./rows.js').Row, work: ReturnType<typeof workOf>}} props */
const Item = ({ row, work }) => html`
    <li class=${`chat-row ${row.gone ? 'gone' : ''}`}>
        <div class="chat-name">
            <a class="one-line" href=${href(['chats', row.id])}>${nameOf(row)}</a>
            ${row.gone ? html`<${Badge} kind="bad">Deleted</${Badge}>`
                : html`<${Badge}>${STRATEGIES[row.strategy] ?? row.strategy}</${Badge}>`}
        </div>
        <time class="quiet-text" datetime=${row.updated_at} title=${date(row.updated_at)}>${ago(row.updated_at)}</time>
        ${row.counts && html`<span class="quiet-text">${counted(row.counts.messages, 'message')} ·${' '}
            ${counted(row.counts.turns, 'turn')}</span>`}
        <${Ghosts} row=${row} />
        ${work?.going && html`
            <${Progress} label=${`Folding ${nameOf(row)}`} value=${work.percent} text=${work.text} />`}
        ${work && !work.going && html`<p class="chat-fault"><${Badge} kind="bad">Last fold failed</${Badge}>
            <span class="said">${work.text}</span></p>`}
    </li>`;

/** The rows: held where they are while somebody points at them or has the focus among them.
 *  @param {{items: import('./rows.js').Row[], about: string}} props `about`: what was searched for */
function Rows({ items, about }) {
    const list = useRef(/** @type {any} */ (null));
    const shown = useRef({ about, rows: /** @type {import('./rows.js').Row[]} */ ([]) });
    const [, release] = useState(0);
    const letGo = useCallback(() => requestAnimationFrame(() => release((before) => before + 1)), []);
    const workOn = useWork();
    useMinutes();
    const held = shown.current.about === about && !!list.current?.matches(':hover, :focus-within');
    const rows = settled(shown.current.rows, items, held);
    shown.current = { about, rows };
    const more = waiting(rows, items);
    return html`
        ${more > 0 && html`<p class="quiet-text" role="status">
            ${counted(more, 'newer chat')} will stand above as soon as you leave the list.</p>`}
        <ul class="chats" ref=${list} onPointerLeave=${letGo} onfocusout=${letGo}>${rows.map((row) => html`
            <${Item} key=${row.id} row=${row} work=${workOn(row.id)} />`)}
        </ul>`;
}

/** @param {{q: string}} props what is searched for, by the address */
function Search({ q }) {
    const [typed, setTyped] = useState(q);
    const sent = useRef(q);
    useEffect(() => { // another address, e.g. by the way back
        if (q !== sent.current) setTyped(q);
        sent.current = q;
    }, [q]);
    useEffect(() => {
        if (typed === sent.current) return undefined;
        const timer = setTimeout(() => {
            sent.current = typed;
            amend({ q: typed, n: null });
        }, TYPED_MS);
        return () => clearTimeout(timer);
    }, [typed]);
    return html`<div role="search"><${Field} label="Search for a chat" control=${(/** @type {any} */ given) => html`
        <input ...${given} type="search" value=${typed} autocomplete="off" spellcheck="false"
            placeholder="Title, name or id"
            onInput=${(/** @type {any} */ event) => setTyped(event.target.value)} />`} /></div>`;
}

/** @param {number} count @param {string|null} next */
const foundWords = (count, next) => `${counted(count, 'chat')}${next ? ' or more' : ''} found`;

/** @param {{q: string, found: ReturnType<typeof useChats>}} props */
export function ChatList({ q, found: { data, error, reload, shown } }) {
    const items = data?.items ?? [];
    return html`
        <${Search} q=${q} />
        <p class="unseen" role="status">${q && data && foundWords(items.length, data.next_cursor)}</p>
        <${Failure} error=${error} retry=${reload} />
        ${data && !items.length && html`<p class="empty">
            No chat has “<bdi>${data.q}</bdi>” in its title, its names or its id.</p>`}
        <${FocusInList}>${items.length > 0 && html`<${Rows} items=${items} about=${`${data.q} ${shown}`} />`}
        ${items.length > 0 && html`<p class="hint list-hint">A turn is a message and its reply. Ghosted messages stay
            stored; the model is sent a summary in their place.</p>`}
        ${data?.next_cursor && html`<${Button} onClick=${() => amend({ n: shown + PAGE })}>Show more</${Button}>`}
        </${FocusInList}>`;
}

/** The chats, newest activity first: as many as the address says, kept up to date.
 *  @param {Record<string, string>} query of the address */
export function useChats({ q = '', n }) {
    const shown = Math.min(1000, Math.max(PAGE, Number(n) || 0));
    const read = async (/** @type {AbortSignal} */ signal) => {
        const page = await turnfold.request('GET', '/chats', { query: { limit: shown, q: q.trim() || null }, signal });
        return { ...page, q };
    };
    const found = useLoad(read, [q, shown], { kinds: ['chat'] }, { keep: true });
    useSlowly(found.reload, ACTIVITY);
    return { ...found, shown };
}

/** What changes a row of the list, and may come many times a second. */
const ACTIVITY = ['history', 'summarized', 'promoted', 'memory', 'history_set'];
