/** The section of how memory is made: its kind, for whom the settings hold, and their rows. */

import { count, element } from './dom.js';
import { data, inForce, scope, take } from './panel-data.js';
import { FIELDS } from './fields.js';
import { NumberRow, Row, Rows } from './panel-fields.js';
import { Saver } from './panel-save.js';
import { find, partOf, said } from './panel-parts.js';
import { refresh } from './memory.js';
import { session } from './session.js';
import { save, settings } from './settings.js';

const KINDS = [
    ['layered', 'Layered', 'Old turns become short snippets, snippets become layers: detail for thousands of turns.'],
    ['rolling', 'Rolling', 'One summary that is written anew as the chat goes on: simple and small.'],
    ['summary_buffer', 'Summary buffer', 'One summary and the newest messages, counted in messages.'],
    ['none', 'None', 'No memory: everything is sent until the window is full.'],
];

const PAUSE = { path: 'paused', label: 'Pause', hint: 'Nothing new is folded; the memory is still sent.' };

/** A setting that is on or off. */
class SwitchRow extends Row {
    /** @param {{path: string, label: string, hint: string}} field @param {(row: Row, value: any) => void} changed */
    constructor({ path, label, hint }, changed) {
        super(path, label, changed);
        this.box = element('input', { type: 'checkbox', id: this.id, 'aria-describedby': `${this.id}-hint` });
        this.box.addEventListener('change', () => this.changed(this.box.checked));
        this.root.classList.add('tf-switch');
        this.root.prepend(this.box);
        this.root.append(element('small', { id: `${this.id}-hint` }, hint), this.error);
    }

    /** @param {any} value */
    show(value) {
        this.box.disabled = value === null;
        this.box.checked = value === true;
    }
}

/** @param {HTMLElement} root @param {() => void} repaint @returns {Rows} the rows, for others to add theirs */
export function memorySection(root, repaint) {
    const refused = (/** @type {string} */ text) => { partOf(root, 'settings-error').dataset.refused = text; };
    const saver = new Saver({
        onSaved: (changed, answer) => {
            take(changed, answer);
            refused('');
            repaint();
            void refresh();
        },
        onRefused: (_changed, cause, paths) => {
            refused(rows.refuse(cause, paths));
            repaint();
        },
    });
    const rows = new Rows(saver);
    const changed = (/** @type {Row} */ row, /** @type {any} */ value) => rows.change(row, value);
    const all = [new SwitchRow(PAUSE, changed), ...FIELDS.map((field) => new NumberRow(field, changed))];
    partOf(root, 'rows').append(...all.map((row) => rows.add(row).root));
    partOf(root, 'strategy').append(...kinds(saver, refused, repaint));
    for (const radio of root.querySelectorAll('input[name="tf-scope"]')) {
        radio.addEventListener('change', () => choose(/** @type {HTMLInputElement} */ (radio).value, saver, repaint));
    }
    return rows;
}

/** @param {string} wanted scope @param {Saver} saver @param {() => void} repaint */
function choose(wanted, saver, repaint) {
    void saver.flush();
    settings().scope = wanted;
    save();
    repaint();
}

/**
 * The choice of a chat's kind of memory.
 * @param {Saver} saver @param {(text: string) => void} refused @param {() => void} repaint
 */
function kinds(saver, refused, repaint) {
    const props = { id: 'tf-strategy', className: 'text_pole', 'aria-describedby': 'tf-strategy-hint' };
    const select = element('select', props,
        ...KINDS.map(([value, label]) => element('option', { value }, label)));
    select.addEventListener('change', () => {
        const [chat, strategy] = [session.chat, select.value];
        const patch = async () => switched(await chat?.request('PATCH', '', { body: { strategy } }));
        saver.sent = saver.sent.then(patch).then(() => refused(''), (cause) => refused(said(cause))).then(repaint);
    });
    const label = element('label', { htmlFor: 'tf-strategy' }, 'Kind of memory in this chat');
    return [element('div', { className: 'tf-pair' }, label, select), element('small', { id: 'tf-strategy-hint' })];
}

/** @param {any} chat as the server answered */
async function switched(chat) {
    if (!chat) return;
    take({ key: `chat ${chat.id}`, patch: async () => null }, chat);
    await refresh();
}

/** What a switch did to the next prompt. @param {any} chat */
function effect({ switched: done }) {
    if (!done) return '';
    const parts = [done.visible_messages ? `${count(done.visible_messages, 'message')} sent word for word again` : '',
        done.ghosted_messages ? `${count(done.ghosted_messages, 'message')} told by summaries` : ''].filter(Boolean);
    return parts.length ? `Switched: ${parts.join(', ')}. The other memory is kept, asleep.` : '';
}

/** @param {HTMLElement} root @param {Rows} rows */
export function paintMemory(root, rows) {
    const strategy = data.chat?.strategy ?? session.status?.strategy ?? 'layered';
    for (const radio of /** @type {NodeListOf<HTMLInputElement>} */ (root.querySelectorAll('input[name="tf-scope"]'))) {
        radio.checked = radio.value === scope();
        radio.disabled = radio.value === 'chat' && !session.chat;
    }
    const select = find(root, '#tf-strategy');
    select.value = strategy;
    select.disabled = !data.chat;
    const hint = data.chat ? KINDS.find(([value]) => value === strategy)?.[2] : 'Open a chat to choose.';
    find(root, '#tf-strategy-hint').textContent = [hint, data.chat ? effect(data.chat) : ''].filter(Boolean).join(' ');
    for (const { path, strategy: whose } of FIELDS) {
        const row = rows.all.get(path);
        if (row) row.root.hidden = whose !== strategy;
    }
    partOf(root, 'clamped').textContent = (data.chat?.warnings ?? []).join(' ');
    const error = partOf(root, 'settings-error');
    const unknown = data.error && inForce('paused') === null ? said(data.error) : '';
    error.textContent = error.dataset.refused || unknown;
}
