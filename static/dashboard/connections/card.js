/** One connection: what it is, how it is, and what can be done with it. */
import { html, useRef, useState } from '../vendor/htm-preact.js';
import { part } from '../../turnfold.js';
import { notify, useAction } from '../actions.js';
import { number } from '../format.js';
import { Badge, Button, Confirm, Note } from '../parts.js';
import { turnfold } from '../server.js';
import { ConnectionForm } from './form.js';
import { Health } from './health.js';
import { Models } from './models.js';

const PROVIDERS = /** @type {Record<string, string>} */ ({
    extractive: 'Built-in summarizer', openai: 'OpenAI-compatible server', ollama: 'Ollama',
    client: "A frontend's own model",
});
const SOURCES = /** @type {Record<string, string>} */ ({
    environment: 'from the environment', stored: 'stored here', built_in: 'always there',
});

/** What is said of a connection, name by name. @param {any} one @returns {any[][]} */
const factsOf = (one) => [
    ['Address', one.base_url], ['Model', one.model], ['Key', one.has_api_key ? 'stored, never shown' : null],
    ['Window', one.context_size && `${number(one.context_size)} tokens`],
    ['Calls at once', one.concurrency], ['Time-out', `${number(one.timeout_s)} s`],
].filter(([, value]) => value);

/** @param {{connection: any, state: any, used: boolean, reload: () => void}} props */
export function ConnectionCard({ connection: one, state, used, reload }) {
    const path = `/connections/${part(one.name)}`;
    const [open, setOpen] = useState(''); // edit, remove or models
    const test = useAction(() => turnfold.request('POST', `${path}/test`, { timeout: 0 }));
    const [tested, setTested] = useState(/** @type {any} */ (null));
    const use = useAction(() => turnfold.request('PATCH', '/settings', { body: { connection: one.name } }),
        { done: `${one.name} now writes the summaries of all chats that choose no other.` });
    const remove = useAction(() => turnfold.request('DELETE', path));
    const onTest = async () => { setTested(null); setTested(await test.run() ?? null); reload(); };
    const heading = useRef(/** @type {any} */ (null));
    const onChosen = () => { heading.current?.focus(); reload(); };
    const onUse = async () => { await use.run(); onChosen(); };
    const onRemove = async () => {
        if ((await remove.run()) === undefined) return;
        notify(`${one.name} is forgotten.`);
        setOpen('');
        reload();
    };
    const changes = one.source !== 'built_in';
    return html`<li class="section" aria-label=${one.name}>
        <header class="section-head">
            <h2 class="one-line" tabindex="-1" ref=${heading}>${one.name}</h2>
            <div class="actions">
                ${used && html`<${Badge} kind="good">writes for all chats</${Badge}>`}
                <${Badge}>${SOURCES[one.source]}</${Badge}>
            </div>
        </header>
        <p>${PROVIDERS[one.provider] ?? one.provider}</p>
        ${one.provider !== 'extractive' && html`<dl class="facts">${factsOf(one).map(([name, value]) => html`
            <div class=${name === 'Address' ? 'wide' : ''}><dt>${name}</dt>
                <dd class="said">${value}</dd></div>`)}</dl>`}
        <${Health} state=${state} onOver=${reload} />
        <div aria-live="polite">${tested && html`<${Note} kind=${tested.ok ? 'info' : 'warning'}>
            <p>${tested.ok ? `It answered in ${number(tested.latency_ms)} ms.` : 'It did not answer as it should.'}</p>
            <p class="said">${tested.detail}</p></${Note}>`}</div>
        <div class="actions">
            <${Button} busy=${test.busy} onClick=${onTest} aria-label=${`Test ${one.name}`}>
                ${test.busy ? 'Testing…' : 'Test'}</${Button}>
            ${one.provider !== 'extractive' && html`<${Button} aria-label=${`Models of ${one.name}`}
                aria-expanded=${open === 'models'} onClick=${() => setOpen(open === 'models' ? '' : 'models')}>
                Models</${Button}>`}
            ${!used && html`<${Button} busy=${use.busy} onClick=${onUse}
                aria-label=${`Use for all chats: ${one.name}`}>Use for all chats</${Button}>`}
            ${changes && html`<${Button} onClick=${() => setOpen('edit')}
                aria-label=${`Change ${one.name}`}>Change</${Button}>`}
            ${one.source === 'stored' && html`<${Button} kind="danger" onClick=${() => setOpen('remove')}
                aria-label=${`Forget ${one.name}`}>Forget</${Button}>`}
        </div>
        ${open === 'models' && html`<${Models} connection=${one} onChosen=${onChosen} />`}
        ${open === 'edit' && html`<${ConnectionForm} connection=${one} onSaved=${reload}
            onClose=${() => setOpen('')} />`}
        ${open === 'remove' && html`<${Confirm} title=${`Forget ${one.name}?`} yes="Forget" busy=${remove.busy}
            text=${one.name === 'default' ? 'The connection of the environment takes its place again.'
                : 'Its key is forgotten too. Chats that use it fold nothing until they choose another.'}
            onYes=${onRemove} onClose=${() => setOpen('')} />`}
    </li>`;
}
