/** Not built yet. */
import { html } from '../vendor/htm-preact.js';

export const Costs = () => html`<p>…</p>`;
