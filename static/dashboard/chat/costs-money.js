/** Tokens in money, at prices that a person knows. */

/** @typedef {{input: number, output: number, currency: string}} Price per million tokens */

const PER = 1_000_000;

/** @param {Price} price @param {number} input tokens @param {number} output tokens */
export const costOf = (price, input, output) => (input * price.input + output * price.output) / PER;

/** '$ 1.27', '$ 0.0031'. @param {number} value @param {string} currency */
export function money(value, currency) {
    const digits = value === 0 || value >= 1 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(value)));
    const [minimumFractionDigits, maximumFractionDigits] = [2, Math.max(2, digits)];
    const format = new Intl.NumberFormat('en', { minimumFractionDigits, maximumFractionDigits });
    return `${currency} ${format.format(value)}`;
}

/** A price out of what was typed, null where nothing was, or a fault to tell.
 *  @param {{input: string, output: string, currency: string}} typed @returns {{price: Price|null, fault: string}} */
export function readPrice({ input, output, currency }) {
    if (!input.trim() && !output.trim()) return { price: null, fault: '' };
    const [into, out] = [input, output].map((text) => Number(text.trim().replace(',', '.') || 0));
    const good = [into, out].every((value) => Number.isFinite(value) && value >= 0);
    if (!good) return { price: null, fault: 'A price is a number, such as 0.15.' };
    return { price: { input: into, output: out, currency: currency.trim() || '$' }, fault: '' };
}

/** What the three choices about a backlog take, as far as it can be known: null where it cannot.
 *  @param {import('../../turnfold.js').Status} status @param {number} answer tokens of one answer, at most
 *  @param {Price|null} price */
export function choices({ backlog, connection, raw_tokens: raw }, answer, price) {
    const { estimated_calls: calls, estimated_input_tokens: input, estimated_s: seconds } = backlog;
    const free = connection.provider === 'extractive';
    /** @param {number} share of all the calls */
    const part = (share) => ({
        calls: Math.round(calls * share), input: Math.round(input * share),
        seconds: seconds === null || seconds === undefined ? null : seconds * share,
        money: free ? 0 : price && costOf(price, input * share, (calls * share * answer) / 2),
    });
    return { free, all: part(1), one: part(calls ? 1 / calls : 0), turns: backlog.turns, raw };
}
