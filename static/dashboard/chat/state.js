/** What the memory of a chat does, what keeps it from it, and the switches: on top of every page of the chat. */
import { html } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { counted } from '../format.js';
import { Button, Note } from '../parts.js';
import { chat } from '../server.js';
import { BacklogChoice } from './backlog.js';
import { JobLine, Stop } from './state-job.js';
import { calm, reasonOf } from './state-reasons.js';
import { Trouble } from './state-trouble.js';
import { Why } from './state-why.js';

/** @param {import('./page.js').ChatProps} props */
export function StateStrip(props) {
    const { status } = props;
    const { job, counts } = status;
    const keeps = status.strategy !== 'none' && status.enabled;
    return html`<section class="state" aria-label="State of the memory">
        <div class="state-head">
            ${job ? html`<${JobLine} job=${job} />` : html`<${CalmLine} ...${props} />`}
            ${(keeps || job) && html`<${Switches} ...${props} />`}
        </div>
        <${Told} job=${job} />
        <${Trouble} status=${status} />
        ${status.warnings.map((warning) => html`<${Note} kind="warning"><p>${warning}</p></${Note}>`)}
        ${status.backlog.choice_needed && !job && html`<${BacklogChoice} ...${props} />`}
        <div class="state-foot">
            ${!job && counts.turns > 0 && html`<${Why} ...${props} />`}
            ${keeps && counts.skipped > 0 && html`<${Skipped} ...${props} />`}
        </div>
    </section>`;
}

/** @param {import('./page.js').ChatProps} props */
const CalmLine = ({ chat: about, status }) => html`
    <p class=${`state-line ${status.paused ? 'paused' : ''}`}>${calm(status, about.effective_settings)}</p>`;

/** @param {import('./page.js').ChatProps} props */
function Switches({ id, status, reload }) {
    const call = async (/** @type {string} */ path) => {
        const answer = await chat(id).request('POST', path);
        reload();
        return answer;
    };
    const fold = useAction(() => call('/summarize'), { done: ({ job, reason }) => (job ? null : reasonOf(reason)) });
    const turn = useAction(() => call(status.paused ? '/resume' : '/pause'));
    return html`<div class="actions">
        ${status.job && html`<${Stop} key="stop" id=${id} reload=${reload} />`}
        <${Button} key="fold" id="summarize" busy=${fold.busy} onClick=${fold.run}>Summarize now</${Button}>
        <${Button} key="turn" busy=${turn.busy} onClick=${turn.run}>${status.paused ? 'Resume' : 'Pause'}</${Button}>
    </div>`;
}

/** For who does not see the bar: that something began, and each quarter of it. @param {any} props */
function Told({ job }) {
    const quarter = job ? Math.floor(job.progress.percent / 25) * 25 : 0;
    const said = job && (quarter ? `Folding: ${quarter} %` : 'Folding has begun');
    return html`<p class="unseen" role="status">${said}</p>`;
}

/** @param {import('./page.js').ChatProps} props */
function Skipped({ id, status, reload }) {
    const fold = useAction(async () => {
        const { job, reason } = await chat(id).backlog('all');
        reload();
        return job ? null : reasonOf(reason);
    }, { done: (said) => said });
    return html`<p class="state-skipped">
        ${counted(status.counts.skipped, 'turn')} skipped: word for word, and never folded unasked.
        <${Button} kind="quiet" busy=${fold.busy} onClick=${fold.run}>Fold them after all</${Button}>
    </p>`;
}
