/** Whether all is well with a chat; if not, what is wrong, and putting it right. */
import { html, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { counted } from '../format.js';
import { Badge, Button, Confirm, Failure, Section } from '../parts.js';
import { chat } from '../server.js';

const WARNING = 'What has one right fix is put right. The database is copied to a file beside it first. No message is'
    + ' lost or changed; at worst a summary goes, and its messages fold anew.';

/** @param {import('./page.js').ChatProps} props */
export function Repair({ id, reload }) {
    const [found, setFound] = useState(/** @type {any[]|null} */ (null));
    const [asks, setAsks] = useState(false);
    const close = () => setAsks(false);
    /** @param {boolean} dry */
    const examine = async (dry) => {
        close();
        const { findings } = await chat(id).request('POST', '/repair', { body: { dry_run: dry }, timeout: 0 });
        setFound(findings);
        reload();
    };
    const { run, busy, error } = useAction(examine, { quiet: true });
    const actions = html`<${Button} busy=${busy} onClick=${() => run(true)}>Examine</${Button}>`;
    return html`<${Section} title="Repair" actions=${actions}
        about="Examines everything that must hold of this chat. Looking changes nothing.">
        <${Failure} error=${error} />
        ${found && html`<${Findings} found=${found} busy=${busy} onRepair=${() => setAsks(true)} />`}
        ${asks && html`<${Confirm} title="Repair this chat?" yes="Repair" danger=${false} text=${WARNING}
            onYes=${() => run(false)} onClose=${close} />`}
    </${Section}>`;
}

/** @param {{found: any[], busy: boolean, onRepair: () => void}} props */
function Findings({ found, busy, onRepair }) {
    const repaired = found.some(({ fixed }) => fixed);
    const open = found.filter(({ fixed }) => !fixed).length;
    if (!found.length) return html`<p class="well" role="status">Nothing found: all is well with this chat.</p>`;
    return html`
        <p role="status">${counted(repaired ? found.length - open : open, 'finding')}${repaired && ' put right'}.</p>
        <ul class="bare care-findings">${found.map(({ code, detail, fixed }) => html`<li>
            <p class="said">${detail}</p>
            <p><code>${code}</code> ${fixed && html`<${Badge} kind="good">put right</${Badge}>`}</p>
        </li>`)}</ul>
        ${repaired && open > 0 && html`<p class="hint">What is left is made anew in time, or yours to decide.</p>`}
        ${!repaired && html`<${Button} kind="primary" busy=${busy} onClick=${onRepair}>Repair</${Button}>`}`;
}
