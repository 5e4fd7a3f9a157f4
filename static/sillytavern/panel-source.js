/** Who writes the summaries: the choice, its few fields, and a test of it. */

import { element } from './dom.js';
import { inForce, load } from './panel-data.js';
import { busy, partOf, pictured, said } from './panel-parts.js';
import { server } from './settings.js';
import { beforeTest, chooseSource, connectionOf, currentSource, sources } from './source.js';
import { part } from './turnfold.js';

/** @typedef {import('./source.js').Source} Source */

/** @type {Record<string, string>} where those usually are that the server asks by itself */
const USUAL = { openai: 'http://127.0.0.1:8080/v1', ollama: 'http://127.0.0.1:11434' };
const KEPT = ['context_size', 'temperature', 'max_tokens', 'timeout_s', 'concurrency', 'extra_body'];

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

/** @param {string} id @param {string} type */
const input = (id, type) => (
    element('input', { id, type, className: 'text_pole', autocomplete: 'off', spellcheck: false }));

/** @param {string} label @param {HTMLElement} field */
const pair = (label, field) => (
    element('div', { className: 'tf-pair' }, element('label', { htmlFor: field.id }, label), field));

/** @param {string} name of a connection */
const at = (name) => `/connections/${part(name)}`;

class SourceForm {
    /** @type {string|null} the kind that a person is just choosing; null: what is in force is shown */
    chosen = null;
    /** @type {any} the connection in force, as the server has it */
    there = null;
    kind = element('select', { id: 'tf-source', className: 'text_pole', 'aria-describedby': 'tf-source-hint' });
    profile = element('select', { id: 'tf-profile', className: 'text_pole' });
    url = input('tf-source-url', 'url');
    model = input('tf-source-model', 'text');
    key = input('tf-source-key', 'password');
    models = element('datalist', { id: 'tf-source-models' });
    hint = element('small', { id: 'tf-source-hint' });
    note = element('div', { className: 'tf-note', role: 'status' });
    use = pictured('fa-check', 'Use it', () => this.act(this.use, () => this.choose()));
    list = pictured('fa-list', 'Models', () => this.act(this.list, () => this.offer()), { title: 'What it has' });
    test = pictured('fa-plug', 'Test', () => this.act(this.test, () => this.prove()), { title: 'Ask it for one word' });

    /** @param {() => void} repaint */
    constructor(repaint) {
        this.repaint = repaint;
        this.model.setAttribute('list', this.models.id);
        this.profiles = pair('Profile', this.profile);
        this.address = [pair('Address', this.url), pair('Model', this.model), pair('Key', this.key)];
        const buttons = element('div', { className: 'tf-buttons' }, this.use, this.list, this.test);
        this.root = element('div', { className: 'tf-source' }, pair('Summaries are written by', this.kind), this.hint,
            this.profiles, ...this.address, this.models, buttons, this.note);
        this.kind.addEventListener('change', () => this.begin());
    }

    /** What is in force, by the server's word. */
    current() { return currentSource({ connection: { name: inForce('connection') ?? '' } }); }

    /** The kind that is shown. @returns {Source['kind']|null} */
    shown() { return /** @type {Source['kind']|null} */ (this.chosen) ?? this.current().kind; }

    /** Another kind was chosen: its fields are empty, or what is usual. */
    begin() {
        this.chosen = this.kind.value || null;
        this.note.textContent = '';
        this.url.value = USUAL[this.chosen ?? ''] ?? '';
        this.model.value = this.key.value = '';
        this.paint();
    }

    paint() {
        const [all, shown, { connection, note }] = [sources(), this.shown(), this.current()];
        const [isLocal, isInUse] = [(shown ?? '') in USUAL, this.chosen === null];
        const source = all.find(({ kind }) => kind === shown);
        this.offerKinds(all, shown, connection);
        const other = `Set up on the server. ${all[0].title} would need no key of its own.`;
        this.hint.textContent = [source?.hint ?? other, isInUse ? note : ''].filter(Boolean).join(' ');
        this.profiles.hidden = shown !== 'profile';
        if (shown === 'profile') this.offerProfiles(source?.profiles ?? []);
        for (const row of [...this.address, this.list]) row.hidden = !isLocal;
        this.use.hidden = !source || (isInUse && !isLocal && shown !== 'profile');
        this.test.hidden = !isLocal && !(isInUse && connection);
        if (isInUse && isLocal && this.there?.name !== connection) void this.recall(connection);
    }

    /** @param {Source[]} all @param {string|null} shown @param {string} connection in force */
    offerKinds(all, shown, connection) {
        if (document.activeElement === this.kind && this.kind.options.length) return;
        const name = connection ? `The connection "${connection}"` : 'Not known yet';
        const other = this.current().kind === null ? [element('option', { value: '' }, name)] : [];
        this.kind.replaceChildren(...other, ...all.map(({ kind, title }) => element('option', { value: kind }, title)));
        this.kind.value = shown ?? '';
    }

    /** @param {{id: string, name: string}[]} profiles */
    offerProfiles(profiles) {
        if (document.activeElement === this.profile) return;
        const kept = this.profile.value || this.current().profile;
        const none = profiles.length ? [] : [element('option', { value: '' }, 'There is no profile yet')];
        const named = profiles.map(({ id, name }) => element('option', { value: id }, name));
        this.profile.replaceChildren(...none, ...named);
        if (profiles.some(({ id }) => id === kept)) this.profile.value = kept;
    }

    /** The fields of the connection in force. @param {string} name */
    async recall(name) {
        this.there = await server().request('GET', at(name)).catch(() => null);
        if (!this.there || this.chosen !== null) return;
        this.url.value = this.there.base_url ?? '';
        this.model.value = this.there.model ?? '';
        this.key.placeholder = this.there.has_api_key ? 'kept by the server' : 'none';
    }

    /** @param {HTMLButtonElement} pressed @param {() => Promise<unknown>} work */
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

    /** What is filled in, and what was set of the connection elsewhere. @returns {Record<string, any>} */
    fields() {
        const isSame = this.there?.name === connectionOf(/** @type {Source['kind']} */ (this.shown()));
        const kept = isSame ? Object.fromEntries(KEPT.map((name) => [name, this.there[name]])) : {};
        const key = this.key.value ? { api_key: this.key.value } : {};
        return { ...kept, base_url: this.url.value.trim(), model: this.model.value.trim() || null, ...key };
    }

    async choose() {
        const kind = /** @type {Source['kind']} */ (this.shown());
        const fields = kind === 'profile' ? { profile: this.profile.value } : kind in USUAL ? this.fields() : {};
        await chooseSource(kind, fields);
        this.chosen = this.there = null;
        this.key.value = '';
        await load();
        this.tell('In use.', 'tf-good');
        this.repaint();
    }

    /** The connection's name, once the server has it as it is filled in; it is not put into use by that. */
    async ready() {
        const kind = this.shown();
        if (!kind || !(kind in USUAL)) return String(inForce('connection'));
        const name = connectionOf(kind);
        this.there = await server().request('PUT', at(name), { body: { provider: kind, ...this.fields() } });
        return name;
    }

    async offer() {
        const { items } = await server().request('GET', `${at(await this.ready())}/models`);
        this.models.replaceChildren(...items.map((/** @type {string} */ value) => element('option', { value })));
        if (!this.model.value && items.length) this.model.value = items[0];
        if (items.length) this.tell(`It has ${items.join(', ')}.`, 'tf-good');
        else this.tell('It has no models.', 'tf-bad');
    }

    async prove() {
        const name = await this.ready();
        await beforeTest(name);
        const asked = await server().request('POST', `${at(name)}/test`, { timeout: 0 });
        const took = asked.ok ? ` (${asked.latency_ms.toLocaleString('en')} ms)` : '';
        this.tell(`${asked.detail}${took}`, asked.ok ? 'tf-good' : 'tf-bad');
    }
}
