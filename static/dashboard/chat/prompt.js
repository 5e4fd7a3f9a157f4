/** The turn inspector: the whole prompt as it would be sent now, and why what is missing is missing. */
import { html, useMemo, useRef } from '../vendor/htm-preact.js';
import { counted } from '../format.js';
import { Failure, Loading, Note, Section } from '../parts.js';
import { href } from '../router.js';
import { chat, useLoad } from '../server.js';
import { Budget } from './prompt-budget.js';
import { PromptList } from './prompt-list.js';
import { PromptOptions } from './prompt-options.js';
import { OPTIONS, asked, read } from './prompt-query.js';
import { rowsOf } from './prompt-rows.js';
import { CopyButtons, Shape } from './prompt-shape.js';

const KINDS = ['history', 'history_set', 'summarized', 'promoted', 'memory', 'chat'];
const WORDS = ['view', 'strategy', 'current', ...OPTIONS];

/** Reads the prompt of these words, and again when it may have changed. `key` says what was asked.
 *  @param {string} id @param {Record<string, string>} words @param {string} strategy */
function usePrompt(id, words, strategy) {
    const key = JSON.stringify([id, strategy, ...WORDS.map((name) => words[name] ?? '')]);
    const first = useRef({ key: '', hash: /** @type {string|null} */ (null) });
    const load = async (/** @type {AbortSignal} */ signal) => {
        const since = first.current.key === key && !words.view ? first.current.hash : null;
        const more = { explain: true, messages: false, known_prefix: since };
        const projection = await read(chat(id), asked(words, strategy, more), signal);
        if (first.current.key !== key) first.current = { key, hash: projection.prefix_hash };
        return { key, projection };
    };
    const { data, ...rest } = useLoad(load, [key], { chat: id, kinds: KINDS }, { keep: true });
    return { ...rest, key, projection: data && (data.key === key || !rest.error) ? data.projection : null };
}

/** @param {import('./page.js').ChatProps} props */
export function PromptPage({ id, chat: about, route }) {
    const words = route.query;
    const strategy = about.strategy;
    const views = useLoad((signal) => chat(id).request('GET', '/views', { query: { limit: 1000 }, signal }), [id]);
    const { projection, error, loading, reload, key } = usePrompt(id, words, strategy);
    const named = /** @type {any[]} */ (views.data?.items ?? []);
    const format = words.format || named.find(({ name }) => name === words.view)?.format || 'openai';
    const given = { id, projection, words, strategy, format };
    return html`
        <${PromptOptions} words=${words} strategy=${strategy} views=${named} />
        <${Failure} error=${views.error} retry=${views.reload} />
        <${Failure} error=${error} retry=${reload} />
        ${!projection && !error && html`<${Loading} what="Putting the prompt together" />`}
        ${projection && html`
            <${Told} id=${id} projection=${projection} />
            <${Budget} projection=${projection}
                since=${words.view ? 'the view’s last request' : 'this page was opened'} />
            <${Prompt} ...${given} loading=${loading} />
            ${format !== 'openai' && html`<${Shape} ...${given}
                version=${key + projection.prefix_hash + projection.tokens.total + projection.memory.version} />`}`}`;
}

/** What the projection says beside the prompt. @param {{id: string, projection: any}} props */
const Told = ({ id, projection: { warnings, skipped, error } }) => html`
    ${warnings.map((/** @type {any} */ { code, detail }) => html`<${Note} key=${code} kind="warning">
        <p>${detail} <code>${code}</code></p></${Note}>`)}
    ${error && html`<${Note} kind="warning"><p>${error.detail ?? error.code}</p></${Note}>`}
    ${skipped && html`<${Note}><p>Nothing folds now (<code>${skipped.reason}</code>):
        ${` ${counted(skipped.pending_turns ?? 0, 'turn')} with ${counted(skipped.pending_tokens ?? 0, 'token')}`} wait.
        <a href=${href(['chats', id, 'care'])}> Care</a></p></${Note}>`}`;

/** @param {any} props */
function Prompt({ id, projection, loading, ...rest }) {
    const rows = useMemo(() => rowsOf(projection.sent ?? [], projection.left_out), [projection]);
    const sent = rows.filter((row) => !row.gap).length;
    return html`<${Section} title="Prompt" actions=${html`<${CopyButtons} id=${id} ...${rest} />`}
        about="In the order in which the model reads it. A gap says which messages are left out there, and why.">
        <p class="quiet-text" role="status">
            ${counted(sent, 'piece')}, ${counted(projection.tokens.total, 'token')}
            ${loading && ', being read anew…'}</p>
        <${PromptList} id=${id} rows=${rows} />
    </${Section}>`;
}
