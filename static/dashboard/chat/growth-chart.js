/** Two curves over the turns of a chat, drawn by uPlot in the page's own colours. */
import { html, useEffect, useRef, useState } from '../vendor/htm-preact.js';
import uPlot from '../vendor/uplot.js';
import { counted, number, percent } from '../format.js';
import { columns } from './growth-data.js';

/** @typedef {import('./growth-data.js').Point} Point */

const HEIGHT = 260;
const AXIS_PX = 58;
const TICK = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const FONT = '12px system-ui, sans-serif';

/** @param {{points: Point[], log: boolean, label: string}} props */
export function Chart({ points, log, label }) {
    const box = useRef(/** @type {any} */ (null));
    const plot = useRef(/** @type {uPlot|null} */ (null));
    const [place, setPlace] = useState(/** @type {number|null} */ (null));
    useEffect(() => {
        const draw = () => {
            plot.current?.destroy();
            plot.current = new uPlot(options(box.current, log, setPlace), columns(points, log), box.current);
        };
        draw();
        return follow(box.current, plot, draw);
    }, [log]);
    useEffect(() => { plot.current?.setData(columns(points, log)); }, [points]);
    return html`<figure class="chart">
        <div class="chart-box" ref=${box} role="img" aria-label=${label}></div>
        <figcaption><${Readout} point=${points[place ?? points.length - 1] ?? points[points.length - 1]} /></figcaption>
    </figure>`;
}

/** The values at one place, which are the legend as well: a line of each curve's own kind stands before its name.
 *  @param {{point: Point}} props */
const Readout = ({ point: { turns, raw_tokens: raw, sent_tokens: sent } }) => html`
    <span class="chart-place">${counted(turns, 'turn')}</span>
    <span class="curve raw">said <b>${number(raw)}</b></span>
    <span class="curve sent">sent <b>${number(sent)}</b></span>
    <span class="quiet-text">${percent(sent, raw)} of it</span>`;

/** Draws anew in other colours, and as wide as the box is. @param {HTMLElement} box @param {{current: uPlot|null}} plot
 *  @param {() => void} draw */
function follow(box, plot, draw) {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const size = new ResizeObserver(() => {
        if (box.clientWidth && plot.current && plot.current.width !== box.clientWidth) {
            plot.current.setSize({ width: box.clientWidth, height: HEIGHT });
        }
    });
    size.observe(box);
    addEventListener('theme', draw);
    dark.addEventListener('change', draw);
    return () => {
        size.disconnect();
        removeEventListener('theme', draw);
        dark.removeEventListener('change', draw);
        plot.current?.destroy();
        plot.current = null;
    };
}

/** @param {HTMLElement} box @param {boolean} log @param {(place: number|null) => void} onPlace
 *  @returns {uPlot.Options} */
function options(box, log, onPlace) {
    const colour = palette(box);
    /** @param {string} label @param {Partial<uPlot.Axis>} more @returns {uPlot.Axis} */
    const axis = (label, more) => ({
        label, labelFont: FONT, font: FONT, labelSize: 20, stroke: colour('--muted'),
        grid: { stroke: colour('--line'), width: 1 }, ticks: { stroke: colour('--line'), width: 1 },
        values: (_plot, values) => values.map((value) => (value === null ? '' : TICK.format(value))), ...more,
    });
    return {
        width: box.clientWidth || 320, height: HEIGHT, legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
        scales: { x: { time: false }, y: log ? { distr: 3 } : { range: (_plot, _, most) => [0, most * 1.05 || 1] } },
        axes: [axis('turns', { size: 34 }), axis('tokens', { size: AXIS_PX })],
        series: [
            {},
            { stroke: colour('--muted'), width: 2, dash: [6, 4], points: { show: false } },
            { stroke: colour('--accent'), width: 2.5, fill: colour('--accent-soft'), points: { show: false } },
        ],
        hooks: { setCursor: [(plot) => onPlace(plot.cursor.idx ?? null)] },
    };
}

/** The colours that the page has now, as a canvas takes them: each is asked of an element that wears it.
 *  @param {HTMLElement} box */
function palette(box) {
    /** @param {string} name @returns {string} */
    return (name) => {
        const probe = document.createElement('i');
        probe.style.color = `var(${name})`;
        box.append(probe);
        const { color } = getComputedStyle(probe);
        probe.remove();
        return color;
    };
}
