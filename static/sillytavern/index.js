/** Turnfold in SillyTavern: it syncs, asks and shows; the server decides. Wires the parts together, and no more. */

import { on } from './host.js';
import { startSource } from './source.js';

on(['APP_READY'], () => {
    startSource();
});
