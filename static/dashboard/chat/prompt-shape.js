/** A prompt in the shape in which it is sent: to look at, and to take away. */
import { html, useEffect, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { toClipboard } from '../clipboard.js';
import { counted, number } from '../format.js';
import { Button, Failure, Loading, Section } from '../parts.js';
import { chat } from '../server.js';
import { asked, bodyOf, read } from './prompt-query.js';

const SHOWN = 20_000; // characters; a whole prompt may have millions

/** The whole prompt for the clipboard, read when it is asked for.
 *  @param {{id: string, words: any, strategy: string, format: string}} props */
export function CopyButtons({ id, words, strategy, format }) {
    const done = (/** @type {string} */ text) => `Copied ${counted(text.length, 'character')}.`;
    const take = (/** @type {any} */ asking) => read(chat(id), asked(asking, strategy));
    const asJson = useAction(async () => toClipboard(bodyOf(await take(words), format)), { done });
    const asText = useAction(async () => toClipboard((await take({ ...words, format: 'text' })).text), { done });
    return html`
        <${Button} busy=${asJson.busy} onClick=${asJson.run}>Copy as JSON</${Button}>
        <${Button} busy=${asText.busy} onClick=${asText.run}>Copy as text</${Button}>`;
}

/** @param {{id: string, words: any, strategy: string, format: string, version: string}} props `version` changes
 *  with the prompt */
export function Shape({ id, words, strategy, format, version }) {
    const [state, setState] = useState(/** @type {{text?: string, error?: any}} */ ({}));
    const load = () => {
        const cut = new AbortController();
        read(chat(id), asked(words, strategy), cut.signal).then(
            (found) => setState({ text: format === 'text' ? found.text : bodyOf(found, format) }),
            (error) => { if (!cut.signal.aborted) setState({ error }); });
        return () => cut.abort();
    };
    useEffect(load, [id, strategy, format, version]);
    const { text, error } = state;
    const about = format === 'text' ? 'One text, for completion models.'
        : 'The fields of the call’s body: system, and messages that alternate.';
    return html`<${Section} title="As it is sent" about=${about}>
        ${error && html`<${Failure} error=${error} retry=${load} />`}
        ${text === undefined ? !error && html`<${Loading} />` : html`
            <pre class="shape said" tabindex="0" aria-label="The prompt as it is sent">${text.slice(0, SHOWN)}</pre>
            ${text.length > SHOWN && html`<p class="hint">The first ${number(SHOWN)} of
                ${` ${counted(text.length, 'character')}`}. Copying takes all.</p>`}`}
    </${Section}>`;
}
