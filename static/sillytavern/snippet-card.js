/** One snippet, with what it covers, and with what a person can do to it: edit, regenerate, delete, look underneath. */

import { button, count, element } from './dom.js';
import { busy, pictured, said } from './panel-parts.js';
import { refresh } from './memory.js';
import { where } from './lookup.js';
import { part } from './turnfold.js';
import { FLAWS } from './words.js';

const MESSAGES = 30; // of those underneath, at a time
/** @type {[string, string, string][]} */
const MARKS = [
    ['stale', 'stale', FLAWS.stale],
    ['degraded', 'degraded', FLAWS.degraded],
    ['edited_at', 'edited', 'A person has changed its text.'],
];

/** @param {any} message */
const original = ({ index, name, role, content }) => (
    element('div', { className: 'tf-original' }, element('b', {}, `${index} · ${name ?? role}`),
        element('p', { className: 'turnfold-text' }, content ?? '')));

export class SnippetCard {
    /** @param {import('./turnfold.js').Chat} chat @param {any} snippet @param {() => unknown} gone: it was deleted */
    constructor(chat, snippet, gone) {
        this.chat = chat;
        this.gone = gone;
        this.snippet = snippet;
        this.path = `/snippets/${part(snippet.id)}`;
        this.root = element('article', { className: 'tf-snippet', 'data-snippet': snippet.id });
        this.paint();
    }

    paint() {
        const { snippet } = this;
        const marks = MARKS.filter(([name]) => snippet[name]);
        this.error = element('div', { className: 'tf-error', role: 'alert' });
        this.body = element('p', { className: 'turnfold-text' }, snippet.text);
        this.below = element('div', { className: 'tf-below' });
        this.tools = element('div', { className: 'tf-buttons' }, ...this.buttons());
        const head = element('header', {}, element('span', {}, where(snippet)),
            ...marks.map(([, text, title]) => element('span', { className: 'tf-mark', title }, text)),
            element('span', { className: 'tf-own' }, count(snippet.tokens, 'token')));
        this.root.replaceChildren(head, this.body, this.error, this.tools, this.below);
    }

    buttons() {
        const acts = this.snippet.state === 'live' ? ACTS : ACTS.filter(([text]) => text !== 'Delete');
        return acts.map(([text, picture, act]) => {
            const made = pictured(picture, text, () => this.act(made, async () => act(this)), {
                'aria-label': `${text}: ${where(this.snippet)}`,
            });
            return made;
        });
    }

    /** What fails of `work` is told at the card. @param {any} pressed @param {() => Promise<unknown>} work */
    async act(pressed, work) {
        this.complain('');
        try {
            await busy(pressed, work);
        } catch (error) {
            this.complain(said(error));
        }
    }

    /** @param {string} text */
    complain(text) { /** @type {HTMLElement} */ (this.error).textContent = text; }

    /** @param {...Node} nodes instead of the buttons */
    choose(...nodes) { this.tools?.replaceChildren(...nodes); }

    edit() {
        const look = { className: 'text_pole textarea_compact', rows: 5, 'aria-label': 'Text of the snippet' };
        const area = element('textarea', { ...look, value: this.snippet.text });
        const save = pictured('fa-check', 'Save', () => this.act(save, async () => {
            this.snippet = await this.chat.request('PATCH', this.path, { body: { text: area.value } });
            this.paint();
            await refresh();
        }));
        this.body?.replaceChildren(area);
        this.choose(save, button('Cancel', () => this.paint()));
        area.focus();
    }

    async regenerate() {
        const { job } = await this.chat.request('POST', `${this.path}/regenerate`);
        this.complain('');
        this.root.classList.add('tf-working');
        try {
            const ended = job ? await this.chat.server.follow(job.id) : null;
            this.snippet = await this.chat.request('GET', this.path);
            this.paint();
            const failed = ended && ended.state !== 'succeeded';
            if (failed) this.complain(ended.error?.detail ?? ended.reason ?? 'It was not made anew.');
        } finally {
            this.root.classList.remove('tf-working');
        }
        await refresh();
    }

    /** Deleting says first what it does. */
    ask() {
        const { covers } = this.snippet;
        const { first_index: first, last_index: last, messages = 0 } = covers ?? {};
        const effect = covers ? `${count(messages, 'message')} (${first} to ${last}): sent word for word again, until`
            + ' they are folded anew.' : 'Nothing is left under it.';
        const yes = pictured('fa-trash-can', 'Delete', () => this.act(yes, async () => {
            await this.chat.request('DELETE', this.path);
            this.root.remove();
            this.gone();
            await refresh();
        }));
        const no = button('Keep', () => this.paint());
        this.choose(element('span', { className: 'tf-note' }, effect), yes, no);
        no.focus();
    }

    /** Shows the original messages, or puts them away. */
    async originals() {
        const below = /** @type {HTMLElement} */ (this.below);
        if (below.childElementCount) return below.replaceChildren();
        return this.append(below, null);
    }

    /** @param {HTMLElement} below @param {string|null} cursor */
    async append(below, cursor) {
        const query = { limit: MESSAGES, cursor };
        const { items, next_cursor: next } = await this.chat.request('GET', `${this.path}/messages`, { query });
        below.append(...items.map(original));
        if (!next) return;
        const more = button('Show more', () => void this.act(more, async () => {
            await this.append(below, next);
            more.remove();
        }));
        below.append(more);
    }
}

/** @type {[string, string, (card: SnippetCard) => unknown][]} */
const ACTS = [
    ['Edit', 'fa-pencil', (card) => card.edit()],
    ['Regenerate', 'fa-rotate', (card) => card.regenerate()],
    ['Originals', 'fa-comments', (card) => card.originals()],
    ['Delete', 'fa-trash-can', (card) => card.ask()],
];
