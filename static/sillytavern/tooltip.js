/** The one tooltip of the ghosts: it says what stands for a message, once the server has told it. */

import { element } from './dom.js';

const GAP = 6; // pixels between a ghost and its tooltip

/** @type {HTMLElement|null} */
let owner = null;
const tip = element('div', { id: 'turnfold-tip', role: 'tooltip', hidden: true });

/** Whether the tooltip is this one's. @param {Element} icon */
export const isTold = (icon) => owner === icon;

/**
 * Shows what `asked` brings beside an icon, if that is still looked at then.
 * @param {HTMLElement} icon @param {Promise<(Node|string)[]>} asked
 */
export async function tell(icon, asked) {
    hide();
    owner = icon;
    icon.setAttribute('aria-describedby', tip.id);
    place(['…']);
    const told = await asked.catch((error) => [String(error.detail ?? error.message)]);
    if (owner === icon) place(told);
}

/** Keeps it beside its ghost, which has moved; where that is out of sight, so is it. */
export function follow() {
    if (owner) move(owner);
}

/** Takes the tooltip away. */
export function hide() {
    owner?.removeAttribute('aria-describedby');
    owner = null;
    tip.hidden = true;
}

/** @param {(Node|string)[]} content */
function place(content) {
    if (!owner?.isConnected) return hide();
    tip.replaceChildren(...content);
    tip.hidden = false;
    if (!tip.isConnected) document.body.append(tip);
    return move(owner);
}

/** @param {HTMLElement} icon */
function move(icon) {
    const { left, top, bottom } = icon.getBoundingClientRect();
    if (bottom < 0 || top > innerHeight) return hide();
    const { width, height } = tip.getBoundingClientRect();
    const below = bottom + GAP + height <= innerHeight;
    tip.style.left = `${Math.max(GAP, Math.min(left, innerWidth - width - GAP))}px`;
    tip.style.top = `${below ? bottom + GAP : Math.max(GAP, top - GAP - height)}px`;
    return undefined;
}
