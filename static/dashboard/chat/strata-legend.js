/** What the picture's colours, widths and signs mean. */
import { html } from '../vendor/htm-preact.js';
import { Sign } from './strata-signs.js';
import { KINDS, MARKS } from './strata-words.js';

/** The marks and kinds of cells that there are. @param {import('./strata-layout.js').Band[]} bands */
function present(bands) {
    const cells = bands.flatMap((band) => band.cells);
    const marks = Object.keys(MARKS).filter((mark) => cells.some((cell) => cell.marks.includes(mark) || (mark === 'pinned' && cell.pins)));
    const kinds = Object.keys(KINDS).filter((kind) => cells.some((cell) => cell.kind === kind));
    return { marks, kinds };
}

/** @param {{bands: import('./strata-layout.js').Band[], single: boolean}} props */
export function Legend({ bands, single }) {
    const { marks, kinds } = present(bands);
    const layered = !single && bands.some((band) => band.kind === 'layer');
    return html`<details class="strata-legend">
        <summary>How to read this picture</summary>
        <p>It is a cut through the chat's memory. On top are the newest turns, word for word. A turn is what was said up to
            a reply.${layered && ` Below, a snippet is one line of memory that stands for some turns; the deeper its layer,
            the older they are and the more of them it stands for. Within a band time runs from left to right.`}
            ${single && ' Below is the one summary that stands for all older turns.'}</p>
        <p>A cell is wider the more turns it stands for: by the square root of their number, so that few beside many stay
            in sight. The number in it says how many.${layered && ' The empty end of a layer is the room it still has; a full one passes its oldest on, down.'}</p>
        <dl>
            ${kinds.map((kind) => html`<div key=${kind}><dt><span class=${`strata-key cell is-${kind}`}><${Sign} name=${kind} /></span>
                ${KINDS[kind].word}</dt><dd>${KINDS[kind].about}</dd></div>`)}
            ${marks.map((mark) => html`<div key=${mark}><dt><span class=${`strata-key cell is-snippet is-${mark}`}><${Sign} name=${mark} /></span>
                ${MARKS[mark].word}</dt><dd>${MARKS[mark].about}</dd></div>`)}
        </dl>
    </details>`;
}
