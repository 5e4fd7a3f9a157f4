/** What a chart and a table of a chat's growth are made of. */

/** @typedef {{index: number, turns: number, raw_tokens: number, memory_tokens: number, sent_tokens: number}} Point */

const REST_MS = 2000; // between two readings: the whole chat is counted anew each time

/**
 * Reads the growth of chats for all that ask, once for those that ask at the same time, and not too often.
 * @param {(id: string) => Promise<{items: Point[]}>} read @param {(ms: number) => Promise<void>} [pause]
 * @param {() => number} [clock] milliseconds
 */
export function sharing(read, pause = (ms) => new Promise((done) => setTimeout(done, ms)), clock = Date.now) {
    let last = { id: '', at: 0 };
    let next = /** @type {{id: string, answer: Promise<Point[]>}|null} */ (null);
    /** @param {string} id @returns {Promise<Point[]>} */
    return (id) => {
        if (next?.id === id) return next.answer;
        const wait = last.id === id ? Math.max(0, last.at + REST_MS - clock()) : 0;
        const begin = async () => {
            await pause(wait);
            if (next?.answer === answer) next = null;
            last = { id, at: clock() };
            return (await read(id)).items;
        };
        const answer = begin();
        next = { id, answer };
        return answer;
    };
}

/** What uPlot draws: turns, then raw and sent tokens. A logarithm has no place for 0.
 *  @param {Point[]} points @param {boolean} log @returns {[number[], number[], number[]]} */
export function columns(points, log) {
    const least = log ? 1 : 0;
    return [
        points.map(({ turns }) => turns),
        points.map(({ raw_tokens: tokens }) => Math.max(least, tokens)),
        points.map(({ sent_tokens: tokens }) => Math.max(least, tokens)),
    ];
}

/** The newest of the points that have the same turns. @param {Point[]} points */
export const byTurn = (points) => points.filter(({ turns }, place) => turns !== points[place + 1]?.turns);

/** About `count` of the points, evenly, the last one always. @param {Point[]} points @param {number} [count] */
export function sample(points, count = 10) {
    if (points.length <= count) return points;
    const step = (points.length - 1) / (count - 1);
    return Array.from({ length: count }, (_, place) => points[Math.round(place * step)]);
}

/** What a prompt saves now. @param {Point[]} points */
export function saved(points) {
    const now = points.at(-1);
    if (!now) return null;
    const { raw_tokens: raw, sent_tokens: sent } = now;
    return { raw, sent, less: Math.max(0, raw - sent), share: raw ? Math.max(0, 1 - sent / raw) : 0 };
}
