/**
 * Coming from Summaryception or one of its forks: what it remembers of the open chat, its settings and its connection
 * are taken over, if one wants that. Its own store stays where it is, so that one can go back.
 *
 * Nothing folds before this is answered: a chat that brings such a memory begins on the server paused.
 */

import { context, isGenerating, messages, on, toast } from './host.js';
import { idOf, toHistory } from './history.js';
import { isGhosted, refresh } from './memory.js';
import { isHiddenThere, isMarkedThere, linkOf, settingsOf, sizeOf, translated } from './original.js';
import { beginnings, listen, session } from './session.js';
import { save, settings } from './settings.js';
import { drawOffer, drawResult } from './takeover-dialog.js';
import { unhide } from './unhide.js';

/** @typedef {import('./original.js').Carried} Carried @typedef {import('./original.js').Link} Link */
/** @typedef {'taken'|'anew'|'left'} Answer kept in the chat's metadata */

const CONNECTION = 'summaryception';
const OURS = 'SillyTavern'; // the server's connection that this extension answers
const IMPORT_MS = 120_000;

let wasAsked = false;

const store = () => context().chatMetadata?.summaryception;
const theirs = () => context().extensionSettings.summaryception;

/** Whether the open chat has a memory of Summaryception that nobody has decided about. */
export const isUndecided = () => sizeOf(store()).snippets > 0 && !context().chatMetadata.turnfold?.summaryception;

/** Whether it still runs in this page and hides messages. */
const isRunning = () => Boolean(theirs()) && theirs().enabled !== false
    && [...document.scripts].some((script) => /summaryception/i.test(script.src));

/** Offers it when a chat is opened that has one, and that the server remembers nothing of. */
export function startTakeover() {
    beginnings.push(() => (settings().enabled && isUndecided() ? { paused: true } : {}));
    listen('opened', () => { wasAsked = false; });
    listen('status', consider);
    on(['GENERATION_ENDED', 'GENERATION_STOPPED'], consider);
}

function consider() {
    if (wasAsked || session.phase !== 'ready' || !settings().enabled || isGenerating()) return;
    if (!isUndecided() || session.status?.strategy !== 'layered' || session.status.layers.length) return;
    void takeOver();
}

/** Asks whether to take the open chat's memory over, and does it. */
export async function takeOver() {
    const { chat, signal } = session;
    if (!chat || session.phase !== 'ready') return toast('info', 'Open a chat first, with Turnfold’s server running.');
    if (!sizeOf(store()).snippets) return toast('info', 'Summaryception has left no memory in this chat.');
    wasAsked = true;
    const wasPaused = session.status?.paused;
    try {
        await hold();
        const offer = await gathered();
        const answer = signal.aborted ? null : await drawOffer(offer, signal);
        if (answer && !signal.aborted) await carryOut(answer, offer);
        else if (!signal.aborted && !isUndecided()) await put({ paused: wasPaused ? true : null });
    } catch (error) {
        if (!signal.aborted) toast('error', /** @type {any} */ (error).detail ?? String(error));
    }
    return undefined;
}

/** Nothing is to fold while the question stands. */
async function hold() {
    if (!session.status?.paused) await put({ paused: true });
}

/** @param {Record<string, any>} values of this chat's settings; null follows the server */
const put = (values) => session.chat?.put({ settings: values });

async function gathered() {
    const ours = await session.chat?.server.request('GET', '/settings', { signal: session.signal });
    const link = linkOf(theirs());
    const items = [...settingsOf(theirs(), ours), ...(link && !isLinked(link, ours) ? [link] : [])];
    return { ...sizeOf(store()), hidden: messages().filter(isHiddenThere).length, items, running: isRunning() };
}

/** @param {Link} link @param {any} ours */
function isLinked(link, ours) {
    if (link.kind === 'server') return ours.connection === CONNECTION;
    const { kind, profile } = settings().source;
    return ours.connection === OURS && kind === link.kind && profile === (link.profile ?? '');
}

/**
 * @param {{answer: Answer, chosen: Set<string>}} decided
 * @param {{items: (Carried|Link)[]}} offer
 */
async function carryOut({ answer, chosen }, { items }) {
    if (answer === 'left') {
        await put({ enabled: false, paused: null });
        mark(answer);
        await context().saveMetadata();
        toast('info', 'Turnfold stays out of this chat. Its panel has a button if you change your mind.');
        return refresh();
    }
    if (chosen.has('off')) switchOff();
    return answer === 'taken' ? take(items.filter(({ id }) => chosen.has(id))) : beginAnew();
}

/** It stays as it is otherwise, its settings and what it remembers too. */
function switchOff() {
    theirs().enabled = false;
    save();
}

async function beginAnew() {
    mark('anew');
    await unhide(messages().filter(isMarkedThere));
    await put({ enabled: null, paused: null });
    return refresh();
}

/** What is begun is finished, even if another chat is opened meanwhile. @param {(Carried|Link)[]} items */
async function take(items) {
    const { signal } = session;
    const chat = /** @type {import('./turnfold.js').Chat} */ (session.chat);
    const stays = await apply(items);
    if (signal.aborted) return;
    const body = translated(store(), theirIds(), placing());
    const result = await chat.request('POST', '/import', { body, timeout: IMPORT_MS });
    if (result.snippets) await chat.put({ settings: { enabled: null, paused: stays ? true : null } });
    await refresh();
    await refresh(); // the first one may have been under way before the memory was there
    if (!signal.aborted) await finish(result, signal);
}

/** Shows what a snippet covers now, and tells. @param {any} result of the import @param {AbortSignal} signal */
async function finish(result, signal) {
    const hidden = messages().filter(isHiddenThere);
    const stranded = new Set(result.snippets ? hidden.filter((message) => !isGhosted(message)) : []);
    if (result.snippets) {
        mark('taken');
        await unhide(messages().filter((message) => isMarkedThere(message) && !stranded.has(message)));
    }
    const ghosts = hidden.length - stranded.size;
    const told = { ...result, ghosts, stranded: stranded.size, running: isRunning() };
    if (await drawResult(told, signal) && !signal.aborted) await unhide([...stranded]);
}

/** Our ids by those that a fork gave its messages. @returns {Map<string, string>} */
const theirIds = () => new Map(messages().filter(({ extra }) => typeof extra?.sc_id === 'string')
    .map((message) => [message.extra.sc_id, String(idOf(message))]));

/** How many of the messages before a place the server has: not those without a text, or with one that is too long. */
function placing() {
    const known = new Set(toHistory(messages()).lines.map(({ id }) => id));
    const counts = [0];
    for (const message of messages()) counts.push(counts[counts.length - 1] + Number(known.has(String(idOf(message)))));
    return (/** @type {number} */ place) => counts[place] ?? place;
}

/** @param {(Carried|Link)[]} items @returns {Promise<boolean>} whether the chat is to stay paused */
async function apply(items) {
    /** @type {Record<string, any>} */
    const values = {};
    for (const item of items) {
        if ('kind' in item) values.connection = await link(item);
        else if (!item.values.paused) values.layered = { ...values.layered, ...item.values.layered };
    }
    if (Object.keys(values).length) {
        if (settings().scope === 'chat') await put(values);
        else await session.chat?.server.request('PATCH', '/settings', { body: values });
    }
    return items.some((item) => 'values' in item && item.values.paused);
}

/** Makes who wrote the summaries write ours. @param {Link} item @returns {Promise<string>} the connection's name */
async function link({ kind, profile = '', connection = { provider: 'client' } }) {
    const name = kind === 'server' ? CONNECTION : OURS;
    await session.chat?.server.request('PUT', `/connections/${name}`, { body: connection });
    if (kind !== 'server') {
        settings().source = { ...settings().source, kind, profile };
        save();
    }
    return name;
}

/** Saved with the chat. @param {Answer} answer */
function mark(answer) {
    const metadata = context().chatMetadata;
    metadata.turnfold = { ...metadata.turnfold, summaryception: answer };
}
