/** Turnfold in SillyTavern: it syncs, asks and shows; the server decides. Wires the parts together, and no more. */

import { startBacklog } from './backlog.js';
import { startCommands } from './commands.js';
import { startGhosts } from './ghosts.js';
import { on } from './host.js';
import { intercept, startMemory } from './memory.js';
import { startPanel } from './panel.js';
import { startSource } from './source.js';
import { startSync } from './sync.js';
import { startTakeover } from './takeover.js';

on(['APP_READY'], () => {
    startTakeover();
    startMemory();
    startGhosts();
    startBacklog();
    startCommands();
    startSync();
    startSource();
    void startPanel();
});

/** Named in manifest.json. */
/** @type {any} */ (globalThis).turnfoldInterceptor = intercept;
