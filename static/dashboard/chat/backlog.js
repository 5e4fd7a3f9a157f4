/** An old chat: what may be done with its backlog, and what each choice costs. */
import { html } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { counted, number, short, span } from '../format.js';
import { Button } from '../parts.js';
import { href } from '../router.js';
import { chat } from '../server.js';
import { choices, money } from './costs-money.js';
import { usePrice } from './costs-price.js';
import { reasonOf } from './state-words.js';

/** @param {import('./page.js').ChatProps} props */
export function BacklogChoice({ id, chat: about, status, reload }) {
    const price = usePrice(status.connection);
    const choose = useAction(async (/** @type {'all'|'one'|'skip'} */ choice) => {
        const { job, reason, skipped_turns: skipped } = await chat(id).backlog(choice);
        reload();
        return job ? null : skipped === undefined ? reasonOf(reason) : `${counted(skipped, 'turn')} stay word for word.`;
    }, { done: (said) => said });
    const costs = choices(status, about.effective_settings.layered.snippet_tokens, price);
    const given = { choose, costs, currency: price?.currency ?? '' };
    return html`<section class="backlog" aria-labelledby="backlog-title">
        <h2 id="backlog-title">An old chat: how shall it fold?</h2>
        <p class="about">${counted(costs.turns, 'turn')} lie outside the newest ones and have no summary yet. Nothing is lost
            whatever you choose, and you can stop at any moment.</p>
        <div class="choices">
            <${Choice} ...${given} name="all" title="All of it" cost=${costs.all} primary=${true} yes="Fold everything"
                text="Everything outside the newest turns folds now, oldest first." />
            <${Choice} ...${given} name="one" title="Little by little" cost=${costs.one} yes="One batch with each reply"
                text="One batch now, then one with each reply, until the backlog is gone." each=${true} />
            <${Choice} ...${given} name="skip" title="Not at all" cost=${null} yes="Leave it as it is"
                text="These turns stay word for word. When a prompt gets too long, they are the first to be left out." />
        </div>
        <${Called} status=${status} free=${costs.free} priced=${Boolean(price)} id=${id} />
    </section>`;
}

/** @param {any} props */
const Choice = ({ choose, costs, currency, name, title, text, cost, yes, each = false, primary = false }) => html`
    <div class="choice">
        <h3>${title}</h3>
        <p>${text}</p>
        <dl class="cost">${figures(cost, costs, currency).map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>
        ${each && html`<p class="hint">Each batch. In all it comes to about the same as “All of it”.</p>`}
        <${Button} kind=${primary ? 'primary' : 'plain'} busy=${choose.busy} onClick=${() => choose.run(name)}>${yes}</${Button}>
    </div>`;

/** @param {any} cost @param {any} costs @param {string} currency @returns {string[][]} */
function figures(cost, { free }, currency) {
    if (!cost) return [['Calls', 'none']];
    const { calls, input, seconds, money: paid } = cost;
    const time = ['Time', seconds === null ? (free ? 'moments' : 'known after the first batch') : `about ${span(seconds)}`];
    if (free) return [['Calls', 'none'], ['Costs', 'nothing'], time];
    return [['Calls', `about ${number(calls)}`], ['Input', `about ${short(input)} tokens`], time,
        ...(paid === null ? [] : [['Costs', `about ${money(paid, currency)}`]])];
}

/** @param {any} props */
const Called = ({ status: { connection }, free, priced, id }) => html`
    <p class="hint">${free
        ? html`The built-in summarizer does it: no model is called. It picks sentences rather than writing them; for better
            summaries give the chat <a href="#/connections">a model</a> first.`
        : html`By <bdi>${connection.model ?? connection.name}</bdi>, connection <bdi>${connection.name}</bdi>.
            ${!priced && html` Enter its price under <a href=${href(['chats', id, 'memory'])}>Costs</a> to see this in money.`}`}</p>`;
