/** The memory's place in SillyTavern's prompt, and the macro that stands for it. */

import { context, on } from './host.js';
import { settings } from './settings.js';

const KEY = 'turnfold';
const MACRO = 'turnfold_memory';

let text = '';
let isWanted = true;

/** Whether this generation is one that has the memory in it. @param {string|undefined} type */
export const hasMemory = (type) => type !== 'quiet';

/** @param {string|undefined} type of the generation that is being prepared */
export function prepare(type) {
    isWanted = hasMemory(type);
    place();
}

/** Injects a text from now on. @param {string} memory */
export function inject(memory) {
    // SillyTavern would carry out what looks like a macro, and this is what people and models said.
    text = memory.replaceAll('{{', '{\u200b{');
    place();
}

/** Sets the prompt by the settings of this moment. */
export function place() {
    const { position, depth, role } = settings().placement;
    context().setExtensionPrompt(KEY, text, position, depth, false, role, () => isWanted);
}

/** Knows each generation's kind from its beginning: a dry run calls no interceptor. */
export function startPrompt() {
    on(['GENERATION_STARTED'], (type) => { isWanted = hasMemory(type); });
    const value = () => text;
    const description = 'What Turnfold remembers of the open chat.';
    const { macros, powerUserSettings, registerMacro } = context();
    macros?.register?.(MACRO, { handler: value, description, category: 'chat' });
    if (!powerUserSettings?.experimental_macro_engine) registerMacro(MACRO, value, description);
}
