/** A snippet by hand: over whole turns that nothing stands for yet, chosen by their first and last message. */
import { html, useRef, useState } from '../vendor/htm-preact.js';
import { useAction } from '../actions.js';
import { places } from '../format.js';
import { Button, Dialog, Failure, Field } from '../parts.js';
import { href } from '../router.js';
import { chat, useLoad } from '../server.js';
import { notifyStep, useUndo } from './snippet-steps.js';
import { openPlaces } from './snippet-words.js';

const MOST_PLACES = 6;

/**
 * @param {{chat: string, strata: import('./strata-layout.js').Strata, from: string|undefined, to: string|undefined,
 *   onWritten: (made: any) => void, onClose: () => void, reload: () => void}} props `from`, `to`: indexes to begin with
 */
export function NewSnippet(props) {
    const free = openPlaces(props.strata);
    const begun = useRef(false); // what is typed stays, even if its place is taken meanwhile
    begun.current ||= free.length > 0 || props.strata.stretches.some(({ state }) => state === 'mixed');
    if (begun.current) return html`<${Form} ...${props} free=${free} />`;
    return html`<${Dialog} title="Write a snippet" onClose=${props.onClose}
        foot=${html`<${Button} onClick=${props.onClose}>Close</${Button}>`}>
        <p>At the moment there are no turns for it: a snippet by hand stands for whole turns, before the window, that no
            other snippet stands for.</p>
    </${Dialog}>`;
}

/** @param {any} props those of NewSnippet, and the places that are `free` */
function Form({ chat: id, strata, free, from, to, onWritten, onClose, reload }) {
    const [first, setFirst] = useState(from ?? String(free[0]?.first_index ?? 0));
    const [last, setLast] = useState(to ?? String(free[0]?.last_index ?? 0));
    const [text, setText] = useState('');
    const undo = useUndo(id, reload);
    const ends = [useMessage(id, first), useMessage(id, last)];
    const write = useAction(async () => {
        const [one, other] = ends.map(({ data }) => data.id);
        const body = { first_message_id: one, last_message_id: other, text };
        const made = await chat(id).request('POST', '/snippets', { body });
        notifyStep(id, 'The snippet stands for these turns now.', undo.run);
        onWritten(made);
    }, { quiet: true });
    const ready = ends.every(({ data }) => data) && text.trim();
    const choose = (/** @type {{first_index: number, last_index: number}} */ place) => {
        setFirst(String(place.first_index));
        setLast(String(place.last_index));
    };
    const most = strata.messages - 1;
    const onText = (/** @type {any} */ event) => setText(event.target.value);
    return html`<${Dialog} title="Write a snippet" onClose=${onClose} foot=${html`
        <${Button} onClick=${onClose}>Cancel</${Button}>
        <${Button} kind="primary" busy=${write.busy} disabled=${!ready} onClick=${write.run}>Write it</${Button}>`}>
        <p>Your own words stand for these turns in every prompt from then on, and are never replaced unasked. They must
            be whole turns, before the window, that no snippet stands for.</p>
        ${free.length > 0 && html`<p>Free are: ${free.slice(0, MOST_PLACES).map((/** @type {any} */ place) => html`
            <${Button} key=${place.first_index} kind="quiet" onClick=${() => choose(place)}>
                ${places(place.first_index, place.last_index)}</${Button}>`)}
            ${free.length > MOST_PLACES && 'and more'}</p>`}
        <p class="about">They can also be chosen on the page of the
            ${' '}<a href=${href(['chats', id, 'messages'], { at: first })}>messages</a>.</p>
        <div class="snippet-ends">
            <${Place} label="First message" value=${first} most=${most} onInput=${setFirst} found=${ends[0]} />
            <${Place} label="Last message" value=${last} most=${most} onInput=${setLast} found=${ends[1]} />
        </div>
        <${Field} label="Text" control=${(/** @type {any} */ given) => html`
            <textarea ...${given} dir="auto" maxlength="65536" value=${text} onInput=${onText}></textarea>`} />
        <${Failure} error=${write.error} />
    </${Dialog}>`;
}

/** The message at an index. @param {string} id of the chat @param {string} index as it is typed */
function useMessage(id, index) {
    return useLoad(async (signal) => {
        if (!/^\d+$/.test(index)) return null;
        const query = { from_index: index, limit: 1 };
        const { items } = await chat(id).request('GET', '/messages', { signal, query });
        return items[0]?.index === Number(index) ? items[0] : null;
    }, [id, index]);
}

/** @param {{label: string, value: string, most: number, onInput: (value: string) => void, found: any}} props
 *  `found`: the message there */
function Place({ label, value, most, onInput, found }) {
    const { data, loading, error } = found;
    const missing = !data && !loading && !error;
    const said = data && html`<span class="clipped">
        <bdi>${data.name || data.role}</bdi>: <bdi>${data.content}</bdi></span>`;
    const typed = (/** @type {any} */ event) => onInput(event.target.value);
    return html`<${Field} label=${label} hint=${said} error=${missing ? 'There is no such message.' : error?.detail}
        control=${(/** @type {any} */ given) => html`
            <input ...${given} type="number" min="0" max=${most} value=${value} onInput=${typed} />`} />`;
}
