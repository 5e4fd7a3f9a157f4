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
            const kept = settings(); // asked once: each time it is another object
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

/** What the server said last of the memory block: which one it is, and its tokens. */
let weighed = { key: '', tokens: 0 };

/** Shows the memory as it is sent. @param {ParentNode} root */
export function paintPreview(root) {
    const { chat, id, memory, phase } = session;
    const key = `${id} ${memory.version} ${memory.text.length}`;
    const isKnown = weighed.key === key && memory.text;
    partOf(root, 'tokens').textContent = isKnown ? `${figure(weighed.tokens)} tokens` : '';
    partOf(root, 'preview').textContent = memory.text || (id ? 'No memory yet.' : 'No chat is open.');
    const isSeen = phase === 'ready' && partOf(root, 'injection').open;
    if (chat && memory.text && !isKnown && isSeen) void weigh(root, chat, key);
}

/** @param {ParentNode} root @param {import('./turnfold.js').Chat} chat @param {string} key */
async function weigh(root, chat, key) {
    const told = await chat.preview().catch(() => null);
    if (!told || told.text !== session.memory.text) return;
    weighed = { key, tokens: told.tokens };
    paintPreview(root);
}
