/** A prompt as a page shows it: its pieces with what is left out between them, and what each part of it takes. */

/**
 * @typedef {{part: string, role: string, name: string|null, content: string|null, message_id: string|null,
 *   index: number|null, tokens: number, tool_calls?: any[], tool_call_id?: string}} Piece
 * @typedef {{first_index: number, last_index: number, reason: string}} Range
 * @typedef {{gap: false, key: string, piece: Piece}} PieceRow
 * @typedef {{gap: true, key: string, first: number, last: number, ranges: Range[], reasons: [string, number][]}} GapRow
 */

const AT_AN_END = 50; // rows at the beginning and at the end, before more are asked for

/** Why a message is not sent, as docs/api.md has it. @type {Record<string, string>} */
export const REASONS = {
    ghosted: 'told by a snippet', trimmed: 'left out by the budget', hidden: 'hidden by somebody',
    omitted: 'no part of the story', empty: 'no text to send', orphan: 'a tool call or its result lost its other half',
};

/** The pieces in order, and each left-out stretch before the first piece that comes after it; stretches with nothing
 *  sent between them are one. @param {Piece[]} sent @param {Range[]} leftOut by index @returns {(PieceRow|GapRow)[]} */
export function rowsOf(sent, leftOut) {
    const rows = /** @type {(PieceRow|GapRow)[]} */ ([]);
    let place = 0;
    const leave = (/** @type {number} */ before) => {
        const from = place;
        while (place < leftOut.length && leftOut[place].first_index < before) place += 1;
        if (place > from) rows.push(gapOf(leftOut.slice(from, place)));
    };
    sent.forEach((piece, at) => {
        if (piece.index !== null) leave(piece.index);
        if (piece.part === 'current' || piece.part === 'frame') leave(piece.index ?? Infinity);
        rows.push({ gap: false, key: `${piece.part} ${piece.message_id ?? at}`, piece });
    });
    leave(Infinity);
    return rows;
}

/** @param {Range[]} ranges @returns {GapRow} */
function gapOf(ranges) {
    /** @type {Record<string, number>} */
    const counts = {};
    for (const { first_index: begin, last_index: end, reason } of ranges) {
        counts[reason] = (counts[reason] ?? 0) + end - begin + 1;
    }
    const first = ranges[0].first_index;
    const last = ranges[ranges.length - 1].last_index;
    return { gap: true, key: `gap ${first}`, first, last, ranges, reasons: Object.entries(counts) };
}

/** Which rows are shown: so many at each end, and how many rest between them.
 *  @template T @param {T[]} rows @param {{head?: number, tail?: number}} [shown]
 *  @returns {{head: T[], rest: T[], tail: T[]}} */
export function ends(rows, { head = AT_AN_END, tail = AT_AN_END } = {}) {
    if (rows.length <= head + tail) return { head: rows, rest: [], tail: [] };
    const end = rows.length - tail;
    return { head: rows.slice(0, head), rest: rows.slice(head, end), tail: rows.slice(end) };
}

/** What the pieces of these rows cost. @param {(PieceRow|GapRow)[]} rows */
export const tokensOf = (rows) => rows.reduce((sum, row) => sum + (row.gap ? 0 : row.piece.tokens), 0);

/** @type {[string, string][]} */
const PARTS = [
    ['system', 'System'], ['tools', 'Tools'], ['memory', 'Memory'], ['history', 'History'], ['current', 'Current'],
];

/**
 * The parts of the budget, in the prompt's order, what is free of it last. Without a budget nothing is.
 * @param {import('../../turnfold.js').Projection['tokens']} tokens
 * @returns {{name: string, label: string, tokens: number}[]}
 */
export function shares(tokens) {
    const all = PARTS.map(([name, label]) => ({ name, label, tokens: /** @type {any} */ (tokens)[name] }));
    const shown = all.filter((part) => part.tokens > 0 || part.name !== 'tools');
    if (tokens.budget === null) return shown;
    return [...shown, { name: 'free', label: 'Free', tokens: Math.max(0, tokens.budget - tokens.total) }];
}

/** The tokens of a prompt's beginning, which stays the same while turns join at the end: what stands before the
 *  current turn, and before a memory that stands behind some of the past. @param {Piece[]} sent */
export function beginning(sent) {
    const past = sent.findIndex(({ part }) => part === 'history' || part === 'pinned');
    const isOver = (/** @type {Piece} */ { part }, /** @type {number} */ at) =>
        part === 'current' || part === 'frame' || (part === 'memory' && past >= 0 && at > past);
    const end = sent.findIndex(isOver);
    return (end < 0 ? sent : sent.slice(0, end)).reduce((sum, piece) => sum + piece.tokens, 0);
}
