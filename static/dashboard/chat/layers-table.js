/** The rows of the table of layers. */

/**
 * A layer as the table tells of it. `each`: turns that one of its snippets stands for by now, on average; `fullEach`,
 * `fullTurns`: of a snippet made of full ones, and of a layer full of them, as docs/concepts.md reckons.
 * @typedef {{layer: number, snippets: number, limit: number, turns: number, tokens: number, each: number|null,
 *   fullEach: number, fullTurns: number}} Row
 */

/** Deepest first, as they are read. @param {any[]} layers of a status @param {any} layered settings @returns {Row[]} */
export function rows(layers, { turns_per_batch: batch, snippets_per_promotion: merged }) {
    return layers.map(({ layer, snippets, limit, turns, tokens }) => {
        const fullEach = batch * merged ** layer;
        const each = snippets ? Math.round((10 * turns) / snippets) / 10 : null;
        return { layer, snippets, limit, turns, tokens, each, fullEach, fullTurns: fullEach * limit };
    }).reverse();
}

/** All layers there may be, full, from the newest down. @param {any} layered settings @returns {Row[]} */
export const fullRows = (layered) => rows(Array.from({ length: layered.max_layers }, (_, layer) => (
    { layer, snippets: 0, limit: layered.snippets_per_layer, turns: 0, tokens: 0 })), layered).reverse();

/** Of the whole memory. @param {any[]} layers of a status */
export const sums = (layers) => layers.reduce((sum, { snippets, turns, tokens }) => ({
    snippets: sum.snippets + snippets, turns: sum.turns + turns, tokens: sum.tokens + tokens,
}), { snippets: 0, turns: 0, tokens: 0 });
