/** The kind of memory a chat has, and changing it: every kind keeps what it made. */
import { html, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { counted, number } from '../format.js';
import { Button, Confirm, Note, Section } from '../parts.js';
import { chat } from '../server.js';

const KINDS = [
    ['layered', 'Layered memory', 'Older turns fold into short snippets, and these into shorter ones.'],
    ['rolling', 'Rolling memory', 'One summary, written anew as the chat goes on.'],
    ['summary_buffer', 'Summary buffer', 'One summary, made before an answer when many messages are there.'],
    ['none', 'No memory', 'The chat is stored and never folded.'],
];

const KEPT = 'What the present memory has made is kept, and is there again when you come back to it. No model is called'
    + ' now.';

/** @param {any} switched as the API tells it */
const told = (switched) => switched && [
    `${counted(switched.visible_messages, 'message')} are sent word for word again`,
    `${counted(switched.ghosted_messages, 'message')} are now told by memory`,
    `which has ${number(switched.memory_tokens)} tokens`,
].join(', ');

/** @param {{id: string, strategy: string, reload: () => void}} props */
export function StrategyChoice({ id, strategy, reload }) {
    const [asked, setAsked] = useState('');
    const [switched, setSwitched] = useState(/** @type {any} */ (null));
    const change = useAction((/** @type {string} */ kind) => (
        chat(id).request('PATCH', '', { body: { strategy: kind } })));
    const onYes = async () => {
        const answer = await change.run(asked);
        if (!answer) return;
        setAsked('');
        setSwitched(answer.switched);
        reload();
    };
    const name = KINDS.find(([kind]) => kind === asked)?.[1];
    const about = 'Each kind keeps what it made: you can go back at any time.';
    return html`<${Section} title="Kind of memory" about=${about}>
        <ul class="kinds">${KINDS.map(([kind, title, text]) => html`<li class=${kind === strategy ? 'chosen' : ''}>
            <h3>${title}</h3><p>${text}</p>
            ${kind === strategy ? html`<p><strong>In use</strong></p>`
        : html`<${Button} onClick=${() => setAsked(kind)} aria-label=${`Use: ${title}`}>Use</${Button}>`}
        </li>`)}</ul>
        <div aria-live="polite">${switched && html`<${Note}><p>${told(switched)}.</p></${Note}>`}</div>
        ${asked && html`<${Confirm} title=${`Use ${name?.toLowerCase()}?`} danger=${false} yes="Use it"
            busy=${change.busy} text=${KEPT} onYes=${onYes} onClose=${() => setAsked('')} />`}
    </${Section}>`;
}
