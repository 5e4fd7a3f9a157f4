/** How the picture of a memory is laid out: its bands, their cells, the rows they stand in, and the way of the keys. */

/**
 * @typedef {{id: string, position: number, kind: string, first_index: number, last_index: number, turns: number,
 *   messages: number, tokens: number, source_tokens: number, stale: boolean, degraded: boolean, edited: boolean}} Live
 * @typedef {{state: string, skipped: boolean, first_index: number, last_index: number, messages: number,
 *   turns: number|null, tokens: number|null}} Stretch `turns` and `tokens`: null where they are not known
 * @typedef {{first_index: number, last_index: number}} Reach
 * @typedef {{strategy: string, memory_version: number, messages: number, turns: number, raw_tokens: number,
 *   layers: {layer: number, limit: number, snippets: Live[]}[], stretches: Stretch[],
 *   pinned: {message_id: string, index: number}[], window: {first_index: number|null, turns: number},
 *   folding: Reach[]}} Strata as GET /v1/chats/{id}/strata answers it
 * @typedef {Reach & {key: string, id: string|null, kind: string, turns: number|null, messages: number,
 *   tokens: number|null, sourceTokens: number|null, from: number|null, to: number|null, weight: number,
 *   marks: string[], pins: number, number: number, of: number}} Cell `kind`: snippet, window, waiting, pinned, visible,
 *   hidden, omitted or mixed; `from`, `to`: its turns, counted from 1; `number` of `of`: its place in its band
 * @typedef {{key: string, kind: 'surface'|'between'|'layer', layer: number, limit: number, cells: Cell[],
 *   older: number, turns: number, tokens: number, messages: number}} Band `older`: cells that are not shown
 * @typedef {{band: Band, cells: Cell[], room: number}} Row `room`: the weight of the free place behind its cells
 */

export const LEAST = 30; // pixels of a cell
export const GAP = 3; // between cells
export const MOST_CELLS = 100; // of a layer, before somebody asks for more
const MOST_STRETCHES = 48;

const total = (/** @type {number[]} */ numbers) => numbers.reduce((sum, one) => sum + one, 0);
const meets = (/** @type {Reach} */ one, /** @type {Reach} */ other) =>
    one.first_index <= other.last_index && other.first_index <= one.last_index;

/** The bands, from the surface down: the turns that are word for word, what lies among the folded ones, and the layers.
 *  @param {Strata} strata @param {Record<string, number>} [most] how many cells of a band are shown, by its key
 *  @returns {Band[]} */
export function bandsOf(strata, most = {}) {
    const parts = strata.stretches.filter(({ state }) => state !== 'ghosted').flatMap((one) => windowed(one, strata));
    const places = turnsOf(strata, parts);
    const end = covered(strata);
    const draw = (/** @type {Stretch[]} */ some) =>
        some.flatMap((one) => chips(one, strata.folding)).map((one) => ofStretch(one, strata, places));
    const above = (/** @type {'surface'|'between'} */ kind, /** @type {Stretch[]} */ some) =>
        ({ ...band(kind, kind, gathered(draw(some))), turns: total(some.map((one) => one.turns ?? 0)) });
    const layers = [...strata.layers].sort((one, other) => one.layer - other.layer);
    return [
        above('surface', parts.filter((one) => one.first_index > end)),
        above('between', parts.filter((one) => one.first_index <= end)),
        ...layers.map(({ layer, limit, snippets }) => {
            const all = snippets.map((one) => ofSnippet(one, strata, places));
            return band(`layer-${layer}`, 'layer', all, layer, limit, most[`layer-${layer}`] ?? MOST_CELLS);
        }),
    ].filter(({ cells: some }) => some.length);
}

/** The newest message that a snippet covers; -1 without. @param {Strata} strata */
const covered = (strata) =>
    Math.max(-1, ...strata.layers.flatMap(({ snippets }) => snippets.map(({ last_index: last }) => last)));

/** @param {string} key @param {Band['kind']} kind @param {Cell[]} all @param {number} [layer] @param {number} [limit]
 *  @param {number} [most] @returns {Band} */
function band(key, kind, all, layer = 0, limit = 0, most = all.length) {
    const cells = all.map((cell, at) => ({ ...cell, number: at + 1, of: all.length })).slice(-most);
    const sum = (/** @type {'turns'|'tokens'|'messages'} */ name) => total(all.map((cell) => cell[name] ?? 0));
    const sums = { turns: sum('turns'), tokens: sum('tokens'), messages: sum('messages') };
    return { key, kind, layer, limit, cells, older: all.length - cells.length, ...sums };
}

/** The first and last turn of every snippet and stretch, by its key; empty where they cannot be told one by one.
 *  @param {Strata} strata @param {Stretch[]} stretches @returns {Map<string, [number, number]>} */
function turnsOf(strata, stretches) {
    const snippets = strata.layers.flatMap((layer) => layer.snippets);
    const pieces = [
        ...snippets.map((one) => ({ ...one, key: one.id })), ...stretches.map((one) => ({ ...one, key: keyOf(one) })),
    ].sort((one, other) => one.first_index - other.first_index);
    const known = total(pieces.map(({ turns }) => turns ?? 0)) === strata.turns;
    if (!known || stretches.some(({ state }) => state === 'mixed')) return new Map();
    let before = 0;
    return new Map(pieces.map(({ key, turns }) => {
        const first = before + 1;
        before += turns ?? 0;
        return [key, [first, before]];
    }));
}

/** @param {Reach} one */
const keyOf = (one) => `from-${one.first_index}`;

/** A stretch that is visible, in what waits and what is in the window. @param {Stretch} stretch @param {Strata} strata
 *  @returns {Stretch[]} */
function windowed(stretch, strata) {
    if (stretch.state !== 'visible' || stretch.skipped || strata.strategy === 'none') return [stretch];
    const { first_index: edge } = strata.window;
    if (edge === null || edge > stretch.last_index) return [{ ...stretch, state: 'waiting' }];
    if (edge <= stretch.first_index) return [{ ...stretch, state: 'window' }];
    const later = strata.stretches.filter((one) => one.first_index > stretch.last_index && !one.skipped);
    const turns = Math.max(0, strata.window.turns - total(later.map((one) => one.turns ?? 0)));
    const [old, young] = halves(stretch, edge, Math.min(turns, stretch.turns ?? 0));
    return [{ ...old, state: 'waiting' }, { ...young, state: 'window' }];
}

/** @param {Stretch} stretch @param {number} edge where the second begins @param {number} turns of the second
 *  @returns {[Stretch, Stretch]} neither knows its tokens */
function halves(stretch, edge, turns) {
    const old = edge - stretch.first_index;
    const parts = { ...stretch, tokens: null };
    return [
        { ...parts, last_index: edge - 1, messages: old, turns: (stretch.turns ?? 0) - turns },
        { ...parts, first_index: edge, messages: stretch.messages - old, turns },
    ];
}

/** What waits, cut where a fold has it in work.
 *  @param {Stretch} stretch @param {Reach[]} folding @returns {Stretch[]} */
function chips(stretch, folding) {
    if (stretch.state !== 'waiting') return [stretch];
    const edges = folding.flatMap((one) => [one.first_index, one.last_index + 1])
        .filter((edge) => edge > stretch.first_index && edge <= stretch.last_index);
    const starts = [...new Set([stretch.first_index, ...edges])].sort((one, other) => one - other);
    if (starts.length === 1) return [stretch];
    return starts.map((first, at) => {
        const last = (starts[at + 1] ?? stretch.last_index + 1) - 1;
        const part = { first_index: first, last_index: last, messages: last - first + 1 };
        return { ...stretch, ...part, turns: null, tokens: null };
    });
}

/** @param {Stretch} one @param {Strata} strata @param {Map<string, [number, number]>} places @returns {Cell} */
function ofStretch(one, strata, places) {
    const [from, to] = places.get(keyOf(one)) ?? [null, null];
    const whole = from !== null && to !== null && one.turns === to - from + 1;
    const pins = pinsIn(one, strata);
    const folding = strata.folding.some((some) => meets(some, one)) && one.state === 'waiting';
    const marks = [one.skipped && 'skipped', folding && 'folding'].filter(Boolean);
    return {
        key: keyOf(one), id: null, kind: pins === one.messages ? 'pinned' : one.state, ...reach(one),
        turns: one.turns, messages: one.messages, tokens: one.tokens, sourceTokens: null,
        from: whole ? from : null, to: whole ? to : null, weight: weight(one.turns ?? one.messages / 2),
        marks: /** @type {string[]} */ (marks), pins, number: 1, of: 1,
    };
}

/** @param {Live} one @param {Strata} strata @param {Map<string, [number, number]>} places @returns {Cell} */
function ofSnippet(one, strata, places) {
    const [from, to] = places.get(one.id) ?? [null, null];
    const folding = strata.folding.some((some) => some.first_index === one.first_index
        && some.last_index === one.last_index);
    const marks = [
        one.stale && 'stale', one.degraded && 'degraded', one.edited && one.kind !== 'manual' && 'edited',
        one.kind === 'manual' && 'manual', folding && 'folding',
    ].filter(Boolean);
    return {
        key: one.id, id: one.id, kind: 'snippet', ...reach(one), turns: one.turns, messages: one.messages,
        tokens: one.tokens, sourceTokens: one.source_tokens, from, to, weight: weight(one.turns),
        marks: /** @type {string[]} */ (marks), pins: pinsIn(one, strata), number: 1, of: 1,
    };
}

/** How many pinned messages lie there. @param {Reach} one @param {Strata} strata */
const pinsIn = (one, { pinned }) =>
    pinned.filter(({ index }) => index >= one.first_index && index <= one.last_index).length;

/** @param {Reach} one @returns {Reach} */
const reach = (one) => ({ first_index: one.first_index, last_index: one.last_index });

/** By the square root, so that few turns beside many stay in sight. @param {number} turns */
const weight = (turns) => Math.sqrt(Math.max(1, turns));

/** Neighbours as one where there are too many to show. @param {Cell[]} cells @returns {Cell[]} */
function gathered(cells) {
    if (cells.length <= MOST_STRETCHES) return cells;
    const size = Math.ceil(cells.length / MOST_STRETCHES);
    return chunks(cells, size).map((some) => some.reduce(together));
}

/** @param {Cell} one @param {Cell} other @returns {Cell} */
function together(one, other) {
    const turns = (one.turns ?? 0) + (other.turns ?? 0);
    const alike = one.kind === other.kind;
    return {
        ...one, kind: alike ? one.kind : 'mixed', last_index: other.last_index, turns, from: null, to: null,
        messages: one.messages + other.messages, tokens: (one.tokens ?? 0) + (other.tokens ?? 0), weight: weight(turns),
        marks: [...new Set([...one.marks, ...other.marks])], pins: one.pins + other.pins,
    };
}

/** @template T @param {T[]} items @param {number} size @returns {T[][]} */
const chunks = (items, size) =>
    Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));

/** The rows of a band in a picture so many pixels wide: no cell narrower than `LEAST`, all rows alike, and behind the
 *  last cell the room that its layer still has. @param {Band} some @param {number} width @returns {Row[]} */
export function rowsOf(some, width) {
    const slots = Math.max(some.cells.length, some.older ? 0 : some.limit);
    const fits = Math.max(1, Math.floor((width + GAP) / (LEAST + GAP)));
    const size = Math.ceil(slots / Math.ceil(slots / fits));
    const mean = total(some.cells.map((cell) => cell.weight)) / some.cells.length;
    return chunks(some.cells, size).map((cells) => ({ band: some, cells, room: (size - cells.length) * mean }));
}

/** Where a key leads from a cell: along its band, to the row above or below, to an end. The same key if nowhere.
 *  @param {Row[]} rows of the whole picture @param {string} key of the cell
 *  @param {string} press as in KeyboardEvent.key @param {boolean} [far] with Ctrl: the ends of the picture
 *  @returns {string|null} null: it is none of these keys */
export function step(rows, key, press, far = false) {
    const here = rows.findIndex(({ cells }) => cells.some((cell) => cell.key === key));
    if (here < 0) return rows[0]?.cells[0]?.key ?? null;
    const line = rows.filter((row) => far || row.band === rows[here].band).flatMap((row) => row.cells);
    const at = line.findIndex((cell) => cell.key === key);
    const along = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: line.length - 1 };
    const across = { ArrowUp: here - 1, ArrowDown: here + 1 };
    if (press in along) return line[along[/** @type {'Home'} */ (press)]]?.key ?? key;
    if (!(press in across)) return null;
    const row = rows[across[/** @type {'ArrowUp'} */ (press)]];
    return row ? beside(row, middle(rows[here], key)) : key;
}

/** How far along its row a cell's middle is, 0 to 1. @param {Row} row @param {string} key */
function middle(row, key) {
    const whole = total(row.cells.map((cell) => cell.weight)) + row.room;
    const at = row.cells.findIndex((cell) => cell.key === key);
    return (total(row.cells.slice(0, at).map((cell) => cell.weight)) + row.cells[at].weight / 2) / whole;
}

/** The cell of a row that is nearest to a place. @param {Row} row @param {number} place 0 to 1 */
function beside(row, place) {
    const far = (/** @type {Cell} */ cell) => Math.abs(middle(row, cell.key) - place);
    return row.cells.reduce((best, cell) => (far(cell) < far(best) ? cell : best)).key;
}
