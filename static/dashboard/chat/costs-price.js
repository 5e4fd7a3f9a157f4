/** The prices that a person has entered: they stay in this browser. */
import { useEffect, useState } from '../vendor/htm-preact.js';

/** @typedef {import('./costs-money.js').Price} Price @typedef {{name: string, model: string|null}} Called */

const NAME = 'turnfold.prices';
const told = new EventTarget();

/** @returns {Record<string, Price>} */
function kept() {
    try {
        return JSON.parse(localStorage.getItem(NAME) ?? '{}') ?? {};
    } catch {
        return {};
    }
}

/** @param {Called} called */
export const keyOf = ({ name, model }) => JSON.stringify([name, model]);

/** @param {Called} called @param {Price|null} price */
export function setPrice(called, price) {
    const { [keyOf(called)]: _, ...others } = kept();
    localStorage.setItem(NAME, JSON.stringify(price ? { ...others, [keyOf(called)]: price } : others));
    told.dispatchEvent(new Event('prices'));
}

/** The price of a connection's model, wherever on the page it is changed. @param {Called} called
 *  @returns {Price|null} */
export function usePrice(called) {
    const [, look] = useState(0);
    useEffect(() => {
        const changed = () => look((count) => count + 1);
        told.addEventListener('prices', changed);
        return () => told.removeEventListener('prices', changed);
    }, []);
    return kept()[keyOf(called)] ?? null;
}
