/**
 * When SillyTavern's model is free for Turnfold: nobody generates, and nobody has begun or ended just now. Dry runs are
 * no generations; all replies of a group's round are one.
 */

import { isBusy, on } from './host.js';

const CALM_MS = 500; // after a generation: its reply is saved, and an automatic continuation may begin
const BEGINNING_MS = 1500; // of one that has begun and shows it nowhere yet; it may be a slash command alone
const LOOK_MS = 100;

let since = -Infinity;
let wait = 0;
let round = false;

/** @param {number} ms nobody else is let in for so long, from now on */
function hold(ms) {
    since = performance.now();
    wait = ms;
}

/**
 * Watches SillyTavern's generations. @param {() => void} taken called when one begins, and is no slash command
 */
export function startGate(taken) {
    const begins = () => {
        hold(BEGINNING_MS);
        taken();
    };
    on(['GENERATION_STARTED'], (_type, _options, dryRun) => dryRun || hold(BEGINNING_MS));
    on(['GENERATION_AFTER_COMMANDS'], (_type, _options, dryRun) => dryRun || begins());
    on(['GROUP_WRAPPER_STARTED'], () => { round = true; begins(); });
    on(['GROUP_WRAPPER_FINISHED'], () => { round = false; hold(CALM_MS); });
    on(['GENERATION_ENDED', 'GENERATION_STOPPED'], () => hold(CALM_MS));
}

/** Whether the model is free at this moment. */
export async function isFree() {
    return !await isBusy() && !round && performance.now() - since >= wait;
}

/** Until the model is free. Looks again and again while it is not: not every generation tells its end. */
export async function free() {
    while (!await isFree()) await new Promise((done) => setTimeout(done, LOOK_MS));
}
