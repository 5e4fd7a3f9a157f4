/** When a SillyTavern message was sent. Reads what app/formats/dates.py reads, and says the same. */

const LEAST_MILLISECONDS = 1e11; // seconds reach this in the year 5138, milliseconds did in 1973
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const NUMBER = /^\d{1,20}(?:\.\d{1,20})?$/;
const SPOKEN = /^([a-z]{3})[a-z]*\.? (\d{1,2}), (\d{4}),? (\d{1,2}):(\d{2})(?::(\d{2}))? ?([ap])m$/i;
const FILE_NAME = /^(\d{4})-(\d{1,2})-(\d{1,2}) ?@ ?(\d{1,2})h ?(\d{1,2})m(?: ?(\d{1,2})s)?(?: ?(\d{1,3})ms)?$/;
const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[^](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,6}))?)?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/;

/**
 * A `send_date` as RFC 3339 in UTC; null if it is absent or unreadable. Local times are taken as UTC, as a file of the
 * chat would be: it does not say where it was written.
 * @param {unknown} value @returns {string|null}
 */
export function sentAt(value) {
    const ms = typeof value === 'number' ? ofEpoch(value) : typeof value === 'string' ? ofText(value.trim()) : NaN;
    const at = new Date(Math.round(ms));
    const year = at.getUTCFullYear();
    return year > 1 && year < 9999 ? at.toISOString() : null;
}

/** @param {number} number */
const ofEpoch = (number) => Math.abs(number) >= LEAST_MILLISECONDS ? number : number * 1000;

/** @param {string} text @returns {number} milliseconds; NaN if it is no date */
function ofText(text) {
    if (NUMBER.test(text)) return ofEpoch(Number(text));
    const spoken = SPOKEN.exec(text);
    if (spoken) return ofSpoken(spoken);
    const named = FILE_NAME.exec(text);
    if (named) return moment(named.slice(1).map((part) => Number(part ?? 0)));
    const iso = ISO.exec(text);
    return iso ? ofIso(iso) : NaN;
}

/** @param {RegExpExecArray} found */
function ofSpoken([, name, day, year, hour, minute, second, half]) {
    if (Number(hour) < 1 || Number(hour) > 12) return NaN;
    const hours = Number(hour) % 12 + (half.toLowerCase() === 'p' ? 12 : 0);
    const month = MONTHS.indexOf(name.toLowerCase()) + 1;
    return moment([Number(year), month, Number(day), hours, Number(minute), Number(second ?? 0), 0]);
}

/** @param {RegExpExecArray} found */
function ofIso([, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z']) {
    const ms = Number(fraction.padEnd(3, '0').slice(0, 3));
    return moment([...[year, month, day, hour, minute, second].map(Number), ms]) - offset(zone);
}

/** @param {string} zone @returns {number} milliseconds */
function offset(zone) {
    if (zone === 'Z') return 0;
    const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', ''));
    return (zone[0] === '-' ? -1 : 1) * minutes * 60_000;
}

/** @param {number[]} parts year to milliseconds @returns {number} NaN where calendar or clock have no such moment */
function moment([year, month, day, hour, minute, second, ms]) {
    if (hour > 23 || minute > 59 || second > 59) return NaN;
    const at = new Date(0);
    at.setUTCFullYear(year, month - 1, day);
    at.setUTCHours(hour, minute, second, ms);
    return at.getUTCMonth() === month - 1 && at.getUTCDate() === day ? at.getTime() : NaN;
}
