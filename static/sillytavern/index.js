/** Turnfold in SillyTavern: it syncs, asks and shows; the server decides. Wires the parts together, and no more. */

export {};
