/** The strata of a chat: its memory as a picture, and beside it the snippet that is open. */
import { html, useCallback, useMemo, useRef, useState } from '../vendor/htm-preact.js';
import { Button, Failure, Loading, Section, useId } from '../parts.js';
import { amend, close, open, read as address } from '../router.js';
import { chat, useLoad } from '../server.js';
import { NewSnippet } from './snippet-new.js';
import { useUndo } from './snippet-steps.js';
import { SnippetPanel } from './snippet.js';
import { bandsOf, MOST_CELLS } from './strata-layout.js';
import { Legend } from './strata-legend.js';
import { nextFold } from './strata-next.js';
import { focusCell, Picture } from './strata-picture.js';
import { before, isSingle, summaryOf } from './strata-words.js';

const KINDS = ['history', 'history_set', 'summarized', 'promoted', 'memory', 'job'];
const REST_AT_WORK_MS = 1000; // between two readings while folds come fast

/** Opens a snippet; the way back leads past those that were looked at after it. @param {string} key */
const show = (key) => (address().query.snippet ? amend : open)({ snippet: key });

/** @param {import('./page.js').ChatProps} props */
export function Strata({ id, chat: about, status, route }) {
    const read = (/** @type {AbortSignal} */ signal) => chat(id).request('GET', '/strata', { signal });
    const ground = [id, about.strategy, JSON.stringify(about.effective_settings)];
    const { data: now, error, reload } = useLoad(read, ground, { chat: id, kinds: KINDS },
        { keep: true, rest: status.job ? REST_AT_WORK_MS : undefined });
    const data = useSame(now);
    const undo = useUndo(id, reload);
    const { snippet: opened, first, last } = route.query;
    const layered = about.strategy === 'layered';
    const actions = about.strategy !== 'none' && html`
        ${layered && html`<${Button} onClick=${() => amend({ write: 1 })}>Write a snippet</${Button}>`}
        <${Button} busy=${undo.busy} onClick=${undo.run}>Undo last change</${Button}>`;
    const writing = layered && (route.query.write || first);
    const onWritten = (/** @type {any} */ made) => {
        reload();
        amend({ write: '', first: '', last: '' });
        show(made.id);
    };
    return html`<${Section} title="Strata" id="strata" actions=${actions}>
        <${Failure} error=${error} retry=${reload} />
        ${!data && !error && html`<${Loading} what="Drawing the memory" />`}
        ${data && html`<${Ground} id=${id} strata=${data} status=${status} settings=${about.effective_settings}
            opened=${opened} reload=${reload} />`}
        ${data && writing && html`<${NewSnippet} chat=${id} strata=${data} from=${first} to=${last} reload=${reload}
            onWritten=${onWritten}
            onClose=${(/** @type {any} */ left) => { // the address is another one already after the way back
                if (left !== true) amend({ write: '', first: '', last: '' });
            }} />`}
    </${Section}>`;
}

/** @param {{id: string, strata: import('./strata-layout.js').Strata, status: any, settings: any,
 *   opened: string|undefined, reload: () => void}} props */
function Ground({ id, strata, status, settings, opened, reload }) {
    const [most, setMost] = useState(/** @type {Record<string, number>} */ ({}));
    const bands = useMemo(() => bandsOf(strata, most), [strata, most]);
    const place = useRef(/** @type {any} */ (null));
    const told = useId();
    const single = isSingle(strata);
    const next = nextFold(status, settings, strata);
    const onMore = useCallback((/** @type {any} */ band) =>
        setMost((before) => ({ ...before, [band.key]: band.cells.length + MOST_CELLS })), []);
    const onClose = () => { close({ snippet: '' }); focusCell(place.current, opened); };
    if (!strata.messages) return html`<p class="empty">No messages yet. What is said stands here word for word, until
        there is enough of it to fold: then older turns become snippets, one line each.</p>`;
    return html`
        <p id=${told}>${summaryOf(strata)}${' '}
            ${single && html`<${Predecessors} id=${id} version=${strata.memory_version} />`}</p>
        ${next && html`<p class="about">${next}</p>`}
        <div class=${`ground ${opened ? 'with-panel' : ''}`} ref=${place}>
            <div class="ground-picture">
                <${Picture} chat=${id} bands=${bands} single=${single} opened=${opened} describedby=${told}
                    onOpen=${show} onMore=${onMore} />
            </div>
            ${opened && html`<${SnippetPanel} key=${id} chat=${id} id=${opened} strategy=${strata.strategy}
                memory=${strata.memory_version} onOpen=${show} onClose=${onClose} onChanged=${reload} />`}
            <${Legend} bands=${bands} single=${single} />
        </div>`;
}

/** What was read, the same as before where it says the same: then nothing is drawn anew. @template T @param {T} now */
function useSame(now) {
    const kept = useRef({ text: '', now });
    const text = useMemo(() => JSON.stringify(now), [now]);
    if (kept.current.text !== text) kept.current = { text, now };
    return kept.current.now;
}

/** How many summaries went before the one. @param {{id: string, version: number}} props */
function Predecessors({ id, version }) {
    const read = (/** @type {AbortSignal} */ signal) =>
        chat(id).request('GET', '/snippets', { signal, query: { state: 'superseded', limit: 100 } });
    const { data } = useLoad(read, [id, version], null, { keep: true });
    return before(data);
}
