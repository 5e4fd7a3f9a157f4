/** How many tokens the chat has had over its course, and how many of them a prompt was sent. */
import { html, useMemo, useState } from '../vendor/htm-preact.js';
import { number, percent } from '../format.js';
import { Button, Failure, Loading, Section } from '../parts.js';
import { chat, useLoad } from '../server.js';
import { Chart } from './growth-chart.js';
import { byTurn, sample, sharing } from './growth-data.js';

/** @typedef {import('./growth-data.js').Point} Point */

/** The growth of a chat, for whatever on the page shows it. */
export const growthOf = sharing((id) => chat(id).request('GET', '/growth', { query: { points: 200 } }));

const KINDS = ['history', 'history_set', 'summarized', 'promoted', 'memory'];

/** The same, read anew when what was said or the memory of it has changed.
 *  @param {string} id @param {string} strategy */
export const useGrowth = (id, strategy) =>
    useLoad(() => growthOf(id), [id, strategy], { chat: id, kinds: KINDS }, { keep: true });

/** @param {import('./page.js').ChatProps} props */
export function Growth({ id, status }) {
    const [log, setLog] = useState(false);
    const { data: all, error, reload } = useGrowth(id, status.strategy);
    const data = useMemo(() => all && byTurn(all), [all]);
    const drawn = (data?.length ?? 0) > 1;
    const actions = drawn && html`<${Button} kind="quiet" aria-pressed=${log} onClick=${() => setLog(!log)}>
        Logarithmic</${Button}>`;
    return html`<${Section} title="Tokens over time" actions=${actions}
        about="All that was said, and what a prompt needs of it: the memory and the newest turns.">
        <${Failure} error=${error} retry=${reload} />
        ${!data && !error && html`<${Loading} what="Counting" />`}
        ${data && !drawn && html`<p class="empty">The curve begins with the second turn.</p>`}
        ${data && drawn && html`<${Chart} points=${data} log=${log} label=${inWords(data)} />
            <${AsTable} points=${data} />`}
    </${Section}>`;
}

/** @param {Point[]} points */
function inWords(points) {
    const { turns, raw_tokens: raw, sent_tokens: sent } = points[points.length - 1];
    return `${number(turns)} turns: ${number(raw)} tokens said by now, ${number(sent)} sent, ${percent(sent, raw)}`;
}

/** @param {{points: Point[]}} props */
const AsTable = ({ points }) => html`
    <details class="as-table">
        <summary>As a table</summary>
        <div class="scroll" tabindex="0" role="group" aria-label="Tokens over time, as a table">
            <table>
                <thead><tr>${['Turns', 'Said', 'Memory', 'Sent'].map((name) => html`
                    <th scope="col" class="figure">${name}</th>`)}</tr></thead>
                <tbody>${sample(points).map((point) => html`<tr>
                    <th scope="row" class="figure">${number(point.turns)}</th>
                    <td class="figure">${number(point.raw_tokens)}</td>
                    <td class="figure">${number(point.memory_tokens)}</td>
                    <td class="figure">${number(point.sent_tokens)}</td>
                </tr>`)}</tbody>
            </table>
        </div>
    </details>`;
