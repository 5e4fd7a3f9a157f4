/** Not built yet. */
import { html } from '../vendor/htm-preact.js';

export const HomePage = () => html`<p>…</p>`;
