/** Looking after a chat: its names, copies and files, its repair, and its end. */
import { html } from '../vendor/htm-preact.js';
import { Commands } from './care-commands.js';
import { Copies } from './care-copies.js';
import { Ending } from './care-end.js';
import { ExportFiles } from './care-export.js';
import { ImportMemory } from './care-import.js';
import { Names } from './care-names.js';
import { Repair } from './care-repair.js';
import { Session } from './care-session.js';

/** @param {import('./page.js').ChatProps} props */
export const CarePage = (props) => html`
    <div class="columns care">
        <div>
            <${Names} key=${props.id} ...${props} />
            <${ExportFiles} ...${props} />
            <${ImportMemory} ...${props} />
        </div>
        <div>
            <${Repair} ...${props} />
            <${Copies} ...${props} />
            <${Commands} ...${props} />
            <${Session} ...${props} />
            <${Ending} ...${props} />
        </div>
    </div>`;
