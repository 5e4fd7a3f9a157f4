/** The settings that all chats follow. */
import { html } from '../vendor/htm-preact.js';
import { nameOf } from '../format.js';
import { Failure, Loading } from '../parts.js';
import { turnfold, useLoad } from '../server.js';
import { SettingsForm } from './form.js';
import { readGround } from './reading.js';

const TRIED_ON = 20; // the newest chats: prompts can be tried on these

/** @param {AbortSignal} signal */
async function read(signal) {
    const query = { limit: TRIED_ON, counts: false };
    const chats = turnfold.request('GET', '/chats', { query, signal });
    const [ground, { items }] = await Promise.all([readGround(signal), chats]);
    return { ...ground, chats: items.map((/** @type {any} */ one) => [one.id, nameOf(one)]) };
}

export function SettingsPage() {
    const { data, error, reload } = useLoad(read, [], { kinds: ['settings'] });
    const save = async (/** @type {Record<string, any>} */ body) => {
        await turnfold.request('PATCH', '/settings', { body });
        reload();
    };
    return html`
        <div class="page-head"><div>
            <h1>Settings</h1>
            <p class="about">What all chats follow. A chat can have its own values; they go first.</p>
        </div></div>
        <${Failure} error=${error} retry=${reload} />
        ${!data && !error && html`<${Loading} what="Reading the settings" />`}
        ${data && html`<${SettingsForm} place="server" values=${data.server} own=${data.server.settings}
            inherited=${{}} strategy=${null} connections=${data.connections} presets=${data.presets}
            chats=${data.chats} save=${save} />`}`;
}
