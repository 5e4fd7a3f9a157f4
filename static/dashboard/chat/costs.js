/** What the summaries of a chat have cost, and what they save with each prompt. */
import { html, useState } from '../vendor/htm-preact.js';
import { counted, number, percent } from '../format.js';
import { Button, Field, Section } from '../parts.js';
import { useLoad } from '../server.js';
import { costOf, money, readPrice } from './costs-money.js';
import { setPrice, usePrice } from './costs-price.js';
import { saved } from './growth-data.js';
import { growthOf } from './growth.js';

/** @param {import('./page.js').ChatProps & {status: any}} props */
export function Costs({ id, status }) {
    const { connection, summarizer_usage: usage } = status;
    const price = usePrice(connection);
    const free = connection.provider === 'extractive';
    const { calls, prompt_tokens: input, completion_tokens: output } = usage;
    return html`<${Section} title="Costs" about="What the summarizer has taken for this chat so far, and what it spares.">
        <dl class="figures">
            <${Figure} name="Calls" value=${number(calls)} />
            <${Figure} name="Input tokens" value=${number(input)} />
            <${Figure} name="Output tokens" value=${number(output)} />
            ${price && calls > 0 && html`<${Figure} name="In money" value=${money(costOf(price, input, output), price.currency)} />`}
        </dl>
        <${Saved} id=${id} price=${price} />
        ${free ? html`<p class="hint">The built-in summarizer makes no calls and costs nothing.</p>`
            : html`<${PriceForm} key=${JSON.stringify([connection.name, connection.model])} connection=${connection} price=${price} />`}
    </${Section}>`;
}

/** @param {{name: string, value: string}} props */
const Figure = ({ name, value }) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

/** @param {any} props */
function Saved({ id, price }) {
    const { data } = useLoad(() => growthOf(id), [id], { chat: id });
    const now = data && saved(data);
    if (!now || !now.less) return null;
    return html`<p class="saved">A prompt now carries <b>${number(now.sent)}</b> tokens of this chat instead of
        <b>${number(now.raw)}</b>: ${counted(now.less, 'token')} less, ${percent(now.less, now.raw)}.
        ${price && html` At this price that is ${money(costOf(price, now.less, 0), price.currency)} with each prompt.`}</p>`;
}

/** @param {any} props */
function PriceForm({ connection, price }) {
    const [typed, setTyped] = useState({ input: String(price?.input ?? ''), output: String(price?.output ?? ''),
        currency: price?.currency ?? '$' });
    const [said, setSaid] = useState('');
    const { fault } = readPrice(typed);
    /** @param {any} event */
    const onSubmit = (event) => {
        event.preventDefault();
        if (fault) return;
        const given = readPrice(typed).price;
        setPrice(connection, given);
        setSaid(given ? 'Kept in this browser.' : 'Forgotten.');
    };
    /** @param {'input'|'output'|'currency'} name @param {string} label @param {string} [error] */
    const field = (name, label, error) => html`<${Field} label=${label} error=${error} control=${(/** @type {any} */ given) => html`
        <input ...${given} type="text" inputmode=${name === 'currency' ? 'text' : 'decimal'} autocomplete="off"
            maxlength=${name === 'currency' ? 4 : 12} value=${typed[name]}
            onInput=${(/** @type {any} */ event) => { setTyped({ ...typed, [name]: event.target.value }); setSaid(''); }} />`} />`;
    return html`<details class="price">
        <summary>${price ? 'Change the price' : 'See it in money'}</summary>
        <form onSubmit=${onSubmit}>
            <p class="hint">The price of <bdi>${connection.model ?? 'the model'}</bdi> of <bdi>${connection.name}</bdi>, for a
                million tokens. It stays in this browser; Turnfold asks nobody for prices. Leave both empty to forget it.</p>
            <div class="price-fields">${field('input', 'Input', fault)}${field('output', 'Output')}${field('currency', 'Currency')}</div>
            <div class="actions"><${Button} type="submit">Keep the price</${Button}><span role="status">${said}</span></div>
        </form>
    </details>`;
}
