/** Turnfold in SillyTavern: it syncs, asks and shows; the server decides. Wires the parts together, and no more. */

import { on } from './host.js';
import { intercept, startMemory } from './memory.js';
import { startSource } from './source.js';
import { startSync } from './sync.js';
import { startTakeover } from './takeover.js';

on(['APP_READY'], () => {
    startTakeover();
    startMemory();
    startSync();
    startSource();
});

/** Named in manifest.json. */
/** @type {any} */ (globalThis).turnfoldInterceptor = intercept;
