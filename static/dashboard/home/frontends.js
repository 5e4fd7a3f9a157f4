/** How a frontend is joined to this server: settings and lines to copy, with its address in them. */
import { html, useState } from '../vendor/htm-preact.js';
import { Copy } from '../parts.js';
import { turnfold } from '../server.js';
import { curlLines, scriptLines, TAVERN_LINE } from './lines.js';

const SERVER = location.origin;
const LOCAL = ['127.0.0.1', 'localhost', '[::1]'];

/** @param {{locked: boolean}} props */
const KeyHint = ({ locked }) => html`<p class="hint">${locked
    ? 'This server wants its key (TURNFOLD_API_KEY) with every call.'
    : 'This server wants no key.'}</p>`;

/** @param {{locked: boolean}} props */
const SillyTavern = ({ locked }) => html`
    <ol class="steps">
        <li><p>Put the extension into SillyTavern 1.13.5 or newer. Where both are on one machine, this line does it; run
            it in Turnfold’s folder and reload SillyTavern’s page.</p>
            <${Copy} label="Command that installs the extension" text=${TAVERN_LINE} />
            <p class="hint">For another machine, copy that folder into${' '}
                <code>data/default-user/extensions</code> there.</p></li>
        <li><p>In SillyTavern, open <em>Extensions</em>, then <em>Turnfold</em>, and give this server’s
            address${locked && ' and its key'}.</p>
            <${Copy} label="Address of this server" text=${SERVER} /><${KeyHint} locked=${locked} /></li>
        <li><p>Play as always. From the 13th reply on, the oldest turns are folded.</p></li>
    </ol>
    <p class="hint">If SillyTavern does not stand at <code>http://127.0.0.1:8000</code>${' or '}
        <code>http://localhost:8000</code>, add the address it has in your browser to${' '}
        <code>TURNFOLD_CORS_ORIGINS</code>, and start this server again.
        ${!LOCAL.includes(location.hostname) && ' Opened by https, SillyTavern can only call a server by https too.'}
    </p>`;

/** @param {{locked: boolean}} props */
const Rest = ({ locked }) => html`
    <p>Two calls are enough, in any language. A chat needs no creating; its id is yours to choose.</p>
    <${Copy} label="Lines for a shell" text=${curlLines(SERVER, locked)} />
    <${KeyHint} locked=${locked} />
    <p class="hint">All calls, with examples: <a href="/docs">the API</a>.</p>`;

/** @param {{locked: boolean}} props */
const Script = ({ locked }) => html`
    <p>One module without dependencies. A page may import it from here; for Node or a bundler, copy the file.</p>
    <${Copy} label="Lines of JavaScript" text=${scriptLines(SERVER, locked)} />
    <${KeyHint} locked=${locked} />
    <p class="hint">A page of another address must be among <code>TURNFOLD_CORS_ORIGINS</code>.</p>`;

const WAYS = /** @type {[string, any][]} */ ([['SillyTavern', SillyTavern], ['REST', Rest], ['JavaScript', Script]]);

/** The ways, of which one is open. */
export function Frontends() {
    const [open, setOpen] = useState('SillyTavern');
    const [, Way] = /** @type {[string, any]} */ (WAYS.find(([name]) => name === open));
    return html`
        <div class="ways" role="group" aria-label="Frontend">${WAYS.map(([name]) => html`
            <button type="button" class="way" aria-pressed=${name === open} onClick=${() => setOpen(name)}>
                ${name}</button>`)}
        </div>
        <${Way} locked=${turnfold.key !== ''} />`;
}
