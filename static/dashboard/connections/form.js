/** The form that makes a connection or changes one. */
import { html, useState } from '../vendor/htm-preact.js';
import { part } from '../../turnfold.js';
import { notify, useAction } from '../actions.js';
import { Button, Check, Dialog, Failure, Field, ticked, useId, written } from '../parts.js';
import { turnfold } from '../server.js';
import { ADDRESSES, FIGURES, NEEDED, PROVIDERS, bodyOfTexts, faultsOf, textsOf } from './fields.js';

/** @param {{connection?: any, taken?: string[], onSaved: () => void, onClose: () => void}} props */
export function ConnectionForm({ connection, taken = [], onSaved, onClose }) {
    const [texts, setTexts] = useState(textsOf(connection));
    const [forget, setForget] = useState(false);
    const id = useId();
    const save = useAction(async () => {
        const name = connection?.name ?? texts.name.trim();
        await turnfold.request('PUT', `/connections/${part(name)}`, { body: bodyOfTexts(texts, forget) });
        notify(`${name} is saved.`);
        onSaved();
        onClose();
    }, { quiet: true });
    const faults = faultsOf(save.error);
    const twice = !connection && taken.includes(texts.name.trim());
    /** @param {any} event */
    const onSubmit = (event) => { event.preventDefault(); if (!twice) void save.run(); };
    /** @param {string} name */
    const given = (name) => ({
        error: faults[name], value: texts[name], onInput: written((text) => setTexts({ ...texts, [name]: text })),
    });
    const needed = NEEDED[texts.provider] ?? [];
    const keyHint = connection?.has_api_key ? 'One is stored. Leave this empty to keep it.'
        : 'It is stored encrypted and never shown.';
    const title = connection ? `Change ${connection.name}` : 'Add a connection';
    return html`<${Dialog} title=${title} onClose=${onClose} foot=${html`
        <${Button} onClick=${onClose}>Cancel</${Button}>
        <${Button} kind="primary" type="submit" form=${id} busy=${save.busy}>Save</${Button}>`}>
        <form id=${id} onSubmit=${onSubmit}>
            ${!connection && html`<${Field} label="Name" hint="Settings name the connection so." required
                ...${given('name')} error=${twice && 'There is one of that name: choose another.'} />`}
            <${Field} label="Kind" as="select" ...${given('provider')}>${PROVIDERS.map(([value, label]) => html`
                <option value=${value} selected=${value === texts.provider}>${label}</option>`)}</${Field}>
            ${needed.includes('base_url') && html`<${Field} label="Address" type="url" ...${given('base_url')}
                placeholder=${ADDRESSES[texts.provider]} required=${texts.provider === 'openai'} />`}
            ${needed.includes('model') && html`<${Field} label="Model" ...${given('model')}
                hint="As its server calls it. You can also save first, and choose from its list." />`}
            ${needed.includes('api_key') && html`<${Field} label="Key" type="password" autocomplete="off"
                hint=${keyHint} ...${given('api_key')} />`}
            ${needed.includes('api_key') && connection?.has_api_key && html`<${Check} label="Forget the stored key"
                checked=${forget} onChange=${ticked(setForget)} />`}
            ${texts.provider !== 'extractive' && html`<details><summary>More</summary>
                ${FIGURES.map(([name, label, hint, step]) => html`<${Field} key=${name} label=${label} hint=${hint}
                    type="number" step=${step} min="0" ...${given(name)} />`)}
                <${Field} label="Extra fields" hint="JSON, added to every request." as="textarea" spellcheck=${false}
                    ...${given('extra_body')} /></details>`}
            <${Failure} error=${save.error} />
        </form>
    </${Dialog}>`;
}
