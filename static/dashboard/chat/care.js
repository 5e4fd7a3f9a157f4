/** Not built yet. */
import { html } from '../vendor/htm-preact.js';

export const CarePage = () => html`<p>…</p>`;
