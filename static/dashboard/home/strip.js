/** The quiet line above the list: what summaries have cost, and how the server fares. */
import { html } from '../vendor/htm-preact.js';
import { Badge, Note } from '../parts.js';
import { turnfold, useLoad } from '../server.js';
import { costOf, healthOf } from './words.js';

/** Readiness is not under /v1, and a server that is not ready says so with a 503. @param {AbortSignal} signal */
async function readiness(signal) {
    const response = await fetch('/readyz', { signal, cache: 'no-store' });
    return healthOf(await response.json());
}

/** Of all chats. */
const Costs = () => {
    const { data } = useLoad((signal) => turnfold.request('GET', '/usage', { signal }), [], { kinds: ['job', 'chat'] });
    return data && html`<span>${costOf(data)}</span>`;
};

/** News that may mean that a connection fares differently. */
const FARES = { kinds: ['job', 'error', 'settings'] };


export function Strip() {
    const { data: health, error } = useLoad(readiness, [], FARES);
    return html`
        <div class="home-strip" role="group" aria-label="The server">
            ${health && html`<span>Server: <${Badge} kind=${health.kind}>${health.word}</${Badge}></span>`}
            ${error && html`<span>Server: <${Badge} kind="bad">Not reached</${Badge}></span>`}
            <${Costs} />
        </div>
        ${health && health.faults.length > 0 && html`
            <${Note} kind="warning">${health.faults.map(({ what, detail }) => html`
                <p key=${what}><strong>${what}</strong>: ${detail}</p>`)}</${Note}>`}`;
}
