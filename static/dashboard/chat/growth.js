/** Not built yet. */
import { html } from '../vendor/htm-preact.js';

export const Growth = () => html`<p>…</p>`;
