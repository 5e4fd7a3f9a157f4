/** Takes chat files in, one after the other, wherever in the dashboard one is meanwhile. */
import { notify } from '../actions.js';
import { counted } from '../format.js';
import { go, read } from '../router.js';
import { asksForKey, chat, detailOf, turnfold } from '../server.js';
import { watched } from './watched.js';

/** @typedef {{code: string, detail: string}} Remark
 *  @typedef {{chat_id: string, messages: number, snippets: number, warnings: Remark[], waits: boolean}} Imported
 *  @typedef {{key: number, name: string, size: number, state: 'waiting'|'sending'|'done'|'refused', file: File|null,
 *    cut: AbortController, detail: string, result: Imported|null}} Arrival */

/** The files, in the order they came in. */
export const arrivals = watched(/** @type {Arrival[]} */ ([]));

let last = 0;
let busy = false;

/** @param {number} key @param {Partial<Arrival>} changes */
const change = (key, changes) => {
    arrivals.set(arrivals.get().map((one) => (one.key === key ? { ...one, ...changes } : one)));
};

/** @param {string} name @param {File|null} file @returns {Arrival} */
const arrival = (name, file) => ({
    key: last += 1, name, size: file?.size ?? 0, state: file ? 'waiting' : 'refused', file, cut: new AbortController(),
    detail: file ? '' : 'A folder cannot be taken in. Drop the chat files that are in it.', result: null,
});

/** @param {File[]} files @param {string[]} [folders] their names: these are refused */
export function takeIn(files, folders = []) {
    const before = busy ? arrivals.get() : [];
    const refused = folders.map((name) => arrival(name, null));
    arrivals.set([...before, ...refused, ...files.map((file) => arrival(file.name, file))]);
    if (!busy) void takeAll();
}

/** Leaves a file out, or cuts it. @param {Arrival} one */
export const leaveOut = (one) => {
    one.cut.abort();
    if (one.state === 'waiting') change(one.key, { state: 'refused', detail: 'Left out.', file: null });
};

/** Forgets what came in, unless some of it is still on its way. */
export const forget = () => { if (!busy) arrivals.set([]); };

async function takeAll() {
    busy = true;
    for (let next = waiting(); next; next = waiting()) await takeOne(next);
    busy = false;
    arrivals.set([...arrivals.get()]);
    openOnly();
}

const waiting = () => arrivals.get().find((one) => one.state === 'waiting');

/** @param {Arrival} one */
async function takeOne(one) {
    const { key, file, cut } = one;
    change(key, { state: 'sending' });
    try {
        const raw = await readable(/** @type {File} */ (file));
        const result = await turnfold.request('POST', '/import', { raw, signal: cut.signal, timeout: 0 });
        change(key, { state: 'done', result: { ...result, ...await settle(result.chat_id, one.name) }, file: null });
    } catch (error) {
        const needsKey = asksForKey(error);
        const detail = needsKey ? 'The server wants a key first. Choose the file again after that.' : told(error);
        change(key, { state: 'refused', detail, file: null });
    }
}

/** A chat without a title, or with its character's name for one, is called as its file is: a character has many
 *  chats. Says whether it waits for a choice before it folds.
 *  @param {string} id @param {string} file */
async function settle(id, file) {
    const about = chat(id);
    const { title, character_name: character } = await about.request('GET', '');
    const called = file.replace(/\.[^.]+$/, '').slice(0, 200);
    if (!title || title === character) await about.request('PATCH', '', { body: { title: called } });
    return { waits: (await about.status()).backlog.choice_needed };
}

/** A file that cannot be read would look like a server that cannot be reached. @param {File} file */
async function readable(file) {
    if (!file.size) throw new Error('The file is empty.');
    await file.slice(0, 1).arrayBuffer().catch((cause) => { throw new Error('The file cannot be read.', { cause }); });
    return file;
}

/** @param {any} error */
const told = (error) => (error?.code === 'aborted' ? 'Cut. If all of it had arrived by then, its chat is in the list.'
    : error instanceof Error && !('code' in error) ? error.message : detailOf(error));

/** One chat that came in as it was is what the person wants to see now. */
function openOnly() {
    const [one, ...more] = arrivals.get();
    const isPlain = !more.length && one.result && !one.result.warnings.length;
    if (!isPlain || read().parts.length) return;
    arrivals.set([]);
    go(['chats', /** @type {Imported} */ (one.result).chat_id]);
    notify(`Imported ${counted(/** @type {Imported} */ (one.result).messages, 'message')} from ${one.name}.`);
}
