/** A form of settings: what is in force, what was changed, saved together. What is typed outlives news and a walk. */
import { html, useEffect, useRef, useState } from '../vendor/htm-preact.js';
import { notify, useAction } from '../actions.js';
import { counted } from '../format.js';
import { Button, Section } from '../parts.js';
import { detailOf } from '../server.js';
import { Control } from './control.js';
import { at, changed, faultsOf, nested } from './draft.js';
import { groupsOf } from './fields.js';
import { Prompts } from './prompts.js';
import { Trial } from './trial.js';

/** @type {Map<string, import('./draft.js').Draft>} by the place that they are of, until they are saved */
const drafts = new Map();

/** The way to each part of a long page. @param {{titles: string[]}} props */
const Ways = ({ titles }) => {
    /** @param {string} title */
    const go = (title) => {
        const part = document.querySelector(`section[aria-label="${title}"] :is(h2, h3)`);
        part?.scrollIntoView({ block: 'center' });
        part?.setAttribute('tabindex', '-1');
        /** @type {HTMLElement|null} */ (part)?.focus({ preventScroll: true });
    };
    return html`<nav aria-label="Parts of the settings"><ul class="settings-ways">${titles.map((title) => html`
        <li key=${title}><${Button} kind="quiet" onClick=${() => go(title)}>${title}</${Button}></li>`)}</ul></nav>`;
};

/** What stood against saving, by the names that people know.
 *  @param {unknown} error @param {Record<string, string>} faults */
function whatIsWrong(error, faults) {
    const named = groupsOf(null).flatMap(({ settings }) => settings).filter(({ path }) => faults[path]);
    return named.length ? named.map(({ path, label }) => `${label}: ${faults[path]}`).join(' ') : detailOf(error);
}

/**
 * `values`: in force; `own`: set here; `inherited`: what is followed where nothing is; `strategy`: whose settings are
 * shown, null for all; `chats`: on which prompts can be tried, by id and name.
 * @typedef {{place: string, values: any, own: any, inherited: any, strategy: string|null, connections: string[],
 *   presets: any[], chats: [string, string][], save: (settings: Record<string, any>) => Promise<any>}} FormProps
 */

/** @param {FormProps} props */
export function SettingsForm({ place, values, own, inherited, strategy, connections, presets, chats, save }) {
    const [draft, setDraft] = useState(drafts.get(place) ?? {});
    /** @param {(draft: import('./draft.js').Draft) => import('./draft.js').Draft} change */
    const keep = (change) => {
        drafts.set(place, change(drafts.get(place) ?? {})); // several may come before the next picture
        setDraft(drafts.get(place) ?? {});
    };
    const saving = useAction(async () => {
        await save(nested(draft));
        keep(() => ({}));
        notify('Saved. New values act from the next fold on.');
    }, { quiet: true });
    const faults = faultsOf(saving.error);
    const form = useRef(/** @type {any} */ (null));
    useEffect(() => { form.current?.querySelector('[aria-invalid=true]')?.focus(); }, [saving.error]);
    /** @param {string} path */
    const given = (path) => ({
        value: path in draft ? draft[path] : at(values, path), inherited: at(inherited, path), error: faults[path],
        own: at(own, path) != null && draft[path] !== null, changed: path in draft,
        onChange: (/** @type {any} */ value) => (
            keep((before) => changed(before, path, value, at(own, path) ?? at(values, path)))),
    });
    const total = Object.keys(draft).length;
    const shown = groupsOf(strategy).map(({ title }) => title);
    const isLayered = strategy === null || strategy === 'layered';
    return html`<div ref=${form}>
        <${Ways} titles=${[...shown, ...(isLayered ? ['Prompts'] : []), ...(chats.length ? ['Try it'] : [])]} />
        ${groupsOf(strategy).map(({ title, about, settings }) => html`<${Section} key=${title} title=${title}
            about=${about}><div class="settings">${settings.map((setting) => html`<${Control} key=${setting.path}
                setting=${setting} connections=${connections} ...${given(setting.path)} />`)}</div></${Section}>`)}
        ${isLayered && html`<${Prompts} given=${given} presets=${presets} />`}
        ${chats.length > 0 && html`<${Trial} chats=${chats} settings=${nested(draft)} />`}
        <div class=${`unsaved ${total ? 'open' : ''}`} role="status">${total > 0 && html`
            <span>${counted(total, 'change is', 'changes are')} not saved.${' '}
                ${saving.error && html`<strong class="fault">${whatIsWrong(saving.error, faults)}</strong>`}</span>
            <${Button} onClick=${() => { keep(() => ({})); saving.forget(); }}>Discard</${Button}>
            <${Button} kind="primary" busy=${saving.busy} onClick=${saving.run}>Save</${Button}>`}</div>
    </div>`;
}
