/** The signs of the picture: drawn, so that they look the same everywhere, and each of another shape. */
import { html } from '../vendor/htm-preact.js';

/** What is drawn in a square of 16 by 16, by the name of a mark or of a kind of stretch.
 *  @type {Record<string, string>} */
const SHAPES = {
    stale: 'M9.5 1 5 7l4 2-3.5 6',
    degraded: 'M3 4h10M3 8h6M3 12h3M12 8h.01M9 12h.01M13 12h.01',
    edited: 'M3 13l1-4 7-7 3 3-7 7zM10 3l3 3',
    manual: 'M13 2C7 3 4 7 3 14M4 10c5 0 8-3 9-8',
    pinned: 'M8 2l5 5-5 7-5-7zM3 7h10',
    skipped: 'M3 3l5 5-5 5M8 3l5 5-5 5',
    folding: 'M3 3l5 4 5-4M3 9l5 4 5-4',
    hidden: 'M2 8c3-5 9-5 12 0-3 5-9 5-12 0M3 14 13 2',
    omitted: 'M4 4l8 8M12 4l-8 8',
    mixed: 'M3 4h10M3 8h10M3 12h10',
    waiting: 'M4 2h8l-8 12h8L4 2',
};

/** @param {{name: string}} props */
export const Sign = ({ name }) => SHAPES[name] && html`
    <svg class="sign" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" focusable="false">
        <path d=${SHAPES[name]} /></svg>`;
