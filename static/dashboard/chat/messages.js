/** Not built yet. */
import { html } from '../vendor/htm-preact.js';

export const MessagesPage = () => html`<p>…</p>`;
