/** How a connection is: well, failing, or left alone until a time; for as long as that, the seconds are counted. */
import { html, useEffect, useState } from '../vendor/htm-preact.js';
import { span } from '../format.js';
import { Badge, Note } from '../parts.js';

const WORDS = /** @type {Record<string, [string, string]>} */ ({
    ok: ['good', 'is well'], failing: ['warn', 'its last call failed'], cooling_down: ['bad', 'left alone for now'],
});

/** Seconds until a time, counted down; null without one.
 *  @param {string|null|undefined} time @param {() => void} onOver */
export function useCountdown(time, onOver) {
    const [now, setNow] = useState(Date.now());
    const left = time ? Math.ceil((Date.parse(time) - now) / 1000) : null;
    useEffect(() => {
        if (!time) return undefined;
        const timer = setInterval(() => setNow(Date.now()), 1000);
        return () => clearInterval(timer);
    }, [time]);
    const over = left !== null && left <= 0;
    useEffect(() => { if (over) onOver(); }, [over, time]);
    return left;
}

/** @param {{state: any, onOver: () => void}} props `state` as /readyz has it; none: it has not been called yet */
export function Health({ state, onOver }) {
    const left = useCountdown(state?.retry_at, onOver);
    const [kind, words] = WORDS[state?.state] ?? ['plain', 'not called yet'];
    return html`<p><${Badge} kind=${kind}>${words}</${Badge}>
        ${left !== null && left > 0 && html` <span>The next try is in ${span(left)}.</span>`}</p>
        ${state?.last_error && html`<${Note} kind="warning"><p class="said">${told(state.last_error)}</p></${Note}>`}`;
}

/** @param {any} error a sentence, or an object that has one */
const told = (error) => (typeof error === 'string' ? error : error.detail ?? String(error));
