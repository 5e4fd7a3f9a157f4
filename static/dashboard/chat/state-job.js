/** The job at work: how far it is, how long it takes, and the way to stop it. */
import { html, useEffect, useMemo, useRef, useState } from '../vendor/htm-preact.js';
import { notify, useAction } from '../actions.js';
import { Button, Progress } from '../parts.js';
import { chat } from '../server.js';
import { doing, howFar, left } from './state-words.js';

/** The time, second by second, as long as somebody counts. @param {boolean} counts */
export function useNow(counts) {
    const [now, setNow] = useState(Date.now());
    useEffect(() => {
        if (!counts) return undefined;
        const tick = () => setNow(Date.now());
        tick();
        const timer = setInterval(tick, 1000);
        return () => clearInterval(timer);
    }, [counts]);
    return now;
}

/** @param {{job: import('../../turnfold.js').Job}} props */
export function JobLine({ job }) {
    const { done, total, eta_s: eta, percent } = job.progress;
    const now = useNow(eta !== null);
    const read = useMemo(() => Date.now(), [job.id, eta, done]);
    return html`<div class="state-job">
        <p class="state-line">${doing(job)}</p>
        <${Progress} label=${doing(job)} value=${job.state === 'queued' || !total ? null : percent}
            text=${howFar(job, left(eta, Math.max(0, now - read)))} />
    </div>`;
}

/** Where the focus goes when the part that has it goes: to the switches, once they stand there.
 *  @returns {{current: any}} the part's ref */
export function useFocusNear() {
    const box = useRef(/** @type {any} */ (null));
    useEffect(() => () => {
        if (!box.current?.contains(document.activeElement)) return;
        requestAnimationFrame(() => {
            const near = document.getElementById('summarize') ?? document.getElementById('pause');
            if (document.activeElement === document.body) near?.focus({ preventScroll: true });
        });
    }, []);
    return box;
}

/** @param {{id: string, job: string, reload: () => void}} props */
export function Stop({ id, job, reload }) {
    const box = useFocusNear();
    const stop = useAction(async () => {
        const { stopped } = await chat(id).stop();
        reload();
        notify(stopped ? 'Stopped. What is folded stays.' : 'Nothing was running any more.', 'done', undefined, job);
    });
    return html`<span ref=${box}>
        <${Button} kind="danger" busy=${stop.busy} onClick=${stop.run}>Stop</${Button}>
    </span>`;
}
