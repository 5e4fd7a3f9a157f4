/** The models that a connection's server offers, to choose one. */
import { html } from '../vendor/htm-preact.js';
import { part } from '../../turnfold.js';
import { useAction } from '../actions.js';
import { Badge, Button, Failure, Loading } from '../parts.js';
import { turnfold, useLoad } from '../server.js';
import { bodyOf } from './fields.js';

/** @param {{connection: any, onChosen: () => void}} props */
export function Models({ connection, onChosen }) {
    const path = `/connections/${part(connection.name)}`;
    const { data, error, loading, reload } = useLoad(
        (signal) => turnfold.request('GET', `${path}/models`, { query: { limit: 200 }, signal }), [connection.name]);
    const choose = useAction((/** @type {string} */ model) => (
        turnfold.request('PUT', path, { body: bodyOf({ ...connection, model }) })));
    const fixed = connection.source === 'built_in';
    /** @param {string} model */
    const onChoose = async (model) => { await choose.run(model); onChosen(); };
    if (loading && !data) return html`<${Loading} what="Asking for its models" />`;
    if (error) return html`<${Failure} error=${error} retry=${reload} />`;
    if (!data?.items.length) return html`<p>It names no models.</p>`;
    /** @param {string} model */
    const line = (model) => html`<li><span class="one-line">${model}</span>
        ${model === connection.model ? html`<${Badge} kind="good">asked</${Badge}>`
        : !fixed && html`<${Button} busy=${choose.busy} onClick=${() => onChoose(model)}
            aria-label=${`Ask ${model}`}>Ask this one</${Button}>`}</li>`;
    return html`<ul class="models" aria-label=${`Models of ${connection.name}`}>${data.items.map(line)}</ul>
        ${data.next_cursor && html`<p class="hint">There are more; write the name under Change.</p>`}`;
}
