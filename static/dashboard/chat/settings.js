/** Not built yet. */
import { html } from '../vendor/htm-preact.js';

export const ChatSettingsPage = () => html`<p>…</p>`;
