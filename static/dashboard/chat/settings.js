/** The settings of one chat: its kind of memory, and the values of its own. */
import { html } from '../vendor/htm-preact.js';
import { nameOf } from '../format.js';
import { Failure, Loading } from '../parts.js';
import { chat, useLoad } from '../server.js';
import { SettingsForm } from '../settings/form.js';
import { readGround } from '../settings/reading.js';
import { StrategyChoice } from './strategy.js';

/** @param {import('./page.js').ChatProps} props */
export function ChatSettingsPage({ id, chat: about, reload }) {
    const ground = useLoad(readGround, [], { kinds: ['settings'] });
    const save = async (/** @type {Record<string, any>} */ settings) => {
        await chat(id).request('PATCH', '', { body: { settings } });
        reload();
    };
    if (ground.error) return html`<${Failure} error=${ground.error} retry=${ground.reload} />`;
    if (!ground.data) return html`<${Loading} />`;
    const { server, presets, connections } = ground.data;
    return html`
        <${StrategyChoice} id=${id} strategy=${about.strategy} reload=${reload} />
        ${about.warnings?.map((/** @type {string} */ warning) => html`<p class="note warning said">${warning}</p>`)}
        <${SettingsForm} key=${about.strategy} place=${`chat ${id}`} values=${about.effective_settings}
            own=${about.settings} inherited=${server} strategy=${about.strategy} connections=${connections}
            presets=${presets} chats=${about.strategy === 'none' ? [] : [[id, nameOf(about)]]} save=${save} />`;
}
