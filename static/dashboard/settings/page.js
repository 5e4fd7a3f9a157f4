/** Not built yet. */
import { html } from '../vendor/htm-preact.js';

export const SettingsPage = () => html`<p>…</p>`;
