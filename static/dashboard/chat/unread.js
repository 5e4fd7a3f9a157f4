/** A chat that cannot be shown: damaged perhaps, and then still to be repaired and taken home. */
import { html } from '../vendor/htm-preact.js';
import { Failure } from '../parts.js';
import { ExportFiles } from './care-export.js';
import { Repair } from './care-repair.js';

/** @param {{id: string, error: any, reload: () => void}} props */
export const Unread = ({ id, error, reload }) => html`
    <h1>Chat</h1>
    <${Failure} error=${error} retry=${reload} />
    ${error.status >= 500 && html`<${Repair} id=${id} reload=${reload} /><${ExportFiles} id=${id} />`}`;
