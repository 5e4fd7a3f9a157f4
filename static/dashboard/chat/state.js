/** Not built yet. */
import { html } from '../vendor/htm-preact.js';

export const StateStrip = () => html`<p>…</p>`;
