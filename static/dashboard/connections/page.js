/** Not built yet. */
import { html } from '../vendor/htm-preact.js';

export const ConnectionsPage = () => html`<p>…</p>`;
