/** A page of the history. */
import { html, useEffect, useRef, useState } from '../vendor/htm-preact.js';
import { number, places } from '../format.js';
import { Failure, Loading, Note } from '../parts.js';
import { href } from '../router.js';
import { chat, useLoad } from '../server.js';
import { EditDialog, ForkDialog, VersionsDialog } from './messages-dialogs.js';
import { PAGE, indexOf, startBefore, within } from './messages-places.js';
import { MessageRow } from './messages-row.js';
import { termsOf } from './search-marks.js';

const KINDS = ['history', 'history_set', 'summarized', 'promoted', 'memory', 'chat'];

/** The page that the address names: around `at`, from `from`, up to `until`, else the newest. It stays where it is
 *  while it is read anew.
 *  @param {string} id @param {Record<string, string>} words @param {number} messages there are now */
function usePage(id, words, messages) {
    const { state = 'all', at, from, until } = words;
    const key = [id, state, at, from, until].join('\n');
    const began = useRef({ key: '', start: 0 });
    const load = async (/** @type {AbortSignal} */ signal) => {
        const read = (/** @type {number} */ index, /** @type {number} */ limit) =>
            chat(id).request('GET', '/messages', { query: { state, from_index: index, limit }, signal });
        if (began.current.key !== key) {
            const [place, first, end] = [indexOf(at), indexOf(from), indexOf(until) ?? messages];
            const before = () => (state === 'all' ? Math.max(0, end - PAGE) : startBefore(read, end));
            const start = place !== null ? Math.floor(place / PAGE) * PAGE : first ?? await before();
            began.current = { key, start };
        }
        const { start } = began.current;
        const { items, next_cursor: more } = await read(start, PAGE);
        const before = items.filter((/** @type {any} */ { index }) => index < (indexOf(until) ?? Infinity));
        return { key, start, items: before, more: more !== null || before.length < items.length };
    };
    const { data, ...rest } = useLoad(load, [key], { chat: id, kinds: KINDS }, { keep: true });
    return { ...rest, data: data?.key === key ? data : null };
}

/** The stretches that were skipped with a backlog; a message does not say so itself.
 *  @param {string} id @param {number} count */
function useSkipped(id, count) {
    const load = async (/** @type {AbortSignal} */ signal) =>
        (count ? chat(id).request('GET', '/strata', { signal }) : null);
    const { data } = useLoad(load, [id, count]);
    return (data?.stretches ?? []).filter((/** @type {any} */ one) => one.skipped);
}

/** Brings what the address names into view, once it is there; and gives the focus a place when what had it is gone.
 *  @param {any} data @param {number|null} at */
function useArrival(data, at) {
    const list = useRef(/** @type {any} */ (null));
    const came = useRef(/** @type {number|null} */ (null));
    const acted = useRef(/** @type {number|null} */ (null));
    useEffect(() => {
        if (data && at !== null && came.current !== at) {
            came.current = at;
            const row = document.getElementById(`message-${at}`);
            row?.scrollIntoView({ block: 'center' });
            row?.focus({ preventScroll: true });
        }
        if (at === null) came.current = null;
        if (acted.current === null || document.activeElement !== document.body) return;
        (document.getElementById(`message-${acted.current}`) ?? list.current)?.focus({ preventScroll: true });
        acted.current = null;
    }, [data, at]);
    return { list, acted };
}

/** @param {import('./page.js').ChatProps & {words: Record<string, string>}} props */
export function MessageList({ id, chat: about, status, reload: reloadChat, words }) {
    const { data, error, reload } = usePage(id, words, status.counts.messages);
    const skipped = useSkipped(id, status.counts.skipped);
    const [asking, setAsking] = useState(/** @type {{what: string, message: any}|null} */ (null));
    const at = indexOf(words.at);
    const { list, acted } = useArrival(data, at);
    if (!data && !error) return html`<${Loading} what="Opening the page" />`;
    if (!data) return html`<${Failure} error=${error} retry=${reload} />`;
    const done = (/** @type {number} */ index) => { acted.current = index; reload(); reloadChat(); };
    const count = status.counts.messages;
    const terms = words.q ? termsOf(words.q) : [];
    const given = { id, chat: about, strategy: about.strategy, first: indexOf(words.first), terms,
        onAsk: (/** @type {string} */ what, /** @type {any} */ message) => setAsking({ what, message }) };
    return html`
        <${Failure} error=${error} retry=${reload} />
        ${at !== null && at >= count && html`<${Note} kind="warning"><p>
            There is no message #${number(at)}${count > 0 && `: the newest is #${number(count - 1)}`}.</p></${Note}>`}
        <${Pager} id=${id} words=${words} page=${data} label="Pages, above" />
        ${!data.items.length && html`<p class="empty">${emptyOf(words.state)}</p>`}
        <ol class="lines" ref=${list} tabindex="-1" aria-label="Messages">
            ${data.items.map((/** @type {any} */ message) => html`
                <${MessageRow} key=${message.id} message=${message} ...${given} onDone=${() => done(message.index)}
                    skipped=${!message.ghosted && within(skipped, message.index)} marked=${message.index === at} />`)}
        </ol>
        ${data.items.length > 4 && html`<${Pager} id=${id} words=${words} page=${data} label="Pages, below" />`}
        ${asking && html`<${Asking} ...${asking} id=${id} page=${data} onDone=${() => done(asking.message.index)}
            onClose=${() => setAsking(null)} />`}`;
}

/** @param {string|undefined} state */
const emptyOf = (state) => (state && state !== 'all' ? `No message here is ${state}.` : 'There are no messages here.');

/** @param {any} props */
const Asking = ({ what, message, page, ...rest }) => {
    const Which = what === 'edit' ? EditDialog : what === 'fork' ? ForkDialog : VersionsDialog;
    const now = page.items.find((/** @type {any} */ one) => one.id === message.id);
    return html`<${Which} message=${message} now=${now} ...${rest} />`;
};

/** @param {{id: string, words: Record<string, string>, page: any, label: string}} props */
function Pager({ id, words, page: { items, start, more }, label }) {
    const to = (/** @type {Record<string, any>} */ place) => {
        const { state, first, last } = words;
        return href(['chats', id, 'messages'], { state, first, last, ...place });
    };
    const begins = items[0]?.index ?? start;
    const ends = items[items.length - 1]?.index ?? start;
    return html`<nav class="pager" aria-label=${label}>
        ${begins > 0 && html`<a href=${to({ until: begins })}>← ${PAGE} earlier</a>`}
        <span>${items.length ? places(begins, ends) : ''}</span>
        ${more && html`<a href=${to({ from: ends + 1 })}>Later →</a> <a href=${to({})}>Newest</a>`}
    </nav>`;
}
