/** Tokens in money, at prices that a person knows; what the choices about a backlog take. */
import { number, short, span } from '../format.js';

/** @typedef {{input: number, output: number, currency: string}} Price per million tokens */

const PER = 1_000_000;
const BATCH_S = 0.05; // of the built-in summarizer, cautiously
const FEW = 20; // batches, which it has done before one has looked

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
    const { estimated_calls: calls, estimated_input_tokens: input, batches = calls } = backlog;
    const free = connection.provider === 'extractive';
    const seconds = backlog.estimated_s ?? (free && batches >= FEW ? batches * BATCH_S : null);
    /** @param {number} share of all the calls */
    const part = (share) => ({
        calls: Math.round(calls * share), input: Math.round(input * share),
        seconds: seconds === null ? null : seconds * share,
        money: free ? 0 : price && costOf(price, input * share, (calls * share * answer) / 2),
    });
    return { free, all: part(1), one: part(calls ? 1 / calls : 0), turns: backlog.turns, raw };
}

/** The figures of a choice: what each is called, its value, and what says it alone.
 *  @param {string} name of the choice @param {ReturnType<typeof choices>} costs @param {string} currency
 *  @returns {[string, string, string][]} */
export function figures(name, costs, currency) {
    const raw = `up to ${short(costs.raw)} tokens`;
    if (name === 'skip') return [['Calls', 'none', 'no calls'], ['Each prompt', raw, raw]];
    const { calls, input, seconds, money: paid } = name === 'all' ? costs.all : costs.one;
    const time = seconds === null ? null : `about ${span(seconds)}`;
    const quick = time ?? 'moments';
    if (costs.free) return [['Calls', 'none', 'no calls'], ['Costs', 'nothing', 'for nothing'], ['Time', quick, quick]];
    const [many, tokens] = [calls === 1 ? '1' : `about ${number(calls)}`, `about ${short(input)} tokens`];
    return [
        ['Calls', many, `${many} ${calls === 1 ? 'call' : 'calls'}`], ['Input', tokens, `${short(input)} tokens`],
        ['Time', time ?? 'known after a batch', time ?? ''],
        ...figure(paid === null ? null : `about ${money(paid, currency)}`),
    ];
}

/** @param {string|null} paid @returns {[string, string, string][]} */
const figure = (paid) => (paid === null ? [] : [['Costs', paid, paid]]);
