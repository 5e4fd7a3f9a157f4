/**
 * SillyTavern's chat as Turnfold's history, and the fewest small requests that make one history out of another.
 *
 * Nothing in here knows of a page or a network. What a message becomes is what the server's importer
 * (app/formats/sillytavern.py) makes of the same line in a chat's file.
 */

import { sentAt } from './dates.js';
import { identify, idOf } from './ids.js';

export { digest } from './checksum.js';
export { identify, idOf };

/**
 * @typedef {{id: string, role: 'user'|'assistant'|'system'|'tool', name: string|null, content: string|null,
 *   hidden: boolean, created_at?: string, history?: 'omit', pinned?: true, tool_calls?: any[],
 *   tool_call_id?: string}} Line
 * @typedef {{kind: 'append', lines: Line[]} | {kind: 'edit', line: Line, changes: Record<string, any>}
 *   | {kind: 'remove', id: string} | {kind: 'whole', lines: Line[]}} Op
 */

const MOST_BYTES = 1024 * 1024;
const MOST_NAME = 500;
const MOST_APPENDED = 1000; // by one request
const MOST_CHARS = 3_500_000; // of them; a body may have 16 MiB
const MOST_OPS = 20; // beyond that the whole history is less
const NOTES = new Set(['narrator', 'comment']);
const UNSTORABLE = /[\0\ud800-\udfff]/u;
const BLANK = /^(?:[^\S\ufeff]|[\x1c-\x1f\x85])*$/; // Python's idea of it
const SAME = /** @type {const} */ (['content', 'name', 'hidden']);

/** @type {WeakMap<object, {said: any[], line: Line|null}>} */
const made = new WeakMap();

/**
 * The history of a chat. A message that did not change is the same object as the last time.
 * @param {any[]} messages SillyTavern's, identified
 * @returns {{lines: Line[], tooLong: number[]}} `tooLong`: places of messages that no server takes
 */
export function toHistory(messages) {
    /** @type {{lines: Line[], tooLong: number[]}} */
    const history = { lines: [], tooLong: [] };
    messages.forEach((message, place) => {
        const line = remade(message);
        if (line && isTooLong(line.content ?? '')) history.tooLong.push(place);
        else if (line) history.lines.push(line);
    });
    return history;
}

/** @param {any} message @returns {Line|null} */
function remade(message) {
    const said = saidBy(message);
    const before = made.get(message);
    if (before && said.every((part, at) => part === before.said[at])) return before.line;
    const line = toMessage(message);
    made.set(message, { said, line });
    return line;
}

/** Whatever a line is made of. @param {any} message */
function saidBy(message) {
    const { mes, name, is_user, is_system, swipe_id, send_date, extra } = message;
    return [mes, name, is_user, is_system, swipe_id, send_date, extra?.type, extra?.sc_ghosted, idOf(message)];
}

/**
 * A message of SillyTavern, identified, as Turnfold's; null where it has no text at all.
 * @param {any} message @returns {Line|null}
 */
export function toMessage(message) {
    const text = textOf(message);
    if (text === null) return null;
    const extra = object(message.extra);
    const marks = object(extra.turnfold);
    const off = message.is_system === true && extra.sc_ghosted !== true;
    const name = nameOf(message.name);
    return {
        id: /** @type {string} */ (idOf(message)),
        role: marks.role === 'tool' ? 'tool' : roleOf(message, extra),
        name: name !== null && name === marks.given_name ? null : name,
        content: marks.wordless === true && Array.isArray(marks.tool_calls) && !text ? null : text,
        hidden: off && (marks.hidden === true || marks.history !== 'omit'),
        ...marked(marks, off),
        ...dated(message.send_date),
    };
}

/** What an export of Turnfold wrote beside a message. @param {Record<string, any>} marks @param {boolean} off */
function marked(marks, off) {
    return {
        ...(off && marks.history === 'omit' && { history: /** @type {const} */ ('omit') }),
        ...(marks.pinned === true && { pinned: /** @type {const} */ (true) }),
        ...(Array.isArray(marks.tool_calls) && { tool_calls: marks.tool_calls }),
        ...(typeof marks.tool_call_id === 'string' && { tool_call_id: marks.tool_call_id }),
    };
}

/** @param {unknown} value */
function dated(value) {
    const at = sentAt(value);
    return at ? { created_at: at } : {};
}

/** What a message says, else the swipe that was chosen. @param {any} message @returns {string|null} */
function textOf({ mes, swipes, swipe_id = 0 }) {
    const text = typeof mes === 'string' ? mes : Array.isArray(swipes) ? swipes[swipe_id] : null;
    return typeof text === 'string' ? storable(text) : null;
}

/** @param {any} message @param {Record<string, any>} extra @returns {'user'|'assistant'|'system'} */
function roleOf(message, extra) {
    if (message.is_user === true) return 'user';
    return NOTES.has(extra.type) ? 'system' : 'assistant';
}

/** @param {unknown} value @returns {string|null} */
function nameOf(value) {
    if (typeof value !== 'string' || BLANK.test(value)) return null;
    return value.length > MOST_NAME ? [...storable(value)].slice(0, MOST_NAME).join('') : storable(value);
}

/** @param {string} text */
const storable = (text) => UNSTORABLE.test(text) ? text.replace(new RegExp(UNSTORABLE, 'gu'), '\ufffd') : text;

/** @param {string} text */
const isTooLong = (text) => text.length * 3 > MOST_BYTES && new TextEncoder().encode(text).length > MOST_BYTES;

/** @param {unknown} value @returns {Record<string, any>} */
const object = (value) => typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

/**
 * What makes `now` out of `synced`: small requests where messages were only changed, removed or added at the end, else
 * the whole history.
 * @param {Line[]} synced @param {Line[]} now @returns {Op[]}
 */
export function diff(synced, now) {
    let next = 0;
    while (next < now.length && synced[next] === now[next]) next += 1;
    const rest = new Set(now.slice(next).map((line) => line.id));
    /** @type {Op[]} */
    const ops = [];
    for (const old of synced.slice(next)) {
        const line = rest.has(old.id) ? now[next++] : null;
        const op = line ? edit(old, line) : /** @type {Op} */ ({ kind: 'remove', id: old.id });
        if (op?.kind === 'whole' || ops.length === MOST_OPS) return [{ kind: 'whole', lines: now }];
        if (op) ops.push(op);
    }
    return [...ops, ...packs(now.slice(next)).map((lines) => /** @type {Op} */ ({ kind: 'append', lines }))];
}

/** @param {Line} old @param {Line} line @returns {Op|null} */
function edit(old, line) {
    if (old.id !== line.id || old.role !== line.role) return { kind: 'whole', lines: [] };
    const changed = SAME.filter((field) => old[field] !== line[field]);
    if (!changed.length) return null;
    return { kind: 'edit', line, changes: Object.fromEntries(changed.map((field) => [field, line[field]])) };
}

/** Lines in portions that one request may hold. @param {Line[]} lines @returns {Line[][]} */
export function packs(lines) {
    /** @type {Line[][]} */
    const found = [];
    let room = 0;
    for (const line of lines) {
        const size = (line.content ?? '').length;
        const pack = found.at(-1);
        if (pack && pack.length < MOST_APPENDED && size <= room) pack.push(line);
        else found.push([line]);
        room = (found.at(-1) === pack ? room : MOST_CHARS) - size;
    }
    return found;
}

/**
 * A history once a request was carried out.
 * @param {Line[]} lines @param {Op} op @returns {Line[]}
 */
export function after(lines, op) {
    switch (op.kind) {
        case 'append': return [...lines, ...op.lines];
        case 'edit': return lines.map((line) => line.id === op.line.id ? op.line : line);
        case 'remove': return lines.filter((line) => line.id !== op.id);
        default: return op.lines;
    }
}

/**
 * The history without a reply that is still being written: SillyTavern writes it into the last message, which is as the
 * server knows it until then.
 * @param {Line[]} lines @param {Line[]|null} synced @param {boolean} isGenerating @returns {Line[]}
 */
export function held(lines, synced, isGenerating) {
    const last = lines.at(-1);
    if (!last || last.role === 'user' || (!isGenerating && last.content !== '...')) return lines;
    const before = synced?.find((line) => line.id === last.id);
    return [...lines.slice(0, -1), ...(before ? [before] : [])];
}
