/**
 * What a message is called, for as long as it lives: `extra.turnfold.id`.
 *
 * SillyTavern swaps `extra` with every swipe, so that in a page the message object itself says who it is, and the id
 * is written back wherever it went missing. It is saved when SillyTavern saves next, and never for its own sake: until
 * then a message is called by what it is, and so by the same name after a reload.
 */

/** @type {WeakMap<object, string>} */
const known = new WeakMap();

// What the server takes as an id (app/core/limits.py).
const USABLE = /^(?:[^/\p{C}\p{Z}]|[ \u200c\u200d\u3000]){1,200}$/u;

/** The id of a message that was identified, or of a copy of it; undefined for others. @param {any} message */
export const idOf = (message) => known.get(message) ?? saved(message);

/**
 * Gives every message of a chat an id that no other of it has, and writes it where it is missing.
 * @param {any[]} messages
 */
export function identify(messages) {
    const taken = new Set(messages.map((message) => known.get(message)));
    messages.forEach((message, place) => {
        if (!known.has(message)) known.set(message, named(message, place, taken));
        write(message, /** @type {string} */ (known.get(message)));
    });
}

/** @param {any} message @param {number} place @param {Set<string|undefined>} taken */
function named(message, place, taken) {
    let id = saved(message);
    if (id === undefined || taken.has(id)) {
        const base = `st-${hash([message.send_date, message.name, place, message.mes].join('\x1f'))}`;
        id = base;
        for (let turn = 2; taken.has(id); turn += 1) id = `${base}-${turn}`;
    }
    taken.add(id);
    return id;
}

/** @param {any} message @returns {string|undefined} */
function saved(message) {
    const id = message?.extra?.turnfold?.id;
    return typeof id === 'string' && USABLE.test(id) && id !== '.' && id !== '..' ? id : undefined;
}

/** @param {any} message @param {string} id */
function write(message, id) {
    if (saved(message) === id) return;
    if (typeof message.extra !== 'object' || message.extra === null) message.extra = {};
    const marks = message.extra.turnfold;
    message.extra.turnfold = { ...(typeof marks === 'object' ? marks : {}), id };
}

/** 53 bits of a text, as letters and digits (cyrb53, a public-domain mix). @param {string} text */
export function hash(text) {
    let low = 0xdeadbeef;
    let high = 0x41c6ce57;
    for (let at = 0; at < text.length; at += 1) {
        const unit = text.charCodeAt(at);
        low = Math.imul(low ^ unit, 2654435761);
        high = Math.imul(high ^ unit, 1597334677);
    }
    low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
    high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
    return (4294967296 * (2097151 & high) + (low >>> 0)).toString(36);
}
