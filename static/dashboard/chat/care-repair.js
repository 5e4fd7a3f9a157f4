/** Whether all is well with a chat; if not, what is wrong, and putting it right. */
import { html, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { counted } from '../format.js';
import { Badge, Button, Confirm, Failure, Note, Section } from '../parts.js';
import { chat } from '../server.js';

/** @param {import('./page.js').ChatProps} props */
export function Repair({ id, reload }) {
    const [found, setFound] = useState(/** @type {any[]|null} */ (null));
    const [asks, setAsks] = useState(false);
    /** @param {boolean} dry */
    const examine = async (dry) => {
        const { findings } = await chat(id).request('POST', '/repair', { body: { dry_run: dry }, timeout: 0 });
        setFound(findings);
        setAsks(false);
        if (!dry) reload();
    };
    const look = useAction(() => examine(true), { quiet: true });
    const mend = useAction(() => examine(false), { quiet: true });
    const open = found?.filter(({ fixed }) => !fixed) ?? [];
    const repaired = found?.some(({ fixed }) => fixed);
    return html`<${Section} title="Repair" about="Checks everything that must hold of this chat. Looking changes nothing."
        actions=${html`<${Button} busy=${look.busy} onClick=${look.run}>Examine</${Button}>`}>
        <${Failure} error=${look.error ?? mend.error} />
        <div role="status">
            ${found?.length === 0 && html`<p class="well">Nothing found: all is well with this chat.</p>`}
            ${found && found.length > 0 && html`<p>${counted(found.length, 'finding')}.</p>`}
        </div>
        ${found && html`<ul class="plain findings">${found.map((finding) => html`<${Finding} finding=${finding} />`)}</ul>`}
        ${open.length > 0 && !repaired && html`<${Button} kind="primary" busy=${mend.busy} onClick=${() => setAsks(true)}>Repair</${Button}>`}
        ${open.length > 0 && repaired && html`<${Note}><p>What is left is made anew in time, or yours to decide.</p></${Note}>`}
        ${asks && html`<${Confirm} title="Repair this chat?" yes="Repair" danger=${false} busy=${mend.busy} onYes=${mend.run}
            onClose=${() => setAsks(false)} text=${'What has one right fix is put right. The database is copied to a file beside it'
                + ' first. No message is lost or changed; at worst a summary goes, and its messages fold anew.'} />`}
    </${Section}>`;
}

/** @param {any} props */
const Finding = ({ finding: { code, detail, fixed } }) => html`<li>
    <p class="said">${detail}</p>
    <p><code>${code}</code> ${fixed && html`<${Badge} kind="good">put right</${Badge}>`}</p>
</li>`;
