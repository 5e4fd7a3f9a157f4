/**
 * Turnfold's slash commands: what was typed goes to the server, its text comes back, to the person and into the pipe.
 *
 * The server may know commands that this never heard of; they are registered when it is first met.
 */

import { context, messages, toast } from './host.js';
import { whichChat } from './identity.js';
import { listen, session } from './session.js';
import { server, settings } from './settings.js';
import { idOf, settled } from './sync.js';
import { refresh } from './memory.js';
import { part } from './turnfold.js';
import { repair } from './repair.js';
import { followJob } from './progress.js';
import { confirmClear, show } from './answers.js';

const SYNC_MS = 5000; // a command waits no longer for the latest changes to reach the server
const LISTED_MS = 10_000;

/** The commands that are there even while the server is away. @type {Record<string, string>} */
const BASE = {
    'sc-status': 'how the memory stands',
    'sc-preview': 'the memory as the model gets it',
    'sc-summarize': 'fold everything outside the window now',
    'sc-backlog': 'what a backlog would cost; with all, one or skip: what to do with it',
    'sc-stop': 'cut what runs on this chat',
    'sc-pause': 'stop folding by itself; the memory is still sent',
    'sc-resume': 'fold by itself again',
    'sc-clear': 'clear the memory; every message is visible again',
    'sc-repair': "what is wrong with this chat's memory",
    'sc-search': 'find words in messages and summaries',
    'sc-pin': 'keep a message in the prompt word for word, by its number or the newest one; with off: no longer',
    'sc-help': 'this list',
};
const ASKING = ['sc-clear', 'sc-repair'];
const READS = ['sc-status', 'sc-preview', 'sc-search', 'sc-help'];

/** @typedef {{quiet?: string, yes?: string}} Given the named arguments */

/** @type {Set<string>} */
const known = new Set();
let isListed = false;

/**
 * Runs a command; an error is shown in any case, and hands on nothing.
 * @param {string} name @param {Given} given @param {unknown} words @returns {Promise<string>} its text
 */
async function run(name, given, words) {
    const isQuiet = given.quiet === 'true';
    const isSure = isQuiet || given.yes === 'true';
    const said = String(words ?? '').trim();
    try {
        if (!settings().enabled) throw new Error('Turnfold is switched off, see its panel.');
        if (name === 'sc-repair' && !isSure && ['', 'now'].includes(said)) return await repair(); // it asks, and tells
        const text = await answer(name, said, isSure);
        if (text && !isQuiet) show(name, text);
        return text;
    } catch (error) {
        toast('error', `/${name}: ${/** @type {any} */ (error).detail ?? /** @type {any} */ (error).message}`);
        return '';
    }
}

/** @param {string} name @param {string} words @param {boolean} isSure @returns {Promise<string>} '': there is none */
async function answer(name, words, isSure) {
    if (!whichChat() && name === 'sc-help') return helped(await listed());
    const { chat, signal } = atHand();
    await settled(SYNC_MS);
    stay(signal);
    if (name === 'sc-clear' && !isSure && !await confirmClear(signal)) return '';
    const line = name === 'sc-pin' ? await inItsNumbers(words, chat) : words;
    stay(signal);
    const { text, data } = await chat.command(`/${name} ${line}`.trim());
    if (isActive(data?.job)) followJob(data.job);
    if (!READS.includes(name) && !signal.aborted) await refresh();
    return text;
}

/** The chat that the command was given in. @returns {{chat: import('./turnfold.js').Chat, signal: AbortSignal}} */
function atHand() {
    const open = whichChat();
    if (!open) throw new Error('No chat is open. It is about the chat that is.');
    const { id, chat, signal } = session;
    if (!chat || id !== open.id) throw new Error('The chat is just being opened. Try again in a moment.');
    return { chat, signal };
}

/** A command goes to no other chat than its own. @param {AbortSignal} signal */
function stay(signal) {
    if (signal.aborted) throw new Error('Another chat was opened meanwhile, so nothing was done.');
}

/** @param {any} job */
const isActive = (job) => ['queued', 'running'].includes(job?.state);

/** The words of `/sc-pin` with the server's number for SillyTavern's. @param {string} words @param {any} chat */
async function inItsNumbers(words, chat) {
    const [, number, rest] = /^(\d+)(.*)$/s.exec(words) ?? [];
    if (!number) return words;
    const message = messages()[Number(number)];
    if (!message) throw new Error(`There is no message ${number}; the newest is ${messages().length - 1}.`);
    const { index } = await chat.request('GET', `/messages/${part(idOf(message) ?? '')}`);
    return `${index}${rest}`;
}

/** @returns {Promise<{name: string, help: string}[]>} */
const listed = async () => (await server(LISTED_MS).request('GET', '/commands')).items;

/** @param {{name: string, help: string}[]} items */
const helped = (items) => items.map(({ name, help }) => `${name}: ${help}`).join('\n');

/** Registers what the server knows besides. */
async function learn() {
    if (isListed || !settings().enabled) return;
    isListed = true;
    try {
        for (const { name, help } of await listed()) register(name.replace(/^\//, ''), help);
    } catch {
        isListed = false; // it is away; asked again when it is back
    }
}

/** @param {string} name @param {string} help */
function register(name, help) {
    if (known.has(name) || !/^[\w-]+$/.test(name)) return;
    known.add(name);
    const { SlashCommand, SlashCommandParser } = context();
    const own = name.replace(/^sc-/, 'turnfold-');
    const free = [name, own].filter((one) => !Object.hasOwn(SlashCommandParser.commands, one));
    if (!free.length) return;
    SlashCommandParser.addCommandObject(SlashCommand.fromProps({
        name: free[0],
        aliases: free.slice(1),
        callback: (/** @type {Given} */ given, /** @type {unknown} */ words) => run(name, given, words),
        returns: 'what the server says',
        helpString: asMarkup(`Turnfold: ${help}.`),
        ...accepted(name),
    }));
}

/** What a command takes, for SillyTavern's completion. @param {string} name */
function accepted(name) {
    const { SlashCommandArgument, SlashCommandNamedArgument, ARGUMENT_TYPE } = context();
    const values = { typeList: [ARGUMENT_TYPE.BOOLEAN], defaultValue: 'false', enumList: ['true', 'false'] };
    /** @param {string} flagged @param {string} description */
    const flag = (flagged, description) => (
        SlashCommandNamedArgument.fromProps({ name: flagged, description, ...values })
    );
    return {
        namedArgumentList: [
            flag('quiet', 'only return the text, show nothing'),
            ...(ASKING.includes(name) ? [flag('yes', 'do not ask first')] : []),
        ],
        unnamedArgumentList: [
            SlashCommandArgument.fromProps({ description: 'words', typeList: [ARGUMENT_TYPE.STRING] }),
        ],
    };
}

/** Help is shown as HTML. @param {string} text */
function asMarkup(text) {
    const holder = document.createElement('span');
    holder.textContent = text;
    return holder.innerHTML;
}

/**
 * Registers the commands. A name that another extension has taken stays its own (Summaryception has three of them);
 * as `/turnfold-…` each is there in any case.
 */
export function startCommands() {
    for (const [name, help] of Object.entries(BASE)) register(name, help);
    listen('phase', () => {
        if (session.phase === 'away') isListed = false;
        if (session.phase === 'ready') void learn();
    });
    void learn();
}
