/**
 * Changes on their way to the server: gathered for a moment, then sent one after another. The last word on a setting
 * wins, whatever order answers come in, because there is never more than one question under way.
 */

/**
 * @typedef {{key: string, patch: (values: Record<string, any>) => Promise<any>}} Target where settings are kept; two
 *   targets with the same key are the same
 * @typedef {object} Outcome
 * @property {(target: Target, answer: any) => void} onSaved
 * @property {(target: Target, error: any, paths: string[]) => void} onRefused what was changed is as it was before
 */

/**
 * `{a: {b: value}}` of `a.b`, laid into `values`.
 * @param {Record<string, any>} values @param {string} path @param {any} value
 */
function lay(values, path, value) {
    const [first, ...rest] = path.split('.');
    if (rest.length) lay(values[first] ??= {}, rest.join('.'), value);
    else values[first] = value;
}

export class Saver {
    /** @param {Outcome} outcome @param {number} [wait] milliseconds that changes are gathered */
    constructor(outcome, wait = 400) {
        this.outcome = outcome;
        this.wait = wait;
        /** @type {Map<string, {target: Target, values: Map<string, any>}>} */
        this.waiting = new Map();
        /** @type {Promise<unknown>} */
        this.sent = Promise.resolve();
        this.timer = 0;
    }

    /** @param {Target} target @param {string} path as in `layered.preset` @param {any} value null: follow again */
    change(target, path, value) {
        const kept = this.waiting.get(target.key) ?? { target, values: new Map() };
        this.waiting.set(target.key, kept);
        kept.values.set(path, value);
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => this.flush(), this.wait);
    }

    /** Whether a change of it is not sent yet. @param {string} key of the target @param {string} path */
    isWaiting(key, path) { return this.waiting.get(key)?.values.has(path) ?? false; }

    /** Sends what waits, after what was sent before. @returns {Promise<unknown>} once it is answered */
    flush() {
        clearTimeout(this.timer);
        this.sent = this.sent.then(() => this.send());
        return this.sent;
    }

    async send() {
        const all = [...this.waiting.values()];
        this.waiting.clear();
        for (const { target, values } of all) {
            const body = {};
            for (const [path, value] of values) lay(body, path, value);
            try {
                this.outcome.onSaved(target, await target.patch(body));
            } catch (error) {
                this.outcome.onRefused(target, error, [...values.keys()]);
            }
        }
    }
}

/**
 * What the server says of each path that it refuses; of none in particular under ''.
 * @param {any} error a TurnfoldError @param {string[]} paths that were sent @returns {Map<string, string>}
 */
export function complaints(error, paths) {
    const found = new Map();
    for (const { loc, msg } of error?.errors ?? []) {
        const place = loc.filter((/** @type {unknown} */ step) => step !== 'body' && step !== 'settings').join('.');
        found.set(paths.find((path) => place === path || place.startsWith(`${path}.`)) ?? '', msg);
    }
    if (!found.size) found.set('', String(error?.detail ?? error));
    return found;
}
