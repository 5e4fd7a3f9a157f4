/** What went wrong with summaries, what is waited for, and what can be done about it. */
import { html } from '../vendor/htm-preact.js';
import { Note } from '../parts.js';
import { useNow } from './state-job.js';
import { isDue } from './state-reasons.js';
import { again, breaker, trouble, waitsFor } from './state-words.js';

/** When the model is asked again is told once. @param {import('./page.js').ChatProps} props */
export function Trouble({ chat: about, status }) {
    const { job, last_error: error, connection } = status;
    const now = useNow(Boolean(error?.retry_at || connection.retry_at));
    const due = isDue(status, about.effective_settings);
    const next = again(latest(error?.retry_at, connection.retry_at), now, due);
    const left = breaker(connection, error ? null : next, job !== null);
    return html`
        ${connection.waiting && html`<${Note}><p>${waitsFor(connection.waiting)}</p></${Note}>`}
        ${error && html`<${Failed} error=${error} next=${next} />`}
        ${left && html`<${Note} kind="warning"><p>${left} ${!error && html`<${Look} />`}</p></${Note}>`}`;
}

/** @param {(string|null|undefined)[]} times RFC 3339 */
const latest = (...times) => times.filter(Boolean).sort((one, other) => Date.parse(String(one))
    - Date.parse(String(other))).at(-1) ?? null;

const BY_HAND = 'It is tried again with the next message, or with Summarize now.';

/** @param {{error: import('../../turnfold.js').Failure, next: string|null}} props */
const Failed = ({ error, next }) => html`<div class="note error" role="group" aria-label="The last error">
    <p><strong>${trouble(error)}</strong></p>
    <p class="said">${error.detail}</p>
    <p>${next ?? BY_HAND} No message is lost: what waits is sent word for word. <${Look} /></p>
</div>`;

const Look = () => html`<a href="#/connections">Look at the connections</a>`;
