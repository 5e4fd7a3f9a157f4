/** The list of what is remembered, in a dialog: by layer, page by page, found by a word. */

import { button, element } from './dom.js';
import { dialog, toast } from './host.js';
import { busy, pictured, said } from './panel-parts.js';
import { refresh } from './memory.js';
import { session } from './session.js';
import { SnippetCard } from './snippet-card.js';
import { part } from './turnfold.js';

const PAGE = 30;
const FOUND = 200; // matches asked for; those in messages are left out
const TYPING_MS = 300;
/** @type {[string, string, Record<string, any>][]} what can be left out of the list: value, label, query */
const MARKS = [
    ['', 'All of them', {}],
    ['stale', 'Only stale ones', { stale: true }],
    ['degraded', 'Only degraded ones', { degraded: true }],
];

/** Shows the snippets of the open chat. @returns {Promise<void>} when it was closed */
export async function openSnippets() {
    if (!session.chat) return;
    const list = new SnippetList(session.chat);
    const popup = dialog(list.root, { okButton: 'Close', wide: true, large: true, signal: session.signal });
    void list.reload();
    await popup.show();
}

/** Shows one snippet, whatever its state. @param {string} id @returns {Promise<void>} when it was closed */
export async function openSnippet(id) {
    const { chat, signal } = session;
    if (!chat) return;
    try {
        const found = await chat.request('GET', `/snippets/${part(id)}`);
        const card = new SnippetCard(chat, found, () => popup.complete(null));
        const content = element('div', { className: 'tf-snippets' }, card.root);
        const popup = dialog(content, { okButton: 'Close', signal });
        await popup.show();
    } catch (error) {
        toast('error', said(error));
    }
}

class SnippetList {
    /** @param {import('./turnfold.js').Chat} chat */
    constructor(chat) {
        this.chat = chat;
        this.query = {};
        /** @type {string|null} */
        this.cursor = null;
        this.asked = 0;
        this.reload = this.reload.bind(this);
        const className = 'text_pole';
        const label = 'Find in the memory';
        this.search = element('input', { type: 'search', className, placeholder: 'Find a word', 'aria-label': label });
        this.layer = element('select', { className, 'aria-label': 'Layer' }, ...this.layers());
        this.mark = element('select', { className, 'aria-label': 'Which snippets' },
            ...MARKS.map(([value, label]) => element('option', { value }, label)));
        const title = 'Take back the last edit, deletion or regeneration';
        this.undo = pictured('fa-rotate-left', 'Undo', () => this.takeBack(), { title });
        this.items = element('div', { className: 'tf-list', 'aria-live': 'polite' });
        this.more = button('Show more', () => void this.next(), { hidden: true });
        const tools = element('div', { className: 'tf-tools' }, this.search, this.layer, this.mark, this.undo);
        const head = element('h3', {}, 'What is remembered');
        this.root = element('div', { className: 'tf-snippets' }, head, tools, this.items, this.more);
        this.listen();
    }

    listen() {
        let typing = 0;
        this.search.addEventListener('input', () => {
            clearTimeout(typing);
            typing = window.setTimeout(this.reload, TYPING_MS);
        });
        for (const select of [this.layer, this.mark]) select.addEventListener('change', this.reload);
    }

    layers() {
        const layers = session.status?.layers ?? [];
        return [element('option', { value: '' }, 'All layers'), ...layers.map((/** @type {any} */ one) => (
            element('option', { value: one.layer }, `Layer ${one.layer} (${one.snippets.toLocaleString('en')})`)))];
    }

    async reload() {
        this.cursor = null;
        this.query = MARKS.find(([value]) => value === this.mark.value)?.[2] ?? {};
        const asked = ++this.asked;
        const word = this.search.value.trim();
        await this.show(asked, () => (word ? this.found(word) : this.page()), () => this.items.replaceChildren());
    }

    async next() {
        await busy(this.more, () => this.show(this.asked, () => this.page(), () => {}));
    }

    /**
     * @param {number} asked an older question's answer is not shown
     * @param {() => Promise<any[]>} read @param {() => void} before
     */
    async show(asked, read, before) {
        try {
            const found = await read();
            if (asked !== this.asked) return;
            before();
            this.items.append(...found.map((one) => new SnippetCard(this.chat, one, this.reload).root));
            const isEmpty = !this.items.childElementCount;
            if (isEmpty) this.items.append(element('p', { className: 'tf-note' }, this.nothing()));
            this.more.hidden = !this.cursor;
        } catch (error) {
            if (asked === this.asked) this.items.replaceChildren(element('p', { className: 'tf-error' }, said(error)));
        }
    }

    /** @returns {Promise<any[]>} the next ones in reading order */
    async page() {
        const query = { limit: PAGE, layer: this.layer.value || null, cursor: this.cursor, ...this.query };
        const { items, next_cursor: cursor } = await this.chat.request('GET', '/snippets', { query });
        this.cursor = cursor;
        return items;
    }

    /** @param {string} word @returns {Promise<any[]>} those that hold it, the best match first */
    async found(word) {
        const { items } = await this.chat.request('GET', '/search', { query: { q: word, limit: FOUND } });
        const snippets = items.filter((/** @type {any} */ one) => one.kind === 'snippet').slice(0, PAGE);
        /** @type {any[]} */
        const all = await Promise.all(snippets.map((/** @type {any} */ one) => (
            this.chat.request('GET', `/snippets/${part(one.snippet_id)}`))));
        return all.filter((one) => this.fits(one));
    }

    /** @param {any} one */
    fits(one) {
        const inLayer = !this.layer.value || String(one.layer) === this.layer.value;
        return inLayer && Object.keys(this.query).every((mark) => one[mark]);
    }

    nothing() {
        if (this.search.value.trim()) return 'No snippet holds that.';
        return this.layer.value || this.mark.value ? 'There are none of these.' : 'Nothing is remembered yet.';
    }

    async takeBack() {
        try {
            const { undone } = await busy(this.undo, () => this.chat.request('POST', '/undo'));
            toast('success', `Taken back: ${WORDS[undone.kind] ?? undone.kind}.`);
            await Promise.all([this.reload(), refresh()]);
        } catch (error) {
            toast('info', said(error));
        }
    }
}

/** @type {Record<string, string>} */
const WORDS = { edit: 'an edit', delete: 'a deletion', manual: 'a snippet by hand', regenerate: 'a regeneration' };

