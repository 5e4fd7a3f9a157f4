/** Light, dark, or as the device has it. */
import { html, useEffect, useState } from './vendor/htm-preact.js';
import { Button } from './parts.js';

const NAME = 'turnfold.theme';
const NEXT = /** @type {Record<string, string>} */ ({ auto: 'light', light: 'dark', dark: 'auto' });
const SIGNS = /** @type {Record<string, string>} */ ({ auto: '◐', light: '☀', dark: '☾' });

export function ThemeButton() {
    const [theme, setTheme] = useState(localStorage.getItem(NAME) ?? 'auto');
    useEffect(() => {
        localStorage.setItem(NAME, theme);
        document.documentElement.dataset.theme = theme;
        dispatchEvent(new Event('theme')); // charts take their colours anew
    }, [theme]);
    return html`<${Button} kind="quiet" aria-label=${`Colours: ${theme}. Change`} title=${`Colours: ${theme}`}
        onClick=${() => setTheme(NEXT[theme] ?? 'auto')}>${SIGNS[theme] ?? '◐'}</${Button}>`;
}
