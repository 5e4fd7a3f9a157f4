/** Numbers, times and words as people read them. */

const NUMBER = new Intl.NumberFormat('en');
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const AGO = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [
    ['year', 31_536_000], ['month', 2_592_000], ['week', 604_800], ['day', 86_400], ['hour', 3600], ['minute', 60],
];

/** 12,345 @param {number} value */
export const number = (value) => NUMBER.format(value);

/** 12.3K @param {number} value */
export const short = (value) => (value < 10_000 ? NUMBER.format(value) : SHORT.format(value));

/** '1 turn', '2 turns'. @param {number} count @param {string} one @param {string} [many] */
export const counted = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** 62 % @param {number} part @param {number} whole */
export const percent = (part, whole) => `${whole ? Math.round((100 * part) / whole) : 0} %`;

/** '3 minutes ago'. @param {string} time RFC 3339 */
export function ago(time) {
    const seconds = (Date.parse(time) - Date.now()) / 1000;
    const [unit, size] = UNITS.find(([, least]) => Math.abs(seconds) >= least) ?? ['second', 1];
    return Math.abs(seconds) < 60 ? 'just now' : AGO.format(Math.round(seconds / size), unit);
}

/** A date and time of the reader's own. @param {string} time RFC 3339 */
export const date = (time) => DAY.format(new Date(time));

/** '40 s', '3 min', '2 h 5 min'. @param {number} seconds */
export function span(seconds) {
    const minutes = Math.round(seconds / 60);
    if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
    return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Messages 12–40, or message 12. @param {number} first @param {number} last indexes */
export const places = (first, last) => (first === last ? `#${number(first)}` : `#${number(first)}–${number(last)}`);

/** What people call a chat. @param {{title: string|null, character_name?: string|null, id: string}} one */
export const nameOf = (one) => one.title || one.character_name || one.id;

const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g; // these would turn what follows a name in the tab

/** A name as short and as plain as a title has it. @param {string} name */
export function titled(name) {
    const letters = [...name.replace(TURNING, '')];
    return letters.length > 60 ? `${letters.slice(0, 60).join('')}…` : letters.join('');
}
