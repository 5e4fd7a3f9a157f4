/** One snippet, with what it covers, and with what a person can do to it: edit, redo, delete, look underneath. */

import { button, count, element } from './dom.js';
import { busy, pictured, said } from './panel-parts.js';
import { refresh } from './memory.js';
import { where } from './lookup.js';
import { part } from './turnfold.js';

const MESSAGES = 30; // of those underneath, at a time
/** @type {[string, string, string][]} */
const MARKS = [
    ['stale', 'stale', 'Something under it has changed since it was written'],
    ['degraded', 'degraded', 'It was cut short, or not written by the model that was meant to'],
    ['edited_at', 'edited', 'A person has changed its text'],
];

export class SnippetCard {
    /** @param {import('./turnfold.js').Chat} chat @param {any} snippet @param {() => unknown} gone called once it was deleted */
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
        const marks = MARKS.filter(([name]) => snippet[name]).map(([, text, title]) => element('span', { className: 'tf-mark', title }, text));
        this.error = element('div', { className: 'tf-error', role: 'alert' });
        this.body = element('p', { className: 'turnfold-text' }, snippet.text);
        this.below = element('div', { className: 'tf-below' });
        this.tools = element('div', { className: 'tf-buttons' }, ...this.buttons());
        this.root.replaceChildren(element('header', {}, element('span', {}, where(snippet)), ...marks,
            element('span', { className: 'tf-own' }, count(snippet.tokens, 'token'))), this.body, this.error, this.tools, this.below);
    }

    buttons() {
        const named = `snippet over ${where(this.snippet)}`;
        const redo = pictured('fa-rotate', 'Redo', () => this.act(redo, () => this.redo()), { 'aria-label': `Redo: ${named}` });
        const under = pictured('fa-comments', 'Originals', () => this.act(under, () => this.originals()), { 'aria-label': `Originals: ${named}` });
        const edit = pictured('fa-pencil', 'Edit', () => this.edit(), { 'aria-label': `Edit: ${named}` });
        const remove = pictured('fa-trash-can', 'Delete', () => this.ask(), { 'aria-label': `Delete: ${named}` });
        return this.snippet.state === 'live' ? [edit, redo, under, remove] : [edit, redo, under];
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
        const area = element('textarea', { className: 'text_pole textarea_compact', value: this.snippet.text, rows: 5, 'aria-label': 'Text of the snippet' });
        const save = pictured('fa-check', 'Save', () => this.act(save, async () => {
            this.snippet = await this.chat.request('PATCH', this.path, { body: { text: area.value } });
            this.paint();
            await refresh();
        }));
        this.body?.replaceChildren(area);
        this.choose(save, button('Cancel', () => this.paint()));
        area.focus();
    }

    async redo() {
        const { job } = await this.chat.request('POST', `${this.path}/regenerate`);
        this.complain('');
        this.root.classList.add('tf-working');
        try {
            const ended = job ? await this.chat.server.follow(job.id) : null;
            this.snippet = await this.chat.request('GET', this.path);
            this.paint();
            if (ended && ended.state !== 'succeeded') this.complain(ended.error?.detail ?? ended.reason ?? 'It was not made anew.');
        } finally {
            this.root.classList.remove('tf-working');
        }
        await refresh();
    }

    /** Deleting says first what it does. */
    ask() {
        const { covers } = this.snippet;
        const effect = covers ? `${count(covers.messages, 'message')} under it (${covers.first_index} to ${covers.last_index}) are sent`
            + ' word for word again, and fold anew later.' : 'Nothing is left under it.';
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
        const { items, next_cursor: next } = await this.chat.request('GET', `${this.path}/messages`, { query: { limit: MESSAGES, cursor } });
        below.append(...items.map((/** @type {any} */ one) => element('div', { className: 'tf-original' },
            element('b', {}, `${one.index} · ${one.name ?? one.role}`), element('p', { className: 'turnfold-text' }, one.content ?? ''))));
        if (!next) return;
        const more = button('Show more', () => void this.act(more, async () => { await this.append(below, next); more.remove(); }));
        below.append(more);
    }
}
