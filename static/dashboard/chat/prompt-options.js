/** What the prompt is asked for with: the fields above it. They live in the address. */
import { html, useEffect, useRef, useState } from '../vendor/htm-preact.js';
import { Button, Field, Section } from '../parts.js';
import { amend, read } from '../router.js';
import { OPTIONS, onlyStored } from './prompt-query.js';

const REST_MS = 500; // of typing, before the prompt is read
/** @type {Record<string, string>} */
const STRATEGIES = {
    layered: 'Layered memory', rolling: 'Rolling memory', summary_buffer: 'Summary buffer', none: 'No memory',
};
const COUNT = { type: 'number', min: '1', inputmode: 'numeric' };
const PLACEMENTS = ['system_end', 'system_message', 'user_message', 'in_chat:4'];

/** A select of the address.
 *  @param {{name: string, label: string, words: any, items: [string, string][], hint?: string}} props */
function Choice({ name, label, words, items, hint }) {
    const onChange = (/** @type {any} */ { target }) => amend({ [name]: target.value });
    return html`<${Field} label=${label} hint=${hint} control=${(/** @type {any} */ given) => html`
        <select ...${given} value=${words[name] ?? ''} onChange=${onChange}>
            ${items.map(([value, text]) => html`<option key=${value} value=${value}>${text}</option>`)}
        </select>`} />`;
}

/** The chat and page of the address. */
const placeOf = () => read().parts.join('/');

/** A field of the address in which somebody types: it follows once they rest, and what they type stays meanwhile.
 *  @param {any} props `name`, `label`, `words`, `hint`, `tag`: input or textarea; the rest is the element's */
function Typed({ name, label, words, hint, tag = 'input', ...rest }) {
    const [text, setText] = useState(words[name] ?? '');
    const typed = useRef({ timer: 0, told: text, place: placeOf() });
    useEffect(() => {
        if ((words[name] ?? '') === typed.current.told) return;
        typed.current.told = words[name] ?? '';
        setText(typed.current.told);
    }, [words[name]]);
    useEffect(() => () => clearTimeout(typed.current.timer), []);
    const tell = (/** @type {string} */ value) => {
        clearTimeout(typed.current.timer);
        if (placeOf() !== typed.current.place) return; // a field that goes with its page still tells of its change
        typed.current.told = value;
        amend({ [name]: value });
    };
    const onInput = (/** @type {any} */ { target: { value } }) => {
        setText(value);
        clearTimeout(typed.current.timer);
        typed.current.timer = setTimeout(() => tell(value), REST_MS);
    };
    const onChange = (/** @type {any} */ { target }) => tell(target.value);
    return html`<${Field} label=${label} hint=${hint} control=${(/** @type {any} */ given) => html`
        <${tag} ...${given} ...${rest} value=${text} onInput=${onInput} onChange=${onChange} />`} />`;
}

/** The same words as what is chosen and what is shown. @param {string} none what holds where nothing is chosen
 *  @param {string[]} values @returns {[string, string][]} */
const plain = (none, ...values) => [['', none],
    ...values.map((value) => /** @type {[string, string]} */ ([value, value]))];

/** The views of the chat, and one that the address names. @param {any[]} views @param {string|undefined} named */
function viewItems(views, named) {
    const names = [...new Set([...views.map(({ name }) => name), ...(named ? [named] : [])])];
    return plain(names.length ? 'None' : 'None (the chat has none)', ...names);
}

/** @param {string} own @returns {[string, string][]} */
function strategyItems(own) {
    const others = Object.keys(STRATEGIES).filter((name) => name !== own);
    return [['', `${STRATEGIES[own] ?? own} (its own)`],
        ...others.map((name) => /** @type {[string, string]} */ ([name, `As it would be: ${STRATEGIES[name]}`]))];
}

/** The first choices, which stay in sight. @type {string[]} */
const FIRST = ['view', 'strategy', 'context_size'];

/** @param {{words: Record<string, string>, strategy: string, views: any[]}} props */
export function PromptOptions({ words, strategy, views }) {
    const set = ['view', 'strategy', 'current', ...OPTIONS].filter((name) => words[name]);
    const reset = () => amend(Object.fromEntries(set.map((name) => [name, null])));
    return html`<${Section} title="Asked for" about="Nothing here is stored: it is the prompt as it would be sent now."
        actions=${html`<${Button} onClick=${reset}>As it is by default</${Button}>`}>
        <${Choices} words=${words} strategy=${strategy} views=${views} />
        <${More} words=${words} strategy=${strategy} set=${set.some((name) => !FIRST.includes(name))} />
    </${Section}>`;
}

/** What is asked for less often; open at first where something of it is set. @param {any} props */
function More({ words, strategy, set }) {
    const [open] = useState(set);
    return html`<details class="asked-more" open=${open}>
        <summary>More</summary>
        <${Others} words=${words} />
        <div class="asked-texts">
            <${Typed} tag="textarea" name="system_prompt" label="System prompt" words=${words} rows="3" dir="auto" />
            <${Current} words=${words} refused=${onlyStored(words, strategy)} />
        </div>
    </details>`;
}

/** @param {{words: Record<string, string>, refused: string|null}} props */
const Current = ({ words, refused }) => (refused ? html`<p class="hint">${refused}</p>` : html`
    <${Typed} tag="textarea" name="current" label="Being typed" words=${words} rows="3" dir="auto"
        hint="A line of the user’s at the end of the prompt, not stored." />`);

/** @param {{words: Record<string, string>, strategy: string, views: any[]}} props */
function Choices({ words, strategy, views }) {
    return html`<div class="asked">
        <${Choice} name="view" label="View" words=${words} items=${viewItems(views, words.view)}
            hint="Options kept under a name, for one consumer of the chat." />
        <${Choice} name="strategy" label="Strategy" words=${words} items=${strategyItems(strategy)}
            hint="Another one shows it with the memory it has by now; nothing is switched." />
        <${Typed} name="context_size" label="Context size" words=${words} ...${COUNT}
            placeholder="as the view or connection"
            hint="Tokens of the model’s window." />
    </div>`;
}

/** @param {{words: Record<string, string>}} props */
function Others({ words }) {
    const own = words.memory_placement;
    const placements = [...new Set([...PLACEMENTS, ...(own ? [own] : [])])];
    return html`<div class="asked">
        <${Typed} name="max_tokens" label="Kept for the answer" ...${COUNT} words=${words} placeholder="up to 1,024"
            hint="Tokens (max_tokens). Needs a context size." />
        <${Choice} name="memory_placement" label="Memory placement" words=${words}
            items=${plain('The view’s, or the chat’s', ...placements)} />
        <${Choice} name="format" label="Format" words=${words}
            items=${plain('The view’s, or openai', 'openai', 'anthropic', 'text')} />
        <${Choice} name="names" label="Names" words=${words} hint="How the prompt says who speaks."
            items=${plain('The view’s, or the chat’s', 'auto', 'none', 'field', 'prefix')} />
        <${Choice} name="tool_history" label="Past tool calls" words=${words}
            items=${plain('The view’s, or pair', 'pair', 'omit')} />
    </div>`;
}
