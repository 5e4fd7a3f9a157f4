/** The memory of a chat: its picture, its figures. */
import { html } from '../vendor/htm-preact.js';
import { DemoStrip } from '../home/demo.js';
import { Costs } from './costs.js';
import { Growth } from './growth.js';
import { LayerTable } from './layers.js';
import { Strata } from './strata.js';

/** @param {import('./page.js').ChatProps} props */
export const MemoryPage = (props) => html`
    <${DemoStrip} ...${props} />
    <${Strata} ...${props} />
    <div class="columns">
        <${Growth} ...${props} />
        <div>
            <${LayerTable} ...${props} />
            <${Costs} ...${props} />
        </div>
    </div>`;
