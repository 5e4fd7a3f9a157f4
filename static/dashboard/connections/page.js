/** The connections: which there are, how they are, making one. */
import { html, useState } from '../vendor/htm-preact.js';
import { Button, Failure, Loading } from '../parts.js';
import { health, turnfold, useLoad } from '../server.js';
import { ConnectionCard } from './card.js';
import { ConnectionForm } from './form.js';

/** @param {AbortSignal} signal */
async function read(signal) {
    const [list, settings, { checks }] = await Promise.all([
        turnfold.request('GET', '/connections', { query: { limit: 1000 }, signal }),
        turnfold.request('GET', '/settings', { signal }), health(signal),
    ]);
    return { items: list.items, used: settings.connection, states: new Map(checks.connections.map(named)) };
}

/** @param {{name: string}} state @returns {[string, any]} */
const named = (state) => [state.name, state];

export function ConnectionsPage() {
    const { data, error, reload } = useLoad(read, [], { kinds: ['settings', 'job', 'error'] });
    const [adding, setAdding] = useState(false);
    return html`
        <div class="page-head">
            <div>
                <h1>Connections</h1>
                <p class="about">A connection says how to reach the model that writes the summaries. Without one, the
                    built-in summarizer does: it needs no model.</p>
            </div>
            <${Button} kind="primary" onClick=${() => setAdding(true)}>Add a connection</${Button}>
        </div>
        <${Failure} error=${error} retry=${reload} />
        ${!data && !error && html`<${Loading} what="Reading the connections" />`}
        ${data && html`<ul class="cards" aria-label="Connections">${data.items.map((/** @type {any} */ one) => html`
            <${ConnectionCard} key=${one.name} connection=${one} state=${data.states.get(one.name)}
                used=${data.used === one.name} reload=${reload} />`)}</ul>`}
        ${adding && html`<${ConnectionForm} taken=${data?.items.map((/** @type {any} */ one) => one.name) ?? []}
            onSaved=${reload} onClose=${() => setAdding(false)} />`}`;
}
