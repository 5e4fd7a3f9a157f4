/** Why nothing folds at the moment, for who wonders. */
import { html, useState } from '../vendor/htm-preact.js';
import { chat, useLoad } from '../server.js';
import { whyNot } from './state-reasons.js';

/** @param {import('./page.js').ChatProps} props */
export function Why(props) {
    const [open, setOpen] = useState(false);
    const rewrites = ['rolling', 'summary_buffer'].includes(props.status.strategy);
    return html`<details class="why" open=${open} onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}>
        <summary>Why does it not fold?</summary>
        ${open && (rewrites ? html`<${Asked} ...${props} />` : html`<${Reasons} ...${props} />`)}
    </details>`;
}

/** @param {any} props */
const Reasons = ({ status, chat: about, skipped }) => html`
    <ul>${whyNot(status, about.effective_settings, skipped).map((reason) => html`<li>${reason}</li>`)}</ul>`;

/** Where one summary is written anew, the prompt says what was decided. @param {import('./page.js').ChatProps} props */
function Asked(props) {
    const { id } = props;
    const { data } = useLoad((signal) => chat(id).project({ messages: false }, { signal }), [id], { chat: id });
    return data && html`<${Reasons} ...${props} skipped=${data.skipped} />`;
}
