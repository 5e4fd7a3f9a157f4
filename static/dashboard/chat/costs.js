/** What the summaries of a chat have cost, and what they save with each prompt. */
import { html, useState } from '../vendor/htm-preact.js';
import { counted, number, percent } from '../format.js';
import { Button, Section } from '../parts.js';
import { TextLine } from './care-text.js';
import { costOf, money, readPrice } from './costs-money.js';
import { keyOf, setPrice, usePrice } from './costs-price.js';
import { saved } from './growth-data.js';
import { useGrowth } from './growth.js';

const ABOUT = 'What the summarizer has taken for this chat so far, and what it spares.';

/** @param {import('./page.js').ChatProps & {status: any}} props */
export function Costs({ id, status }) {
    const { connection, summarizer_usage: { calls, prompt_tokens: input, completion_tokens: output } } = status;
    const price = usePrice(connection);
    const paid = price && calls > 0 && money(costOf(price, input, output), price.currency);
    return html`<${Section} title="Costs" about=${ABOUT}>
        <dl class="figures">
            <${Figure} name="Calls" value=${number(calls)} />
            <${Figure} name="Input tokens" value=${number(input)} />
            <${Figure} name="Output tokens" value=${number(output)} />
            ${paid && html`<${Figure} name="In money" value=${paid} />`}
        </dl>
        <${Saved} id=${id} strategy=${status.strategy} price=${price} />
        ${connection.provider === 'extractive'
            ? html`<p class="hint">The built-in summarizer makes no calls and costs nothing.</p>`
            : html`<${PriceForm} key=${keyOf(connection)} called=${connection} price=${price} />`}
    </${Section}>`;
}

/** @param {{name: string, value: string}} props */
const Figure = ({ name, value }) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

/** @param {any} props */
function Saved({ id, strategy, price }) {
    const { data } = useGrowth(id, strategy);
    const now = data && saved(data);
    if (!now || !now.less) return null;
    const spared = price && money(costOf(price, now.less, 0), price.currency);
    return html`<p class="saved">A prompt now carries <b>${number(now.sent)}</b> tokens of this chat instead
        of${' '}<b>${number(now.raw)}</b>: ${counted(now.less, 'token')} less, ${percent(now.less, now.raw)}.
        ${spared && ` At this price each prompt costs ${spared} less.`}</p>`;
}

/** @param {{called: import('./costs-price.js').Called, price: import('./costs-money.js').Price|null}} props */
function PriceForm({ called, price }) {
    const [typed, setTyped] = useState({
        input: String(price?.input ?? ''), output: String(price?.output ?? ''), currency: price?.currency ?? '$',
    });
    const [said, setSaid] = useState('');
    const { fault, price: given } = readPrice(typed);
    /** @param {any} event */
    const onSubmit = (event) => {
        event.preventDefault();
        if (fault) return;
        setPrice(called, given);
        setSaid(given ? 'Kept in this browser.' : 'Forgotten.');
    };
    /** @param {'input'|'output'|'currency'} name */
    const of = (name) => ({
        value: typed[name],
        onText: (/** @type {string} */ text) => { setTyped({ ...typed, [name]: text }); setSaid(''); },
    });
    return html`<details class="price">
        <summary>${price ? 'Change the price' : 'See it in money'}</summary>
        <form onSubmit=${onSubmit}>
            <p class="hint">The price of <bdi>${called.model ?? 'the model'}</bdi> of <bdi>${called.name}</bdi> for a
                million tokens. It stays in this browser; Turnfold asks nobody for prices. Leave both empty to
                forget it.</p>
            <div class="price-fields">
                <${TextLine} label="Input" inputmode="decimal" maxlength="12" error=${fault} ...${of('input')} />
                <${TextLine} label="Output" inputmode="decimal" maxlength="12" ...${of('output')} />
                <${TextLine} label="Currency" maxlength="4" ...${of('currency')} />
            </div>
            <div class="actions">
                <${Button} type="submit">Keep the price</${Button}><span role="status">${said}</span>
            </div>
        </form>
    </details>`;
}
