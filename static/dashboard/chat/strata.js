/** Not built yet. */
import { html } from '../vendor/htm-preact.js';

export const Strata = () => html`<p>…</p>`;
