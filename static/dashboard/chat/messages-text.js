/** A text that somebody wrote, its beginning if it is long, with the words that were looked for marked. */
import { html, useState } from '../vendor/htm-preact.js';
import { number } from '../format.js';
import { Button } from '../parts.js';
import { beginningOf } from './messages-places.js';
import { marked } from './search-marks.js';

/** @param {{text: string, terms: RegExp[]}} props */
export const Marked = ({ text, terms }) => marked(text, terms)
    .map(({ text: part, hit }) => (hit ? html`<mark>${part}</mark>` : part));

/** @param {{text: string, terms?: RegExp[], whole?: boolean}} props `whole`: nothing is left out at first */
export function LongText({ text, terms = [], whole = false }) {
    const [all, setAll] = useState(whole);
    const cut = beginningOf(text);
    const shown = all || cut === null ? text : cut;
    return html`
        <div class="said words"><${Marked} text=${shown} terms=${terms} />${shown !== text && ' …'}</div>
        ${cut !== null && html`<${Button} kind="quiet" aria-expanded=${all} onClick=${() => setAll(!all)}>
            ${all ? 'Show less' : `Show all ${number(text.length)} characters`}</${Button}>`}`;
}

/** What is said of tool calls. @param {{calls?: any[]|null}} props */
export const Calls = ({ calls }) => calls && html`<ul class="calls">${calls.map((call) => html`
    <li><code class="said">${call.function?.name ?? call.id}(${call.function?.arguments ?? ''})</code></li>`)}</ul>`;
