/**
 * Where summaries come from: what the panel offers, which is in force, and the calls that SillyTavern's own models
 * answer.
 */

import { called, CONNECTION, ended, giveBack, isWilling, resume, show, startAnswering, wake } from './calls.js';
import { context, on, online } from './host.js';
import { refresh } from './memory.js';
import { listen, session, tell } from './session.js';
import { save, server, settings } from './settings.js';
import { part } from './turnfold.js';

/** The connections that the panel makes, by the kind of source. */
const NAMES = Object.freeze({
    main: CONNECTION,
    profile: CONNECTION,
    openai: 'sillytavern-openai',
    ollama: 'sillytavern-ollama',
    extractive: 'extractive',
});
const HINTS = Object.freeze({
    main: 'The model you play with writes the summaries too, while this page is open and you are not generating.'
        + ' Nothing of your preset goes along.',
    profile: "Another model of SillyTavern's, as a profile of its Connection Manager reaches it. A profile can bring"
        + ' formatting of its own along: its instruct template and its prompt post-processing.',
    server: 'The server asks it by itself, with this page closed too.',
    extractive: 'Picks whole sentences from the chat. Works at once and offline, and reads worse than what a model'
        + ' writes.',
});
/** The name of the connection that a kind of source has. @param {Source['kind']} kind */
export const connectionOf = (kind) => NAMES[kind];

const LENT = ['main', 'profile'];
const ENDED = ['succeeded', 'failed', 'cancelled'];
const SLOW_S = 600; // a model of one's own may read a long passage for minutes
const MOST_LEFT = 2; // a browser has six connections to a server, and streams take one each

/** @type {Map<string, AbortController>} chats that were left while a job of theirs ran, with what ends their streams */
const left = new Map();
/** @type {string|null} */
let opened = null;
/** @type {string|null} the chat that was asked about since it was opened, or the server came back */
let looked = null;
/** @type {string|null} the last chat that the server was known to have */
let known = null;

/**
 * @typedef {{kind: 'main'|'profile'|'openai'|'ollama'|'extractive', title: string, hint: string,
 *   profiles?: {id: string, name: string}[]}} Source
 */

/** What can write the summaries, the first choice first; `profiles` are those that can be asked. @returns {Source[]} */
export function sources() {
    return [
        { kind: 'main', title: "SillyTavern's connection", hint: HINTS.main },
        { kind: 'profile', title: 'A connection profile', hint: HINTS.profile, profiles: profiles() },
        { kind: 'openai', title: 'OpenAI-compatible', hint: HINTS.server },
        { kind: 'ollama', title: 'Ollama', hint: HINTS.server },
        { kind: 'extractive', title: 'Built in, without a model', hint: HINTS.extractive },
    ];
}

/** @returns {{id: string, name: string}[]} */
function profiles() {
    const { extensionSettings: all, ConnectionManagerRequestService: service } = context();
    if (all.disabledExtensions?.includes('connection-manager') || !all.connectionManager) return [];
    return service.getSupportedProfiles().map((/** @type {any} */ { id, name }) => ({ id, name }));
}

/**
 * Makes the connection as it is asked for, and has the chats use it: all of them, or the open one, as `scope` in the
 * settings says. Throws a TurnfoldError.
 * @param {Source['kind']} kind
 * @param {Record<string, any>} [fields] `profile` (an id); of openai and ollama those of `PUT /v1/connections/{name}`
 */
export async function chooseSource(kind, { profile = '', ...fields } = {}) {
    const name = NAMES[kind];
    if (LENT.includes(kind)) await provide(name);
    else if (kind !== 'extractive') await put(name, { provider: kind, ...fields });
    await useConnection(name);
    void refresh();
    if (!LENT.includes(kind)) return;
    Object.assign(settings(), { source: { kind, profile } });
    save();
    if (session.id) wake(session.id);
}

/**
 * The connection that lends SillyTavern's models; of one that is there already all is kept but too short a time.
 * @param {string} name
 */
export async function provide(name) {
    /** @type {Record<string, any>} */
    let kept = {};
    for await (const one of server().list('/connections')) {
        if (one.name === name && one.provider === 'client') kept = one;
    }
    if (kept.timeout_s >= SLOW_S) return;
    const { name: _name, source: _source, has_api_key: _key, ...fields } = kept;
    await put(name, { ...fields, provider: 'client', timeout_s: SLOW_S });
}

/** @param {string} name @param {Record<string, any>} body */
const put = (name, body) => server().request('PUT', `/connections/${part(name)}`, { body });

/** @param {string} connection */
const useConnection = (connection) => (settings().scope === 'chat' && session.id
    ? server().chat(session.id).request('PATCH', '', { body: { settings: { connection } } })
    : server().request('PATCH', '/settings', { body: { connection } }));

/**
 * Which source is in force, by the server's own word. `kind` is null where the server uses a connection that the panel
 * does not make; `note` says what must be done first, if anything.
 * @param {any} status the chat's
 * @returns {{kind: Source['kind']|null, profile: string, connection: string, note: string}}
 */
export function currentSource(status) {
    const connection = status?.connection?.name ?? '';
    const { kind, profile } = settings().source;
    const found = /** @type {Source['kind'][]} */ (Object.keys(NAMES)).find((one) => NAMES[one] === connection) ?? null;
    if (connection !== CONNECTION) return { kind: found, profile: '', connection, note: '' };
    return { kind: kind === 'profile' ? kind : 'main', profile, connection, note: note(kind, profile) };
}

/** @param {string} kind @param {string} profile */
function note(kind, profile) {
    if (!settings().enabled) return 'Turnfold is off here, so summaries wait.';
    if (isWilling()) return '';
    return kind === 'profile' && !profile ? 'Waiting: choose a profile.' : 'Waiting: connect SillyTavern to a model.';
}

/** Answers the server's calls from now on. */
export function startSource() {
    startAnswering();
    listen('opened', change);
    listen('closed', change);
    listen('phase', look);
    listen('event', ({ detail }) => hear(session.id, detail));
    on(['ONLINE_STATUS_CHANGED'], () => {
        tell('source');
        if (online()) resume();
    });
    change(); // a chat may be open already
    look();
}

/** Calls that came while nobody listened are told by no event. */
function look() {
    if (session.phase === 'away') looked = null;
    if (session.phase !== 'ready' || !session.id || looked === session.id) return;
    looked = known = session.id;
    wake(session.id);
}

/**
 * A stream begins with the job that runs: its call may have come after we looked and before we listened.
 * @param {string|null} chat @param {import('./turnfold.js').TurnfoldEvent} told
 */
function hear(chat, { event, data }) {
    if (!settings().enabled) return giveBack();
    if (!chat) return;
    if (event === 'client_call' && data.connection === CONNECTION) called(chat, data.id);
    if (event === 'job' && data.state === 'running' && isLent()) wake(chat);
    if (event === 'job' && ENDED.includes(data.state)) void ended(chat);
}

/**
 * Before the test of a connection: the server takes one of ours for working if somebody asked for calls just now.
 * @param {string} connection
 */
export const beforeTest = async (connection) => { if (connection === CONNECTION) await show(); };

/** Whether the open chat's summaries are ours to write, as far as is known. */
const isLent = () => (session.status?.connection.name ?? CONNECTION) === CONNECTION;

/** Another chat is open: the one that was goes on as long as its job needs us. */
function change() {
    looked = null;
    if (!settings().enabled) giveBack();
    if (session.id === opened) return;
    if (opened && opened === known) goOn(opened); // another is asked for in vain, and browsers print that
    opened = session.id;
    if (opened) left.get(opened)?.abort();
}

/** Answers a chat that is not open, until its job ends. @param {string} chat */
async function goOn(chat) {
    const cut = new AbortController();
    left.set(chat, cut);
    if (left.size > MOST_LEFT) [...left.values()][0].abort();
    try {
        await followLeft(chat, cut.signal);
    } finally {
        if (left.get(chat) === cut) left.delete(chat);
    }
}

/** @param {string} chat @param {AbortSignal} signal */
async function followLeft(chat, signal) {
    const status = await server().chat(chat).status({ signal }).catch(() => null);
    if (!status?.job || !settings().enabled) return;
    for await (const told of server().chat(chat).events({ signal, onOpen: () => wake(chat) })) {
        hear(chat, told);
        if (told.event === 'job' && ENDED.includes(told.data.state)) return;
    }
}
