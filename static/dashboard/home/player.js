/** Plays the demo's story into a chat, a few turns at a time, wherever in the dashboard one is meanwhile. */
import { TurnfoldError } from '../../turnfold.js';
import { asksForKey, chat, turnfold } from '../server.js';
import { DEMO_ID, due, FIELDS, LENGTH_MS, STORY, TURNS, turnsOf } from './story.js';
import { watched } from './watched.js';

/** `played` of `turns` are stored. After `stopped` and `failed` it can go on; what is stored is always whole turns.
 *  @typedef {{id: string, state: 'playing'|'paused'|'skipping'|'stopped'|'failed'|'ended', played: number,
 *    turns: number, error: unknown}} Play */

const STEP_MS = 250;
const FOLD_S = 60;
const SKIPPED = 30; // turns in one call on the way to the end: it can still be stopped
const GOING = ['playing', 'paused', 'skipping'];

/** The play of this page, if there was one. */
export const play = watched(/** @type {Play|null} */ (null));

/** Whether it plays, or would if it were not paused. @param {Play|null} now @returns {now is Play} */
export const isGoing = (now) => now !== null && GOING.includes(now.state);

/** @param {Partial<Play>} changes */
const change = (changes) => { const now = play.get(); if (now) play.set({ ...now, ...changes }); };

let running = 0; // which run of the loop may go on
let wake = () => {};

/** Begins to play, unless the demo is there. @returns {Promise<string>} the chat's id */
export async function startDemo() {
    const now = play.get();
    if (isGoing(now)) return now.id;
    const found = await turnfold.request('GET', '/chats', { query: { q: DEMO_ID, limit: 1000 } });
    const isThere = found.items.some((/** @type {any} */ one) => one.id === DEMO_ID);
    return isThere ? DEMO_ID : begin(DEMO_ID);
}

/** Plays the story once more, into a chat of its own. */
export const playAgain = () => begin(`${DEMO_ID}-${Date.now().toString(36)}`);

/** @param {string} id */
async function begin(id) {
    await chat(id).put(FIELDS);
    goOn(id, 0);
    return id;
}

/** Plays on from where a chat's story stands. @param {string} id @param {number} played turns it has */
export function goOn(id, played) {
    play.set({ id, state: 'playing', played, turns: TURNS, error: null });
    void run(running += 1);
}

export const pause = () => change({ state: 'paused' });
export const resume = () => { change({ state: 'playing' }); wake(); };
export const skip = () => { change({ state: 'skipping' }); wake(); };

/** Ends it after the turns that are on their way. */
export function stop() {
    change({ state: 'stopped' });
    wake();
}

/** Forgets about a play that is over. */
export const close = () => { if (!isGoing(play.get())) play.set(null); };

/** @param {number} mine */
async function run(mine) {
    const goes = () => mine === running && isGoing(play.get());
    try {
        const turns = await story();
        let last = performance.now() - STEP_MS;
        while (goes()) {
            const now = /** @type {Play} */ (play.get());
            if (now.played >= turns.length) return change({ state: 'ended' });
            const count = now.state === 'skipping' ? SKIPPED : due(performance.now() - last, turns.length);
            last += (count * LENGTH_MS) / turns.length;
            if (now.state !== 'paused') await step(now, turns, count);
            if (goes()) last = await rest(last);
        }
    } catch (error) {
        asksForKey(error);
        if (mine === running) change({ state: 'failed', error });
    }
}

/** @returns {Promise<import('./story.js').Line[][]>} */
async function story() {
    const response = await fetch(STORY);
    if (!response.ok) throw new Error(`The story cannot be read: the server answered ${response.status}.`);
    return turnsOf(await response.text());
}

/** Stores the next turns, and waits until they are folded.
 *  @param {Play} now @param {import('./story.js').Line[][]} turns @param {number} count */
async function step({ id, played }, turns, count) {
    const next = turns.slice(played, played + count);
    const answer = await chat(id).append(next.flat(), { fold: 'wait', wait_s: FOLD_S }).catch(unlessDeleted);
    if (!answer) play.set(null);
    else if (played && answer.items[0].index === 0) await withdraw(id);
    else if (play.get()?.id === id) change({ played: played + next.length });
}

/** @param {unknown} error of an append: the chat was deleted while it folded */
function unlessDeleted(error) {
    if (error instanceof TurnfoldError && error.status === 404) return null;
    throw error;
}

/** An append makes the chat that is missing: the demo was deleted while it played, and stays so. @param {string} id */
async function withdraw(id) {
    await chat(id).request('DELETE', '');
    play.set(null);
}

/** Waits for the next step, or while it is paused. @param {number} since when its turns begin to count
 *  @returns {Promise<number>} the same, or after a pause from when on they do */
async function rest(since) {
    const state = play.get()?.state;
    if (state === 'skipping') return since;
    const woken = new Promise((done) => { wake = () => done(undefined); });
    const timer = state === 'paused' ? 0 : setTimeout(() => wake(), Math.max(0, since + STEP_MS - performance.now()));
    await woken;
    clearTimeout(timer);
    return state === 'playing' ? since : performance.now() - STEP_MS;
}
