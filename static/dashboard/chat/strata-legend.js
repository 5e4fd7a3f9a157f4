/** What the picture's colours, widths and signs mean. */
import { html } from '../vendor/htm-preact.js';
import { Sign } from './strata-signs.js';
import { KINDS, MARKS } from './strata-words.js';

/** The marks and kinds of cells that there are. @param {import('./strata-layout.js').Band[]} bands */
function present(bands) {
    const cells = bands.flatMap((band) => band.cells);
    const kinds = new Set(cells.map((cell) => cell.kind));
    const marks = new Set(cells.flatMap((cell) => cell.marks));
    if (!kinds.has('pinned') && cells.some((cell) => cell.pins)) marks.add('pinned');
    return {
        marks: Object.keys(MARKS).filter((mark) => marks.has(mark)),
        kinds: Object.keys(KINDS).filter((kind) => kinds.has(kind)),
    };
}

/** @param {{bands: import('./strata-layout.js').Band[], single: boolean}} props */
export function Legend({ bands, single }) {
    const { marks, kinds } = present(bands);
    const layered = !single && bands.some((band) => band.kind === 'layer');
    return html`<details class="strata-legend">
        <summary>How to read this picture</summary>
        <p>It is a cut through the chat's memory. On top are the newest turns, word for word. A turn is what was said
            up to a reply.${layered && ` Below, a snippet is one line of memory that stands for some turns; the deeper
            its layer, the older they are and the more of them it stands for. Time runs from left to right in a band.`}
            ${single && ' Below is the one summary that stands for all older turns.'}</p>
        <p>A cell is wider the more turns it stands for: by the square root of their number, so that few beside many
            stay in sight. The number in it says how many.${layered && ` The empty end of a layer is the room it still
            has; a full one passes its oldest on, down.`}</p>
        <dl>
            ${kinds.map((kind) => html`<${Entry} key=${kind} name=${kind} of=${KINDS[kind]} />`)}
            ${marks.map((mark) => html`<${Entry} key=${mark} name=${mark} of=${MARKS[mark]} snippet />`)}
        </dl>
    </details>`;
}

/** @param {{name: string, of: {word: string, about: string}, snippet?: boolean}} props */
const Entry = ({ name, of, snippet = false }) => html`<div>
    <dt><span class=${`strata-key cell is-${name} ${snippet ? 'is-snippet' : ''}`}><${Sign} name=${name} /></span>
        ${of.word[0].toUpperCase() + of.word.slice(1)}</dt>
    <dd>${of.about}</dd>
</div>`;
