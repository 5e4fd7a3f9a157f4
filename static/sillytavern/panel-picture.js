/** The picture of a memory: how the chat is made up, and how full each layer is. */

import { count, element } from './dom.js';
import { figure } from './panel-parts.js';

/** @param {any} status null before it is known @returns {Node[]} */
export function draw(status) {
    if (!status) return [];
    /** @type {any[]} */
    const layers = status.layers.filter((/** @type {any} */ layer) => layer.snippets);
    return [chatBar(status), ...layers.reverse().map((layer) => band(layer, layers.length)), figures(status)];
}

/** What of the chat is sent as it is, and what is told by the memory. @param {any} status */
function chatBar({ counts }) {
    const { messages, ghosted, visible, hidden, omitted } = counts;
    const parts = [['ghosted', ghosted], ['visible', visible], ['hidden', hidden + omitted]];
    const shown = parts.filter(([, n]) => n);
    const label = shown.map(([name, n]) => `${figure(n)} ${name}`).join(', ') || 'no messages';
    const bars = shown.map(([name, n]) => element('span', { className: `tf-part tf-${name}` }));
    bars.forEach((bar, at) => { bar.style.flexGrow = String(Number(shown[at][1]) / messages); });
    return element('div', { className: 'tf-chat', role: 'img', 'aria-label': `The chat's messages: ${label}` },
        element('div', { className: 'tf-bar' }, ...bars),
        element('div', { className: 'tf-legend' }, ...shown.map(([name, n]) => (
            element('span', { className: `tf-key tf-${name}` }, `${figure(Number(n))} ${name}`)))));
}

/** @param {any} layer @param {number} layers how many there are */
function band({ layer, snippets, limit, tokens, turns }, layers) {
    const label = layers > 1 || layer ? `Layer ${layer}` : 'Snippets';
    const full = limit ? `${figure(snippets)} of ${figure(limit)}` : figure(snippets);
    const more = `${count(turns, 'turn')}, ${count(tokens, 'token')}`;
    const fill = element('span', { className: 'tf-fill' });
    fill.style.width = `${limit ? Math.min(100, 100 * snippets / limit) : 100}%`;
    const spoken = `${label}: ${full} snippets, ${more}`;
    return element('div', { className: 'tf-band', role: 'img', 'aria-label': spoken, title: more },
        element('span', { className: 'tf-name', textContent: label }), element('span', { className: 'tf-bar' }, fill),
        element('span', { className: 'tf-count', textContent: full }));
}

/** @param {any} status */
function figures({ memory_tokens: tokens, compression, layers }) {
    const turns = layers.reduce((/** @type {number} */ sum, /** @type {any} */ layer) => sum + layer.turns, 0);
    if (!turns) return element('div', { hidden: true });
    const smaller = compression ? [', ', element('b', {}, `${round(compression)}×`), ' smaller'] : [];
    const told = [element('b', {}, count(turns, 'turn')), ' in ', element('b', {}, count(tokens, 'token')), ...smaller];
    return element('div', { className: 'tf-figures' }, element('span', {}, ...told));
}

/** @param {number} ratio */
const round = (ratio) => (ratio < 10 ? ratio.toFixed(1) : figure(Math.round(ratio)));
