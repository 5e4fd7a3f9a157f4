/** Who writes the summaries: the choice, its few fields, and a test of it. */

import { element } from './dom.js';
import { inForce, load } from './panel-data.js';
import { busy, partOf, pictured, said } from './panel-parts.js';
import { server } from './settings.js';
import { chooseSource, currentSource, sources } from './source.js';
import { part } from './turnfold.js';

const ASKED = ['openai', 'ollama']; // by the server itself, at an address
const FIRST = { openai: 'http://127.0.0.1:8080/v1', ollama: 'http://127.0.0.1:11434' };

/** @type {SourceForm|null} */
let form = null;

/** @param {HTMLElement} root @param {() => void} repaint */
export function sourceSection(root, repaint) {
    form = new SourceForm(repaint);
    partOf(root, 'source-form').append(form.root);
}

/** @param {HTMLElement} root */
export function paintSource(root) {
    if (partOf(root, 'source').open) form?.paint();
}

class SourceForm {
    /** @param {() => void} repaint */
    constructor(repaint) {
        this.repaint = repaint;
        /** @type {string|null} what a person is just choosing; null: what is in force */
        this.chosen = null;
        this.kind = element('select', { id: 'tf-source', className: 'text_pole', 'aria-describedby': 'tf-source-hint' });
        this.hint = element('small', { id: 'tf-source-hint' });
        this.profile = element('select', { id: 'tf-profile', className: 'text_pole' });
        this.url = this.input('tf-source-url', 'url');
        this.model = this.input('tf-source-model', 'text');
        this.models = element('datalist', { id: 'tf-source-models' });
        this.model.setAttribute('list', 'tf-source-models');
        this.key = this.input('tf-source-key', 'password');
        this.note = element('div', { className: 'tf-note', role: 'status' });
        this.use = pictured('fa-check', 'Use it', () => this.act(this.use, () => this.choose()));
        this.list = pictured('fa-list', 'Models', () => this.act(this.list, () => this.offer()), { title: 'Ask the server for the models it has' });
        this.test = pictured('fa-plug', 'Test', () => this.act(this.test, () => this.prove()), { title: 'Ask the model for one word' });
        this.rows = this.build();
        this.root = element('div', { className: 'tf-source' }, this.rows.kind, this.hint, this.rows.profile, this.rows.url,
            this.rows.model, this.rows.key, this.models, element('div', { className: 'tf-buttons' }, this.use, this.list, this.test), this.note);
        this.kind.addEventListener('change', () => { this.chosen = this.kind.value; this.fill(); this.paint(); });
    }

    /** @param {string} id @param {string} type */
    input(id, type) { return element('input', { id, type, className: 'text_pole', autocomplete: 'off', spellcheck: false }); }

    build() {
        const pair = (/** @type {string} */ label, /** @type {any} */ field) => (
            element('div', { className: 'tf-pair' }, element('label', { htmlFor: field.id }, label), field));
        return { kind: pair('Summaries are written by', this.kind), profile: pair('Profile', this.profile),
            url: pair('Address', this.url), model: pair('Model', this.model), key: pair('Key', this.key) };
    }

    /** What is in force, by the server's word. */
    current() { return currentSource({ connection: { name: inForce('connection') ?? '' } }); }

    paint() {
        const [all, { kind, connection, note, profile }] = [sources(), this.current()];
        const shown = this.chosen ?? kind;
        const other = kind === null ? [element('option', { value: '' }, connection ? `The connection "${connection}"` : 'Not known')] : [];
        if (document.activeElement !== this.kind) {
            this.kind.replaceChildren(...other, ...all.map((one) => element('option', { value: one.kind }, one.title)));
            this.kind.value = shown ?? '';
        }
        const source = all.find((one) => one.kind === shown);
        this.hint.textContent = [source?.hint ?? `Set up on the server. ${all[0].title} would need no key of its own.`, this.chosen ? '' : note].filter(Boolean).join(' ');
        this.rows.profile.hidden = shown !== 'profile';
        if (shown === 'profile' && document.activeElement !== this.profile) this.profiles(source?.profiles ?? [], profile);
        for (const row of [this.rows.url, this.rows.model, this.rows.key, this.list]) row.hidden = !ASKED.includes(shown ?? '');
        this.use.hidden = !source || (this.chosen === null && !ASKED.includes(kind ?? '') && kind !== 'profile');
        this.test.hidden = this.chosen !== null || !connection;
        if (this.chosen === null && ASKED.includes(kind ?? '') && !this.url.value) void this.known(connection);
    }

    /** @param {{id: string, name: string}[]} profiles @param {string} chosen */
    profiles(profiles, chosen) {
        const kept = this.profile.value || chosen;
        this.profile.replaceChildren(...profiles.map(({ id, name }) => element('option', { value: id }, name)));
        if (!profiles.length) this.profile.append(element('option', { value: '' }, 'There is no profile yet'));
        if (profiles.some(({ id }) => id === kept)) this.profile.value = kept;
    }

    /** The fields of a kind that was just chosen. */
    fill() {
        this.note.textContent = '';
        this.url.value = FIRST[/** @type {'openai'|'ollama'} */ (this.chosen)] ?? '';
        this.model.value = this.key.value = '';
    }

    /** The fields of the connection in force. @param {string} name */
    async known(name) {
        const there = await server().request('GET', `/connections/${part(name)}`).catch(() => null);
        if (!there || this.chosen !== null) return;
        this.url.value = there.base_url ?? '';
        this.model.value = there.model ?? '';
        this.key.placeholder = there.has_api_key ? 'kept by the server' : 'none';
    }

    /** @param {any} pressed @param {() => Promise<unknown>} work */
    async act(pressed, work) {
        this.tell('', '');
        try {
            await busy(pressed, work);
        } catch (error) {
            this.tell(said(error), 'tf-bad');
        }
    }

    /** @param {string} text @param {string} how */
    tell(text, how) {
        this.note.textContent = text;
        this.note.className = `tf-note ${how}`;
    }

    async choose() {
        await this.put();
        this.chosen = null;
        await load();
        this.tell('In use.', 'tf-good');
        this.repaint();
    }

    async put() {
        const kind = /** @type {import('./source.js').Source['kind']} */ (this.chosen ?? this.current().kind);
        const fields = { base_url: this.url.value.trim(), model: this.model.value.trim() || null,
            ...(this.key.value && { api_key: this.key.value }) };
        if (kind === 'profile') await chooseSource(kind, { profile: this.profile.value });
        else await chooseSource(kind, ASKED.includes(kind) ? fields : {});
        this.key.value = '';
    }

    /** The models that the address has: it is put into use for that, since the server is who can ask. */
    async offer() {
        await this.put();
        this.chosen = null;
        await load();
        const { items } = await server().request('GET', `/connections/${part(inForce('connection'))}/models`);
        this.models.replaceChildren(...items.map((/** @type {string} */ value) => element('option', { value })));
        this.tell(items.length ? `It has ${items.join(', ')}.` : 'It has no models.', items.length ? 'tf-good' : 'tf-bad');
        if (!this.model.value && items.length) this.model.value = items[0];
        this.repaint();
    }

    async prove() {
        const { ok, latency_ms: took, detail } = await server().request('POST', `/connections/${part(inForce('connection'))}/test`, { timeout: 0 });
        this.tell(ok ? `${detail} (${took.toLocaleString('en')} ms)` : detail, ok ? 'tf-good' : 'tf-bad');
    }
}
