/** Where the memory stands in the prompt (kept in this SillyTavern), and the memory's text as it is sent. */

import { find, figure, partOf } from './panel-parts.js';
import { refresh } from './memory.js';
import { session } from './session.js';
import { save, settings } from './settings.js';

/** @type {Record<string, string>} */
const HINTS = {
    0: 'A fixed place early in the prompt: between folds the model\'s cache keeps it and the chat after it.',
    1: 'At a depth the memory moves with every turn, so the model\'s cache is lost from there on.',
    2: 'A fixed place at the very beginning: after a fold the whole prompt is read anew.',
    [-1]: 'Only where you write {{turnfold_memory}} yourself.',
};

/** @param {ParentNode} root */
export function placementSection(root) {
    for (const name of ['position', 'depth', 'role']) {
        const field = find(root, `#tf-${name}`);
        field.value = settings().placement[name];
        field.addEventListener('change', () => {
            const kept = settings();
            const isFit = field.checkValidity() && field.value !== '';
            if (isFit) kept.placement = { ...kept.placement, [name]: Number(field.value) };
            field.value = kept.placement[name];
            save();
            hint(root);
            void refresh();
        });
    }
    hint(root);
}

/** @param {ParentNode} root */
function hint(root) {
    const { position } = settings().placement;
    partOf(root, 'depth').hidden = position !== 1;
    find(root, '#tf-role').closest('.tf-pair').hidden = position === -1;
    partOf(root, 'placement-hint').textContent = HINTS[position] ?? '';
}

/** Shows the memory as it is sent. @param {ParentNode} root */
export function paintPreview(root) {
    const { id, memory } = session;
    partOf(root, 'tokens').textContent = memory.tokens ? `${figure(memory.tokens)} tokens` : '';
    partOf(root, 'preview').textContent = memory.text || (id ? 'No memory yet.' : 'No chat is open.');
    partOf(root, 'warnings').textContent = memory.warnings.map(({ detail }) => detail).join('\n');
}
