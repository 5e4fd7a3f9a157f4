/** An old chat: what may be done with its backlog, and what each choice costs. */
import { html } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { counted } from '../format.js';
import { Button } from '../parts.js';
import { href } from '../router.js';
import { chat } from '../server.js';
import { choices, figures } from './costs-money.js';
import { usePrice } from './costs-price.js';
import { useFocusNear } from './state-job.js';
import { reasonOf } from './state-reasons.js';

const CHOICES = [
    { name: 'all', title: 'All of it', yes: 'Fold everything', kind: 'primary',
        text: 'All but the newest turns folds now.' },
    { name: 'one', title: 'Little by little', yes: 'One batch with each reply', kind: 'plain',
        text: 'One batch now and with each reply.',
        note: 'Each batch. All of them take about the same as “All of it”.' },
    { name: 'skip', title: 'Not at all', yes: 'Leave it as it is', kind: 'plain',
        text: 'They stay word for word; a prompt that is too long leaves them out first.' },
];

/** @param {import('./page.js').ChatProps} props */
export function BacklogChoice({ id, chat: about, status, reload }) {
    const box = useFocusNear();
    const price = usePrice(status.connection);
    const choose = useAction(async (/** @type {'all'|'one'|'skip'} */ choice) => {
        const { job, reason, skipped_turns: skipped } = await chat(id).backlog(choice);
        reload();
        if (skipped !== undefined) return `${counted(skipped, 'turn')} stay word for word.`;
        return job ? null : reasonOf(reason);
    }, { done: (said) => said });
    const costs = choices(status, about.effective_settings.layered.snippet_tokens, price);
    return html`<section class="backlog" ref=${box} aria-labelledby="backlog-title">
        <h2 id="backlog-title">An old chat: how shall it fold?</h2>
        <p class="about">${counted(costs.turns, 'turn')} before the newest ones have no summary yet. Nothing is lost,
            and you can stop at any moment.</p>
        <div class="choices">${CHOICES.map((one) => html`
            <${Choice} ...${one} choose=${choose} takes=${figures(one.name, costs, price?.currency ?? '')} />`)}</div>
        <${Called} status=${status} free=${costs.free} priced=${Boolean(price)} id=${id} />
    </section>`;
}

/** @param {any} props */
const Choice = ({ choose, takes, name, title, text, note, yes, kind }) => html`
    <div class="choice">
        <h3>${title}</h3>
        <p>${text}</p>
        <dl class="takes">${takes.map((/** @type {string[]} */ [term, value]) => html`
            <div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>
        <p class="takes-line">${takes.map((/** @type {string[]} */ one) => one[2]).filter(Boolean).join(' · ')}</p>
        ${note && html`<p class="hint">${note}</p>`}
        <${Button} kind=${kind} busy=${choose.busy} onClick=${() => choose.run(name)}>${yes}</${Button}>
    </div>`;

/** @param {any} props */
const Called = ({ status: { connection }, free, priced, id }) => (free
    ? html`<p class="hint">The built-in summarizer does it: no model is called. It picks sentences rather than writing
        them; for better summaries give the chat${' '}<a href="#/connections">a model</a> first.</p>`
    : html`<p class="hint">By <bdi>${connection.model ?? connection.name}</bdi>, connection${' '}
        <bdi>${connection.name}</bdi>. ${!priced && html`Enter its price under${' '}
        <a href=${href(['chats', id, 'memory'])}>Costs</a> to see this in money.`}</p>`);
