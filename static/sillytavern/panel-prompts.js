/** The summarizer's prompts: which preset, the three texts of it, and the wrapper around the memory. */

import { element } from './dom.js';
import { data, inForce, isOwn, scope } from './panel-data.js';
import { Row } from './panel-fields.js';
import { partOf } from './panel-parts.js';

const PRESETS = [['narrative', 'Narrative'], ['game_state', 'Game state'], ['custom', 'My own']];
const WRAPPER = '<conversation_summary>\n{{summary}}\n</conversation_summary>';
const TEXTS = [
    ['system_prompt', 'System prompt', 'What the summarizer is told to be.'],
    ['user_prompt', 'Prompt for turns', 'The question; {{story_txt}} is the passage.'],
    ['merge_prompt', 'Prompt for merging', 'The question when snippets become one of the next layer.'],
];

/** @param {string} name of a preset; own prompts that are missing are the first one's @returns {any} */
const preset = (name) => data.presets.find((one) => one.name === name) ?? data.presets[0];

/** The text that is asked with now. @param {string} name of the prompt @returns {string|null} null while unknown */
function asked(name) {
    const chosen = inForce('layered.preset');
    if (chosen === null || !data.presets.length) return null;
    if (chosen !== 'custom') return preset(chosen)[name];
    const own = inForce(`layered.${name}`);
    return own || (name === 'merge_prompt' && inForce('layered.user_prompt')) || preset('narrative')[name];
}

/** Whether it differs from every preset's. @param {string} name */
const isEdited = (name) => asked(name) !== null && !data.presets.some((one) => one[name] === asked(name));

class PresetRow extends Row {
    /** @param {(row: Row, value: any) => void} changed */
    constructor(changed) {
        super('layered.preset', 'Preset', changed);
        this.select = element('select', { id: this.id, className: 'text_pole', 'aria-describedby': `${this.id}-hint` },
            ...PRESETS.map(([value, label]) => element('option', { value }, label)));
        this.select.addEventListener('change', () => this.changed(this.select.value));
        this.hint = element('small', { id: `${this.id}-hint` });
        this.root.append(this.select, this.hint, this.error);
    }

    /** @param {any} value */
    show(value) {
        this.select.disabled = value === null;
        this.select.value = value ?? '';
        const focus = preset(value)?.focus ?? 'what matters';
        this.hint.textContent = value === 'custom' ? 'Your own texts, below.' : `Looks at ${focus}.`;
    }
}

/** A text that is long. */
class TextRow extends Row {
    /**
     * @param {string} path @param {string} label @param {string} hint
     * @param {(row: Row, value: any) => void} changed
     */
    constructor(path, label, hint, changed) {
        super(path, label, changed);
        const described = { 'aria-describedby': `${this.id}-hint ${this.id}-error` };
        const className = 'text_pole textarea_compact';
        this.area = element('textarea', { id: this.id, className, rows: 4, spellcheck: false, ...described });
        this.area.addEventListener('input', () => this.changed(this.area.value));
        this.area.addEventListener('blur', () => this.paint());
        this.root.append(this.area, element('small', { id: `${this.id}-hint` }, hint), this.error);
    }

    /** @param {any} value */
    show(value) {
        this.area.disabled = value === null;
        this.area.value = value ?? '';
    }
}

class PromptRow extends TextRow {
    mark() {
        super.mark();
        const name = this.path.split('.')[1];
        const edited = isEdited(name);
        this.own.textContent = edited ? 'edited' : '';
        this.reset.hidden = !edited;
        this.reset.title = `${this.label}: the preset's text again`;
        this.reset.setAttribute('aria-label', this.reset.title);
    }

    show() { super.show(asked(this.path.split('.')[1])); }
}

class WrapperRow extends TextRow {
    /** @param {any} value null: Turnfold's own */
    show(value) { super.show(inForce('layered.preset') === null ? null : value ?? WRAPPER); }
}

/** @param {HTMLElement} root @param {import('./panel-fields.js').Rows} rows */
export function promptSection(root, rows) {
    const changed = (/** @type {Row} */ row, /** @type {any} */ value) => rows.change(row, value);
    const edited = (/** @type {Row} */ row, /** @type {any} */ value) => edit(rows, row, value);
    const all = [
        new PresetRow(changed),
        ...TEXTS.map(([name, label, hint]) => new PromptRow(`layered.${name}`, label, hint, edited)),
        new TemplateRow(changed),
    ];
    partOf(root, 'prompt-rows').append(...all.map((row) => rows.add(row).root));
}

class TemplateRow extends WrapperRow {
    /** @param {(row: Row, value: any) => void} changed */
    constructor(changed) {
        super('layered.injection_template', 'Wrapper', 'Around the memory; {{summary}} is where it goes.', changed);
    }
}

/**
 * A text of a preset that is changed makes the preset "My own": the other two go with it, so that they stay as they are
 * shown. `value` null: the preset's text again.
 * @param {import('./panel-fields.js').Rows} rows @param {Row} row @param {string|null} value
 */
function edit(rows, row, value) {
    const name = row.path.split('.')[1];
    if (inForce('layered.preset') !== 'custom') {
        for (const [other] of TEXTS) if (other !== name) keep(rows, `layered.${other}`, asked(other));
        keep(rows, 'layered.preset', 'custom');
    }
    rows.change(row, value ?? preset('narrative')[name]);
}

/** @param {import('./panel-fields.js').Rows} rows @param {string} path @param {any} value */
function keep(rows, path, value) {
    const row = rows.all.get(path);
    if (row) rows.change(row, value);
}

/** @param {HTMLElement} root */
export function paintPrompts(root) {
    const whose = scope() === 'chat' ? 'this chat' : 'all chats';
    const own = scope() === 'chat' && !isOwn('layered.preset') ? ', which now asks as all chats do' : '';
    partOf(root, 'prompts-scope').textContent = `For ${whose}${own}. The scope is chosen under Memory.`;
}
