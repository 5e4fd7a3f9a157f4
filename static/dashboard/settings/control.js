/** One setting: its control, whether it is the chat's own, and the way back to following the server. */
import { html } from '../vendor/htm-preact.js';
import { Badge, Button, Check, Field, ticked, written } from '../parts.js';
import { numberOf } from './draft.js';

/**
 * `value`: null where it follows the server, whose value is `inherited`.
 * @typedef {{setting: import('./fields.js').Setting, value: any, inherited: any, own: boolean, changed: boolean,
 *   error?: string, connections: string[], onChange: (value: any) => void}} Given
 */

/** @param {string[][]} choices @param {any} value */
const options = (choices, value) => choices.map(([name, label]) => html`
    <option value=${name} selected=${name === (value ?? '')}>${label}</option>`);

/** @param {Given} given */
function control({ setting, value, inherited, error, connections, onChange }) {
    const { label, hint, kind, choices = [], placeholder } = setting;
    const about = { label, hint, error };
    const shown = value ?? inherited;
    if (kind === 'switch') return html`
        <${Check} label=${label} checked=${shown === true} onChange=${ticked(onChange)} />
        ${hint && html`<p class="hint">${hint}</p>`}`;
    if (kind === 'choice') return html`<${Field} ...${about} as="select" onChange=${written(onChange)}>
        ${options(choices, shown)}</${Field}>`;
    if (kind === 'connection') {
        const names = [...new Set([...connections, ...(shown ? [shown] : [])])].map((name) => [name, name]);
        const none = setting.path === 'connection' ? [] : [['', 'none of its own']];
        return html`<${Field} ...${about} as="select" onChange=${written((name) => onChange(name || null))}>
            ${options([...none, ...names], shown)}</${Field}>`;
    }
    if (kind === 'words') return html`<${Field} ...${about} as="textarea" value=${value ?? ''}
        placeholder=${inherited ?? ''} onInput=${written(onChange)} />`;
    const take = kind === 'number' ? (/** @type {string} */ text) => onChange(numberOf(text)) : onChange;
    return html`<${Field} ...${about} value=${value ?? ''} placeholder=${inherited ?? placeholder}
        onInput=${written(take)} inputmode=${kind === 'number' ? 'decimal' : undefined} />`;
}

/** @param {Given} given */
export const Control = (given) => html`<div class=${`setting ${given.changed ? 'changed' : ''}`}>
    ${control(given)}
    <p class="setting-state">
        ${given.changed && html`<${Badge} kind="warn">not saved</${Badge}>`}
        ${given.own && html`<${Badge}>set here</${Badge}>
            <${Button} kind="quiet" onClick=${() => given.onChange(null)}
                aria-label=${`Follow again: ${given.setting.label}`}>Follow again</${Button}>`}
    </p>
</div>`;
