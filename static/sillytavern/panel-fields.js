/** The fields of settings that the server keeps: their rows, what they show, and word of what is changed in them. */

import { data, inForce, isOwn, isOwnOfChat, scope, target } from './panel-data.js';
import { complaints } from './panel-save.js';
import { element } from './dom.js';
import { pictured } from './panel-parts.js';

/** @typedef {import('./fields.js').Field} Field */

/**
 * Values that a slider stops at: every whole number at first, then in wider and wider steps.
 * @param {number} low @param {number} high @returns {number[]}
 */
export function stops(low, high) {
    const found = [];
    for (let value = low; value < high; value = next(value)) found.push(value);
    return [...found, high];
}

/** @param {number} value */
function next(value) {
    const step = value < 20 ? 1 : 5 * 10 ** Math.max(0, Math.floor(Math.log10(value / 10)) - 1);
    return (Math.floor(value / step) + 1) * step;
}

/** @param {number[]} all @param {number} value @returns {number} the index of the stop next to it */
const nearest = (all, value) => all.reduce((best, stop, at) => (
    Math.abs(stop - value) < Math.abs(all[best] - value) ? at : best), 0);

/** One row of the panel: it shows a setting of the scope, and tells what a person makes of it. */
export class Row {
    /** @param {string} path @param {string} label @param {(row: Row, value: any) => void} changed null: follow again */
    constructor(path, label, changed) {
        this.path = path;
        this.id = `tf-${path.replace(/\W/g, '-')}`;
        this.changed = (/** @type {any} */ value) => { this.complain(''); changed(this, value); };
        this.own = element('span', { className: 'tf-own' });
        const look = { className: 'turnfold-button tf-reset' };
        this.reset = pictured('fa-rotate-left', '', () => this.changed(null), look);
        this.error = element('div', { className: 'tf-error', role: 'alert', id: `${this.id}-error` });
        const named = element('label', { htmlFor: this.id }, label);
        const head = element('div', { className: 'tf-head' }, named, this.own, this.reset);
        this.root = element('div', { className: 'tf-field', 'data-path': path }, head);
        this.label = label;
    }

    /** Shows what is in force. */
    paint() {
        this.mark();
        this.show(inForce(this.path));
    }

    /** Says whose the value is. */
    mark() {
        const own = isOwn(this.path);
        const [mine, theirs] = scope() === 'chat' ? ['only this chat', 'as all chats'] : ['changed', ''];
        const elsewhere = scope() === 'all' && isOwnOfChat(this.path) ? 'this chat has its own' : '';
        this.own.textContent = [own ? mine : theirs, elsewhere].filter(Boolean).join(', ');
        this.reset.hidden = !own;
        this.reset.title = `${this.label}: ${scope() === 'chat' ? 'follow all chats' : 'the default'} again`;
        this.reset.setAttribute('aria-label', this.reset.title);
    }

    /** @param {any} _value */
    show(_value) {}

    /** @param {string} text '' takes it away */
    complain(text) {
        this.error.textContent = text;
        this.root.classList.toggle('tf-refused', Boolean(text));
    }
}

/** A whole number, by slider and by hand. */
export class NumberRow extends Row {
    /** @param {Field} field @param {(row: Row, value: any) => void} changed */
    constructor({ path, label, hint, range = [0, 0] }, changed) {
        super(path, label, changed);
        this.stops = stops(...range);
        const described = { 'aria-describedby': `${this.id}-hint ${this.id}-error` };
        const [min, max] = range;
        const look = { type: 'number', id: this.id, className: 'text_pole', min, max, step: 1 };
        this.number = element('input', { ...look, ...described });
        this.slider = element('input', { type: 'range', min: 0, max: this.stops.length - 1, 'aria-label': label });
        this.slider.addEventListener('input', () => this.slid());
        this.number.addEventListener('input', () => this.typed());
        this.number.addEventListener('blur', () => this.paint());
        this.root.append(element('div', { className: 'tf-slide' }, this.slider, this.number),
            element('small', { id: `${this.id}-hint`, textContent: hint }), this.error);
    }

    slid() {
        this.number.value = String(this.stops[Number(this.slider.value)]);
        this.slider.setAttribute('aria-valuetext', this.number.value);
        this.changed(Number(this.number.value));
    }

    typed() {
        if (this.number.value.trim() === '') return;
        this.slider.value = String(nearest(this.stops, Number(this.number.value)));
        this.changed(Number(this.number.value));
    }

    /** @param {any} value */
    show(value) {
        this.number.disabled = this.slider.disabled = value === null;
        this.number.value = value ?? '';
        this.slider.value = String(nearest(this.stops, value ?? 0));
        this.slider.setAttribute('aria-valuetext', String(value ?? ''));
    }
}

/** All rows of the panel, painted together. */
export class Rows {
    /** @param {import('./panel-save.js').Saver} saver */
    constructor(saver) {
        this.saver = saver;
        /** @type {Map<string, Row>} */
        this.all = new Map();
    }

    /** @template {Row} R @param {R} row @returns {R} */
    add(row) {
        this.all.set(row.path, row);
        return row;
    }

    /** A row changed by a person. @param {Row} row @param {any} value */
    change(row, value) { this.saver.change(target(), row.path, value); }

    /** Shows what is in force; what a person is just changing stays as it is typed. */
    paint() {
        for (const row of this.all.values()) {
            const typing = document.activeElement?.id === row.id && data.all !== null;
            if (typing || this.saver.isWaiting(target().key, row.path)) row.mark();
            else row.paint();
        }
    }

    /**
     * @param {any} error @param {string[]} paths that were sent and not taken
     * @returns {string} what belongs to none of the rows
     */
    refuse(error, paths) {
        const told = complaints(error, paths);
        for (const path of paths) {
            const row = this.all.get(path);
            row?.paint();
            row?.complain(told.get(path) ?? '');
        }
        return told.get('') ?? '';
    }
}
