/** The checksum by which a history here and one on the server are compared without sending either. */

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
});
const SLICE_MS = 8;

/**
 * @typedef {{id: string, role: string, name: string|null, hidden: boolean, content: string|null}} Summed
 * @param {Summed[]} lines a history
 * @param {() => Promise<unknown>} [breathe] called between slices of some milliseconds, so that the page stays usable
 * @returns {Promise<{messages: number, digest: string}>} as `GET /v1/chats/{id}/digest` tells it
 */
export async function digest(lines, breathe = () => new Promise((done) => setTimeout(done))) {
    const encoder = new TextEncoder();
    let sum = 0xffffffff;
    let since = performance.now();
    for (const line of lines) {
        sum = crc32(sum, encoder.encode(written(line)));
        if (performance.now() - since < SLICE_MS) continue;
        await breathe();
        since = performance.now();
    }
    return { messages: lines.length, digest: ((sum ^ 0xffffffff) >>> 0).toString(16).padStart(8, '0') };
}

/** @param {Summed} line */
function written({ id, role, name, hidden, content }) {
    return `${id}\x1f${role}\x1f${name ?? ''}\x1f${hidden ? 1 : 0}\x1f${content ?? ''}\x1e`;
}

/** @param {number} sum @param {Uint8Array} bytes */
function crc32(sum, bytes) {
    for (let at = 0; at < bytes.length; at += 1) sum = TABLE[(sum ^ bytes[at]) & 0xff] ^ (sum >>> 8);
    return sum;
}
