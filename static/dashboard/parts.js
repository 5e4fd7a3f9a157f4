/** The parts that every page is made of. Whatever they show is text: nothing here makes markup of what it is given. */
import { html, useEffect, useLayoutEffect, useRef, useState } from './vendor/htm-preact.js';
import { toClipboard } from './clipboard.js';
import { detailOf } from './server.js';

/** A button. `kind`: plain, primary, danger, quiet. While `busy` it cannot be pressed again, and keeps its focus.
 *  @param {any} props */
export const Button = ({ kind = 'plain', busy = false, disabled = false, onClick, children, ...rest }) => html`
    <button type="button" ...${rest} class=${`button ${kind}`} aria-busy=${busy} aria-disabled=${busy || undefined}
        disabled=${disabled} onClick=${busy ? wait : onClick}>
        ${children}
    </button>`;

/** @param {Event} event */
const wait = (event) => event.preventDefault(); // of a form's button: the form is not sent

/** Something that is told in a box of its own. `kind`: info, warning, error. @param {any} props */
export const Note = ({ kind = 'info', children }) => html`
    <div class=${`note ${kind}`} role=${kind === 'error' ? 'alert' : undefined}>${children}</div>`;

/** What a call failed with, and a way to try again. @param {{error: any, retry?: () => void}} props */
export const Failure = ({ error, retry }) => error && html`
    <${Note} kind="error">
        <p>${detailOf(error)}</p>
        ${retry && html`<${Button} onClick=${retry}>Try again</${Button}>`}
    </${Note}>`;

/** Stands where something is on its way. */
export const Loading = ({ what = 'Reading' }) => html`<p class="loading" role="status">${what}…</p>`;

/** A part of a page, with a heading and what can be done with it. @param {any} props `level`: of the heading */
export const Section = ({ title, about, actions, children, id, level = 2 }) => html`
    <section class="section" id=${id} aria-label=${title}>
        <header class="section-head">
            <${`h${level}`}>${title}</${`h${level}`}>
            ${actions && html`<div class="actions">${actions}</div>`}
        </header>
        ${about && html`<p class="about">${about}</p>`}
        ${children}
    </section>`;

/**
 * A labelled control: an input unless `as` says otherwise (select, textarea), with whatever else is given.
 * `control` instead makes one of one's own, from the id and what describes it.
 * @param {any} props
 */
export function Field({ label, hint, error, inline = false, as = 'input', control, children, ...rest }) {
    const id = useId();
    const about = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
    const given = { id, 'aria-describedby': about, 'aria-invalid': error ? true : undefined };
    return html`<div class=${`field ${inline ? 'inline' : ''}`}>
        <label for=${id}>${label}</label>
        ${control ? control(given) : html`<${as} ...${given} ...${rest}>${children}</${as}>`}
        ${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}
        ${error && html`<p class="fault" id=${`${id}-error`}>${error}</p>`}
    </div>`;
}

/** A box to tick. @param {{label: any, checked: boolean, onChange: (event: any) => void}} props */
export const Check = ({ label, ...rest }) => html`
    <label class="check"><input type="checkbox" ...${rest} /><span>${label}</span></label>`;

/** Gives on what a control holds: `onInput=${written(setName)}`. @param {(value: string) => void} take */
export const written = (take) => (/** @type {any} */ event) => take(event.target.value);

/** Gives on whether a box is ticked. @param {(value: boolean) => void} take */
export const ticked = (take) => (/** @type {any} */ event) => take(event.target.checked);

let ids = 0;

/** An id that no other part of the page has. @returns {string} */
export function useId() {
    const id = useRef('');
    id.current ||= `part-${ids += 1}`;
    return id.current;
}

/** Where one begins in a dialog: what asks to be that, or the first field; else its mildest button. */
const FIRST = '[autofocus], .dialog-body :is(input, select, textarea)';

/**
 * A dialog over the page: the browser's own, so that the keyboard stays in it and Escape closes it. Without `onClose`
 * it stays.
 * @param {{title: string, onClose?: (left?: any) => void, children?: any, foot?: any, wide?: boolean}} props `left` is
 *   true where the way back led out of it
 */
export function Dialog({ title, onClose, children, foot, wide = false }) {
    const box = useRef(/** @type {any} */ (null));
    const id = useId();
    useLayoutEffect(() => {
        const before = /** @type {HTMLElement|null} */ (document.activeElement);
        const dialog = box.current;
        dialog.showModal();
        (dialog.querySelector(FIRST) ?? dialog.querySelector('footer .button'))?.focus();
        return () => { dialog.close(); before?.focus?.(); }; // what is behind an open one takes no focus
    }, []);
    const away = useRef(onClose);
    away.current = onClose;
    useEffect(() => { // the way back leads out of it, and it stands over no other page
        const onAway = () => away.current?.(true);
        addEventListener('popstate', onAway);
        return () => removeEventListener('popstate', onAway);
    }, []);
    /** @param {any} event */
    const onCancel = (event) => { event.preventDefault(); onClose?.(); };
    // Browsers close it without asking at a second Escape, and at the first where nothing was clicked yet.
    const onClosed = () => {
        if (!box.current?.isConnected) return;
        onClose?.();
        requestAnimationFrame(() => { if (box.current && !box.current.open) box.current.showModal(); });
    };
    return html`<dialog ref=${box} class=${wide ? 'wide' : ''} aria-labelledby=${id} onCancel=${onCancel}
        onClose=${onClosed}>
        <header class="dialog-head">
            <h2 id=${id}>${title}</h2>
            ${onClose && html`<${Button} kind="quiet" aria-label="Close" onClick=${onClose}>✕</${Button}>`}
        </header>
        <div class="dialog-body">${children}</div>
        ${foot && html`<footer class="actions">${foot}</footer>`}
    </dialog>`;
}

/** Asks before something is done.
 *  @param {{title: string, text: any, yes: string, danger?: boolean, busy?: boolean, onYes: () => void,
 *    onClose: () => void}} props */
export const Confirm = ({ title, text, yes, danger = true, busy = false, onYes, onClose }) => html`
    <${Dialog} title=${title} onClose=${onClose} foot=${html`
        <${Button} onClick=${onClose}>Cancel</${Button}>
        <${Button} kind=${danger ? 'danger' : 'primary'} busy=${busy} onClick=${onYes}>${yes}</${Button}>`}>
        <p>${text}</p>
    </${Dialog}>`;

/** How far something is; unknown if `value` is null.
 *  @param {{label: string, value: number|null, max?: number, text?: string}} props */
export const Progress = ({ label, value, max = 100, text }) => html`
    <div class="progress">
        <progress aria-label=${label} max=${max} value=${value ?? undefined}></progress>
        ${text && html`<span class="progress-text">${text}</span>`}
    </div>`;

/** A word about the state of something. `kind`: good, warn, bad, plain. @param {any} props */
export const Badge = ({ kind = 'plain', children, ...rest }) => html`
    <span ...${rest} class=${`badge ${kind}`}>${children}</span>`;

/** Links to the parts of a page.
 *  @param {{label: string, items: {name: string, href: string, current: boolean}[]}} props */
export const Tabs = ({ label, items }) => html`
    <nav class="tabs" aria-label=${label}><ul>${items.map(({ name, href, current }) => html`
        <li><a href=${href} aria-current=${current ? 'page' : undefined}>${name}</a></li>`)}
    </ul></nav>`;

/** Text to copy, with the button that does. @param {{label: string, text: string}} props */
export function Copy({ label, text }) {
    const [copied, setCopied] = useState(false);
    const copy = async () => {
        await toClipboard(text);
        setCopied(true);
        setTimeout(() => setCopied(false), 2000);
    };
    return html`<div class="copy">
        <pre tabindex="0" aria-label=${label}>${text}</pre>
        <${Button} onClick=${copy} aria-label=${`Copy: ${label}`}>${copied ? 'Copied' : 'Copy'}</${Button}>
    </div>`;
}
