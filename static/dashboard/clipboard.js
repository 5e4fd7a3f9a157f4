/** Taking text away. */

/** Puts text into the clipboard. @param {string} text */
export async function toClipboard(text) {
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else copyTheOldWay(text);
    return text;
}

/** Over plain http and from another machine, as in a home network, browsers have no other. @param {string} text */
function copyTheOldWay(text) {
    const before = /** @type {HTMLElement|null} */ (document.activeElement);
    const area = document.createElement('textarea');
    area.value = text;
    (document.querySelector('dialog[open]') ?? document.body).append(area); // what is behind a dialog has no selection
    area.select();
    const isDone = document.execCommand('copy');
    area.remove();
    before?.focus();
    if (!isDone) throw new Error('The browser does not let this page copy. Select the text instead.');
}
