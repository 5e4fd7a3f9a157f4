/** A value that outlives the part that shows it, and tells whoever watches it. */
import { useEffect, useState } from '../vendor/htm-preact.js';

/**
 * @template T @param {T} first
 * @returns {{get: () => T, set: (now: T) => void, use: () => T}} `use` is a hook
 */
export function watched(first) {
    let value = first;
    const told = new EventTarget();
    const get = () => value;
    const set = (/** @type {T} */ now) => {
        value = now;
        told.dispatchEvent(new Event('changed'));
    };
    const use = () => {
        const [, show] = useState(0);
        useEffect(() => {
            const look = () => show((before) => before + 1);
            look();
            told.addEventListener('changed', look);
            return () => told.removeEventListener('changed', look);
        }, []);
        return value;
    };
    return { get, set, use };
}
