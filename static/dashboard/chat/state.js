/** What the memory of a chat does, what keeps it from it, and the switches: on top of every page of the chat. */
import { html } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { counted } from '../format.js';
import { isGoing, play } from '../home/player.js';
import { Button, Note } from '../parts.js';
import { href } from '../router.js';
import { chat } from '../server.js';
import { BacklogChoice } from './backlog.js';
import { JobLine, Stop } from './state-job.js';
import { calm, reasonOf, waits } from './state-reasons.js';
import { Trouble } from './state-trouble.js';
import { Why } from './state-why.js';

/** @param {import('./page.js').ChatProps} props */
export function StateStrip(props) {
    const { status } = props;
    const { job, counts } = status;
    const keeps = status.strategy !== 'none' && status.enabled;
    const demo = play.use();
    const plays = isGoing(demo) && demo.id === props.id; // then its strip has the buttons, and tells of it
    return html`<section class="state" aria-label="State of the memory">
        <div class="state-head">
            <div class="state-now">
                ${job ? html`<${JobLine} job=${job} />` : html`<${CalmLine} ...${props} />`}
            </div>
            ${(keeps || job) && html`<${Switches} ...${props} plays=${plays} />`}
        </div>
        <${Told} job=${plays ? null : job} />
        <${Trouble} ...${props} />
        ${status.warnings.map((warning) => html`<${Note} kind="warning"><p>${warning}</p></${Note}>`)}
        ${asks(status) && isMemory(props.route) && html`<${BacklogChoice} ...${props} />`}
        <div class="state-foot">
            ${counts.turns > 0 && html`<${Why} ...${props} />`}
            ${keeps && counts.skipped > 0 && html`<${Skipped} ...${props} />`}
        </div>
    </section>`;
}

/** Whether the backlog waits for a choice. @param {import('../../turnfold.js').Status} status */
const asks = ({ backlog, job }) => backlog.choice_needed && !job;

/** Whether it is the Memory page, where there is room for the choice. @param {import('../router.js').Route} route */
const isMemory = ({ parts }) => !parts[2] || parts[2] === 'memory';

/** @param {import('./page.js').ChatProps} props */
const CalmLine = ({ id, chat: about, status, route }) => (asks(status) && !isMemory(route)
    ? html`<p class="state-line"><a href=${href(['chats', id, 'memory'])}>
        ${waits(status.backlog.turns)} for your choice</a></p>`
    : html`<p class=${`state-line ${status.paused ? 'paused' : ''}`}>${calm(status, about.effective_settings)}</p>`);

/** Summarize now would answer the question about the backlog unasked.
 *  @param {import('./page.js').ChatProps & {plays: boolean}} props */
function Switches({ id, status, reload, plays }) {
    const call = async (/** @type {string} */ path) => {
        const answer = await chat(id).request('POST', path);
        reload();
        return answer;
    };
    const fold = useAction(() => call('/summarize'), { done: ({ job, reason }) => (job ? null : reasonOf(reason)) });
    const turn = useAction(() => call(status.paused ? '/resume' : '/pause'));
    return html`<div class="actions">
        ${status.job && !plays && html`<${Stop} key="stop" id=${id} job=${status.job.id} reload=${reload} />`}
        ${!status.backlog.choice_needed && html`
            <${Button} key="fold" id="summarize" busy=${fold.busy} onClick=${fold.run}>Summarize now</${Button}>`}
        ${!plays && html`
            <${Button} key="turn" id="pause" busy=${turn.busy} onClick=${turn.run}>
                ${status.paused ? 'Resume' : 'Pause'}</${Button}>`}
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
