/**
 * Coming from Summaryception or one of its forks: what it remembers of the open chat, its settings and its connection
 * are taken over, if one wants that. Its own store stays where it is, so that one can go back.
 *
 * Nothing folds before this is answered: a chat that brings such a memory begins on the server paused.
 */

import { context, isGenerating, messages, on, toast } from './host.js';
import { idOf, toHistory } from './history.js';
import { refresh } from './memory.js';
import { isHiddenThere, linkOf, settingsOf, sizeOf, translated } from './original.js';
import { beginnings, listen, session } from './session.js';
import { save, settings } from './settings.js';
import { connectionOf, provide } from './source.js';
import { drawOffer } from './takeover-dialog.js';
import { conclude, concludeLater, isRunning, store, theirs } from './takeover-file.js';
import { part } from './turnfold.js';

/**
 * @typedef {import('./original.js').Carried} Carried @typedef {import('./original.js').Link} Link
 * @typedef {import('./takeover-dialog.js').Decided} Decided
 * @typedef {import('./takeover-file.js').At} At
 * @typedef {Carried|Link} Item
 */

const THEIRS = 'summaryception'; // the server's connection to what they called by themselves
const IMPORT_MS = 120_000;

let wasAsked = false;

/** Whether the open chat has a memory of Summaryception that nobody has decided about. */
export const isUndecided = () => sizeOf(store()).snippets > 0 && !context().chatMetadata.turnfold?.summaryception;

/** Offers it when a chat is opened that has one, and that the server remembers nothing of. */
export function startTakeover() {
    beginnings.push(() => (settings().enabled && isUndecided() ? { paused: true } : {}));
    listen('opened', () => { wasAsked = false; });
    listen('status', consider);
    on(['GENERATION_ENDED', 'GENERATION_STOPPED'], consider);
}

function consider() {
    if (session.phase !== 'ready' || !settings().enabled || isGenerating()) return;
    if (concludeLater() || wasAsked) return;
    if (!isUndecided() || session.status?.strategy !== 'layered' || session.status.layers.length) return;
    void takeOver();
}

/** Asks whether to take the open chat's memory over, and does it. */
export async function takeOver() {
    const { id, chat, signal } = session;
    if (!id || !chat || session.phase !== 'ready') {
        return toast('info', 'Open a chat first, with Turnfold’s server running.');
    }
    if (!sizeOf(store()).snippets) return toast('info', 'Summaryception has left no memory in this chat.');
    wasAsked = true;
    try {
        await decide({ id, chat, signal });
    } catch (error) {
        if (!signal.aborted) toast('error', /** @type {any} */ (error).detail ?? String(error));
    }
    return undefined;
}

/** Nothing is to fold while the question stands; without an answer all is as it was. @param {At} at */
async function decide(at) {
    const { chat, signal } = at;
    const wasDecided = !isUndecided();
    const { paused = null } = (await chat.request('GET', '', { signal })).settings;
    await chat.put({ settings: { paused: true } });
    const offer = signal.aborted ? null : await gathered(at);
    const decided = offer && !signal.aborted ? await drawOffer(offer, signal) : null;
    if (offer && decided && !signal.aborted) await carryOut(at, decided, offer.items);
    else if (wasDecided) await chat.put({ settings: { paused } });
}

/** @param {At} at */
async function gathered({ chat, signal }) {
    const ours = await chat.server.request('GET', '/settings', { signal });
    const link = linkOf(theirs());
    const items = [...settingsOf(theirs(), ours), ...(link && !isLinked(link, ours) ? [link] : [])];
    return { ...sizeOf(store()), hidden: messages().filter(isHiddenThere).length, items, running: isRunning() };
}

/** @param {Link} link */
const nameOf = ({ kind }) => (kind === 'server' ? THEIRS : connectionOf(kind));

/** @param {Link} link @param {any} ours */
function isLinked(link, ours) {
    if (ours.connection !== nameOf(link)) return false;
    const { kind, profile } = settings().source;
    return link.kind === 'server' || (kind === link.kind && profile === (link.profile ?? ''));
}

/**
 * What is begun is finished, even if another chat is opened meanwhile.
 * @param {At} at @param {Decided} decided @param {Item[]} items
 */
async function carryOut(at, { answer, chosen, scope }, items) {
    if (answer !== 'left' && chosen.has('off')) switchOff();
    if (answer === 'taken') return take(at, items.filter(({ id }) => chosen.has(id)), scope);
    await at.chat.put({ settings: answer === 'left' ? { enabled: false, paused: null } : { enabled: null, paused: null } });
    return conclude(at, { answer });
}

/** It stays as it is otherwise, its settings and what it remembers too. */
function switchOff() {
    theirs().enabled = false;
    save();
}

/** @param {At} at @param {Item[]} items @param {Decided['scope']} scope */
async function take(at, items, scope) {
    const { chat, signal } = at;
    const body = translated(store(), theirIds(), placing()); // of the chat in the page, which another may soon be
    await apply(at, items, scope);
    const { snippets, warnings } = await chat.request('POST', '/import', { body, timeout: IMPORT_MS });
    const stays = items.some((item) => 'values' in item && item.values.paused);
    if (snippets) await chat.put({ settings: { enabled: null, paused: stays ? true : null } });
    if (!signal.aborted) await refresh(); // it may have been under way before the memory was there
    await conclude(at, { answer: 'taken', snippets, warnings });
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

/** @param {At} at @param {Item[]} items @param {Decided['scope']} scope */
async function apply({ chat }, items, scope) {
    /** @type {Record<string, any>} */
    const values = {};
    for (const item of items) {
        if ('kind' in item) values.connection = await link(chat, item);
        else if (item.values.layered) values.layered = { ...values.layered, ...item.values.layered };
    }
    if (!Object.keys(values).length) return;
    if (scope === 'chat') await chat.put({ settings: values });
    else await chat.server.request('PATCH', '/settings', { body: values });
}

/**
 * Makes who wrote the summaries write ours.
 * @param {import('./turnfold.js').Chat} chat @param {Link} item @returns {Promise<string>} the connection's name
 */
async function link(chat, item) {
    const { kind, profile = '', connection } = item;
    const name = nameOf(item);
    if (kind === 'server') {
        await chat.server.request('PUT', `/connections/${part(name)}`, { body: connection });
        return name;
    }
    await provide(name);
    Object.assign(settings(), { source: { kind, profile } });
    save();
    return name;
}
