/** A line of text to fill in. */
import { html } from '../vendor/htm-preact.js';
import { Field } from '../parts.js';

/** What else is given goes to the input. @param {{label: any, value: string, onText: (text: string) => void,
 *  hint?: any, error?: string, [more: string]: any}} props */
export const TextLine = ({ label, value, onText, hint, error, ...more }) => {
    const onInput = (/** @type {any} */ event) => onText(event.target.value);
    return html`<${Field} label=${label} hint=${hint} error=${error} control=${(/** @type {any} */ given) => html`
        <input type="text" autocomplete="off" ...${more} ...${given} value=${value} onInput=${onInput} />`} />`;
};
