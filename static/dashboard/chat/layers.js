/** Not built yet. */
import { html } from '../vendor/htm-preact.js';

export const LayerTable = () => html`<p>…</p>`;
