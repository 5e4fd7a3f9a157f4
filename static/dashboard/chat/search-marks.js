/** Which pieces of a text a search has found: a query as the server reads it (docs/api.md, Searching), for marking. */

const ACCENTS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\p{Cf}]/gu;
const SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar'];
const UNSPACED = new RegExp(`[${SCRIPTS.map((name) => `\\p{sc=${name}}`).join('')}]`, 'u');
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const MOST = 32; // words and phrases that count
const BEGIN = '(?<![\\p{L}\\p{N}])';
const BETWEEN = '[^\\p{L}\\p{N}]+';

/** A text without case and accents. @param {string} text */
const fold = (text) => text.normalize('NFKD').replace(ACCENTS, '').toLowerCase();

/** What a query looks for: words, and phrases in double quotes. @param {string} query @returns {RegExp[]} */
export function termsOf(query) {
    const parts = query.match(/"[^"]*"?|[^\s"]+/g) ?? [];
    const found = parts.map((part) => fold(part).match(WORD) ?? []).filter((words) => words.length);
    return found.slice(0, MOST).map((words) => {
        const single = words.length === 1 && [...words[0]].length === 1;
        const before = UNSPACED.test(words[0]) ? '' : BEGIN;
        return new RegExp(before + words.join(BETWEEN) + (single && before ? '(?![\\p{L}\\p{N}])' : ''), 'gu');
    });
}

/** The text in pieces, in order; `hit`: it was looked for. @param {string} text @param {RegExp[]} terms
 *  @returns {{text: string, hit: boolean}[]} */
export function marked(text, terms) {
    if (!terms.length || !text) return [{ text, hit: false }];
    const { folded, places } = placed(text);
    const spans = terms.flatMap((term) => [...folded.matchAll(term)].map((found) => [
        places[found.index], places[found.index + found[0].length]])).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const pieces = [];
    let end = 0;
    for (const [from, to] of spans) {
        if (to <= end) continue;
        if (from > end) pieces.push({ text: text.slice(end, from), hit: false });
        pieces.push({ text: text.slice(Math.max(from, end), to), hit: true });
        end = to;
    }
    return end < text.length ? [...pieces, { text: text.slice(end), hit: false }] : pieces;
}

/** A text folded, and where each of its characters stood; the place after the last one too. @param {string} text */
function placed(text) {
    const places = [];
    let folded = '';
    let at = 0;
    for (const char of text) {
        const piece = char < '\u0080' ? char.toLowerCase() : fold(char);
        for (let unit = 0; unit < piece.length; unit += 1) places.push(at);
        folded += piece;
        at += char.length;
    }
    places.push(at);
    return { folded, places };
}
