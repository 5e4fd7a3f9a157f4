/** The layers of a chat's memory as a table: how much one line of each stands for. */
import { html } from '../vendor/htm-preact.js';
import { counted, number } from '../format.js';
import { Section } from '../parts.js';
import { useGrowth } from './growth.js';
import { fullRows, rows, sums } from './layers-table.js';

const HEADS = ['Layer', 'Snippets', 'Turns in each', 'Turns', 'Tokens'];
const COLOURS = 5;
const DEEPEST = /** @type {Record<string, string>} */ ({
    merge: 'The deepest layer goes on merging its own, and comes to hold more.',
    keep: 'The deepest layer grows without end.',
});

/** @param {import('./page.js').ChatProps} props */
export function LayerTable({ id, chat: about, status }) {
    const { data } = useGrowth(id, status.strategy);
    if (status.strategy === 'none') return null;
    const layered = status.strategy === 'layered';
    const { layered: settings } = about.effective_settings;
    const now = data?.at(-1);
    const verbatim = now ? now.sent_tokens - now.memory_tokens : null;
    return html`<${Section} title="Layers" about=${layered
        ? 'The deeper a layer, the older its turns and the more of them one line stands for.'
        : 'This memory is one summary, written anew as the chat goes on.'}>
        <div class="scroll" tabindex="0" role="group" aria-label="Layers of memory">
            <table class="layer-table">
                <${Heads} names=${HEADS} />
                <tbody>
                    ${rows(status.layers, settings).map((row) => html`<${Line} row=${row} layered=${layered} />`)}
                    <${Verbatim} status=${status} tokens=${verbatim} />
                </tbody>
                <tfoot><${Sum} status=${status} verbatim=${verbatim} /></tfoot>
            </table>
        </div>
        ${layered && html`<${Full} settings=${settings} />`}
    </${Section}>`;
}

/** @param {{names: string[]}} props */
const Heads = ({ names }) => html`<thead><tr>${names.map((name, place) => html`
    <th scope="col" class=${place ? 'figure' : ''}>${name}</th>`)}</tr></thead>`;

/** A cell with a figure, if there is one. @param {{value: number|null}} props */
const Cell = ({ value }) => html`<td class="figure">${value === null ? '–' : number(value)}</td>`;

/** @param {{row: import('./layers-table.js').Row, layered: boolean}} props */
const Line = ({ row, layered }) => html`<tr>
    <th scope="row">
        <span class=${`bed-mark layer-${Math.min(row.layer, COLOURS - 1)}`}></span>${layered ? row.layer : 'Summary'}
    </th>
    <td class="figure">
        ${number(row.snippets)}${layered && html` <span class="quiet-text">of ${number(row.limit)}</span>`}
    </td>
    <${Cell} value=${row.each} /><${Cell} value=${row.turns} /><${Cell} value=${row.tokens} />
</tr>`;

/** The turns that no snippet stands for. @param {any} props */
const Verbatim = ({ status: { counts, layers }, tokens }) => html`<tr>
    <th scope="row"><span class="bed-mark"></span>Word for word</th>
    <${Cell} value=${null} /><${Cell} value=${null} />
    <${Cell} value=${Math.max(0, counts.turns - sums(layers).turns)} /><${Cell} value=${tokens} />
</tr>`;

/** @param {any} props */
function Sum({ status: { counts, layers }, verbatim }) {
    const all = sums(layers);
    return html`<tr>
        <th scope="row">Together</th>
        <${Cell} value=${all.snippets} /><td></td>
        <${Cell} value=${Math.max(counts.turns, all.turns)} /><${Cell} value=${all.tokens + (verbatim ?? 0)} />
    </tr>`;
}

/** What these settings come to. @param {any} props */
const Full = ({ settings }) => html`
    <details class="as-table">
        <summary>What full layers hold with these settings</summary>
        <div class="scroll" tabindex="0" role="group" aria-label="Full layers">
            <table>
                <${Heads} names=${['Layer', 'Snippets', 'Turns in each', 'Turns']} />
                <tbody>${fullRows(settings).map((row) => html`<tr>
                    <th scope="row">${row.layer}</th>
                    <${Cell} value=${row.limit} /><${Cell} value=${row.fullEach} /><${Cell} value=${row.fullTurns} />
                </tr>`)}</tbody>
                <tfoot><tr>
                    <th scope="row">Together</th>
                    <${Cell} value=${settings.snippets_per_layer * settings.max_layers} /><td></td>
                    <${Cell} value=${fullRows(settings).reduce((sum, row) => sum + row.fullTurns, 0)} />
                </tr></tfoot>
            </table>
        </div>
        <p class="hint">A snippet of layer 0 stands for ${counted(settings.turns_per_batch, 'turn')}; in each
            layer below${` ${number(settings.snippets_per_promotion)} become one. `}
            ${DEEPEST[settings.deepest_layer]}</p>
    </details>`;
