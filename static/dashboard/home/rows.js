/** What stands in the list of chats, and in which order. Pure. */

/** @typedef {import('../../turnfold.js').Job} Job */
/** @typedef {{id: string, title: string|null, character_name: string|null, user_name: string|null, strategy: string,
 *    counts: {messages: number, turns: number, ghosted: number}|null, updated_at: string, gone?: boolean}} Row */

const GOING = ['queued', 'running'];

/** The newest job of each chat. @param {Job[]} jobs newest first @returns {Record<string, Job>} by chat */
export const newestOf = (jobs) => Object.fromEntries([...jobs].reverse().map((job) => [job.chat_id, job]));

/**
 * The rows in the order to show them in: newest activity first. While somebody points at them, or has the focus among
 * them, they stay where they are: what is deleted is marked `gone`, what is new at the top waits.
 * @param {Row[]} shown @param {Row[]} fresh @param {boolean} held @returns {Row[]}
 */
export function settled(shown, fresh, held) {
    if (!held || !shown.length) return fresh;
    const now = new Map(fresh.map((row) => [row.id, row]));
    const ids = new Set(shown.map((row) => row.id));
    const last = fresh.map((row) => ids.has(row.id)).lastIndexOf(true);
    const kept = shown.map((row) => now.get(row.id) ?? { ...row, gone: true });
    return [...kept, ...fresh.slice(last + 1)];
}

/** How many chats wait to be shown. @param {Row[]} shown @param {Row[]} fresh */
export const waiting = (shown, fresh) => fresh.length - shown.filter((row) => !row.gone).length;

/**
 * What a row says of the chat's newest job: that it goes on and how far, or that it failed and why.
 * @param {Job|undefined} job @returns {{going: boolean, percent: number|null, text: string}|null}
 */
export function workOf(job) {
    if (!job) return null;
    const fault = job.error?.detail ?? job.reason ?? 'Its reason is not known.';
    if (job.state === 'failed') return { going: false, percent: null, text: fault };
    if (!GOING.includes(job.state)) return null;
    const { done, total, percent } = job.progress;
    if (job.state === 'queued' && !done) return { going: true, percent: null, text: 'Waits to be folded' };
    const text = total > 1 ? `Folding, ${done} of ${total} batches` : 'Folding';
    return { going: true, percent: total ? percent : null, text };
}
