/** Not built yet. */
import { html } from '../vendor/htm-preact.js';

export const PromptPage = () => html`<p>…</p>`;
