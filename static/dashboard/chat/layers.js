/** The layers of a chat's memory as a table: how much one line of each stands for. */
import { html } from '../vendor/htm-preact.js';
import { counted, number } from '../format.js';
import { Section } from '../parts.js';
import { capacity, rows, sums } from './layers-table.js';

/** @param {import('./page.js').ChatProps} props */
export function LayerTable({ chat: about, status }) {
    if (status.strategy === 'none') return null;
    const layered = status.strategy === 'layered';
    return html`<${Section} title="Layers" about=${layered
        ? 'The deeper a layer, the older its turns and the more of them one line stands for.'
        : 'This memory is one summary, written anew as the chat goes on.'}>
        <div class="scroll" tabindex="0" role="group" aria-label="Layers of memory">
            <table class="layer-table">
                <thead><tr>${['Layer', 'Snippets', 'Turns each', 'Turns', 'Tokens']
                    .map((name, place) => html`<th scope="col" class=${place ? 'figure' : ''}>${name}</th>`)}</tr></thead>
                <tbody>
                    ${rows(status.layers, about.effective_settings.layered).map((row) => html`<${Line} row=${row} layered=${layered} />`)}
                    <${Verbatim} status=${status} />
                </tbody>
                <tfoot><${Sum} status=${status} /></tfoot>
            </table>
        </div>
        ${layered && html`<${Full} settings=${about.effective_settings.layered} />`}
    </${Section}>`;
}

/** @param {{row: import('./layers-table.js').Row, layered: boolean}} props */
const Line = ({ row, layered }) => html`<tr>
    <th scope="row"><span class=${`swatch layer-${Math.min(row.layer, 4)}`}></span>${layered ? row.layer : 'Summary'}</th>
    <td class="figure">${layered ? html`${number(row.snippets)} <span class="quiet-text">of ${number(row.limit)}</span>`
        : number(row.snippets)}</td>
    <td class="figure">${row.each === null ? '–' : number(row.each)}</td>
    <td class="figure">${number(row.turns)}</td>
    <td class="figure">${number(row.tokens)}</td>
</tr>`;

/** The turns that no snippet stands for. @param {any} props */
function Verbatim({ status: { counts, layers } }) {
    const turns = Math.max(0, counts.turns - sums(layers).turns);
    return html`<tr>
        <th scope="row"><span class="swatch verbatim"></span>Word for word</th>
        <td class="figure">–</td><td class="figure">${turns ? 1 : '–'}</td><td class="figure">${number(turns)}</td>
        <td class="figure">–</td>
    </tr>`;
}

/** @param {any} props */
function Sum({ status: { counts, layers } }) {
    const all = sums(layers);
    return html`<tr>
        <th scope="row">Together</th>
        <td class="figure">${number(all.snippets)}</td><td class="figure"></td>
        <td class="figure">${number(Math.max(counts.turns, all.turns))}</td><td class="figure">${number(all.tokens)}</td>
    </tr>`;
}

/** What these settings come to. @param {any} props */
const Full = ({ settings }) => html`
    <details class="as-table">
        <summary>What a full layer would hold with these settings</summary>
        <div class="scroll" tabindex="0" role="group" aria-label="Full layers">
            <table>
                <thead><tr>${['Layer', 'Turns in a snippet', `Turns in ${number(settings.snippets_per_layer)}`]
                    .map((name, place) => html`<th scope="col" class=${place ? 'figure' : ''}>${name}</th>`)}</tr></thead>
                <tbody>${full(settings).map((row) => html`<tr>
                    <th scope="row">${row.layer}</th>
                    <td class="figure">${number(row.fullEach)}</td><td class="figure">${number(row.fullTurns)}</td>
                </tr>`)}</tbody>
                <tfoot><tr><th scope="row">Together</th><td></td><td class="figure">${number(capacity(settings))}</td></tr></tfoot>
            </table>
        </div>
        <p class="hint">A snippet of layer 0 tells of ${counted(settings.turns_per_batch, 'turn')}; each layer below it merges
            ${number(settings.snippets_per_promotion)} into one. ${settings.deepest_layer === 'merge'
        ? 'The deepest layer goes on merging its own, so it may hold more.' : 'The deepest layer grows without end.'}</p>
    </details>`;

/** @param {any} settings */
const full = (settings) => rows(Array.from({ length: settings.max_layers }, (_, layer) => (
    { layer, snippets: 0, limit: settings.snippets_per_layer, turns: 0, tokens: 0 })), settings).reverse();
