/** What went wrong with summaries, what is waited for, and what can be done about it. */
import { html } from '../vendor/htm-preact.js';
import { Note } from '../parts.js';
import { useNow } from './state-job.js';
import { again, breaker, trouble, waitsFor } from './state-words.js';

/** @param {{status: import('../../turnfold.js').Status}} props */
export function Trouble({ status: { job, last_error: error, connection } }) {
    const now = useNow(Boolean(error?.retry_at || connection.retry_at));
    const left = breaker(connection, now, job !== null);
    return html`
        ${connection.waiting && html`<${Note}><p>${waitsFor(connection.waiting)}</p></${Note}>`}
        ${error && html`<${Failed} error=${error} now=${now} />`}
        ${left && html`<${Note} kind="warning"><p>${left} ${!error && html`<${Look} />`}</p></${Note}>`}`;
}

/** @param {{error: import('../../turnfold.js').Failure, now: number}} props */
function Failed({ error, now }) {
    const next = again(error.retry_at, now) ?? 'It is tried again with the next message, or with Summarize now.';
    return html`<div class="note error" role="group" aria-label="The last error">
        <p><strong>${trouble(error)}</strong>${error.status && ` (status ${error.status})`}</p>
        <p class="said">${error.detail}</p>
        <p>${next} No message is lost: what waits is sent word for word. <${Look} /></p>
    </div>`;
}

const Look = () => html`<a href="#/connections">Look at the connections</a>`;
