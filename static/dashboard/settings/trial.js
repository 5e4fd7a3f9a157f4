/** Trying the prompts: how they look on a real passage of a chat, and what a model makes of it. Nothing is stored. */
import { html, useEffect, useRef, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { number, places } from '../format.js';
import { Button, Failure, Field, Note, Section, written } from '../parts.js';
import { chat } from '../server.js';

/** @param {{shown: any}} props an answer of POST /trial */
const Rendered = ({ shown }) => html`
    <p>${`The passage: messages ${places(shown.passage.first_index, shown.passage.last_index)}, `
        + `${number(shown.passage.tokens)} tokens. The whole prompt: ${number(shown.tokens)} tokens.`}</p>
    <details open><summary>Prompt for it</summary><pre class="said rendered" tabindex="0"
        aria-label="The rendered prompt">${shown.user}</pre></details>
    <details><summary>System prompt</summary><pre class="said rendered" tabindex="0"
        aria-label="The rendered system prompt">${shown.system}</pre></details>`;

/** @param {{shown: any}} props */
const Outcome = ({ shown }) => html`
    ${shown.problem && html`<${Note} kind="warning"><p class="said">${shown.problem.detail}</p></${Note}>`}
    ${shown.problem?.refused_text && html`<figure class="outcome"><figcaption>What the model said</figcaption>
        <pre class="said rendered" tabindex="0" aria-label="The refused answer">${
    shown.problem.refused_text}</pre></figure>`}
    ${shown.text !== null && html`<figure class="outcome"><figcaption>By <bdi>${shown.connection}</bdi>${
        shown.model && html`, <bdi>${shown.model}</bdi>`}${
        ` · ${number(shown.text_tokens)} tokens · ${number(shown.latency_ms)} ms`}</figcaption>
        <blockquote class="said">${shown.text}</blockquote></figure>`}`;

/** @param {{chats: [string, string][], settings: Record<string, any>}} props `settings`: those not saved yet */
export function Trial({ chats, settings }) {
    const [id, setId] = useState(chats[0][0]);
    const [shown, setShown] = useState(/** @type {any} */ (null));
    const cut = useRef(/** @type {AbortController|null} */ (null));
    useEffect(() => () => cut.current?.abort(), []);
    const trial = useAction(async (/** @type {boolean} */ run) => {
        cut.current = new AbortController();
        const body = { settings, run };
        setShown(null);
        setShown(await chat(id).request('POST', '/trial', { body, signal: cut.current.signal, timeout: 0 }));
    }, { quiet: true });
    const about = 'See the prompt on a real passage of a chat, and what the summarizer writes. Nothing is stored but'
        + ' what the call has cost.';
    return html`<${Section} title="Try it" about=${about}>
        ${chats.length > 1 && html`<${Field} label="On the chat" as="select" value=${id} onChange=${written(setId)}>
            ${chats.map(([value, name]) => html`<option value=${value}>${name}</option>`)}</${Field}>`}
        <div class="actions">
            <${Button} busy=${trial.busy} onClick=${() => trial.run(false)}>Show the prompt</${Button}>
            <${Button} busy=${trial.busy} onClick=${() => trial.run(true)}>Try it out</${Button}>
            ${trial.busy && html`<${Button} kind="danger" onClick=${() => cut.current?.abort()}>Stop</${Button}>`}
        </div>
        <${Failure} error=${trial.error?.code === 'aborted' ? null : trial.error} />
        <div aria-live="polite">${shown && html`<${Outcome} shown=${shown} /><${Rendered} shown=${shown} />`}</div>
    </${Section}>`;
}
