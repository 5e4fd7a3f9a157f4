/** The dashboard: its frame, and which page stands in it. */
import { html, render, useEffect, useErrorBoundary, useRef, useState } from './vendor/htm-preact.js';
import { dismiss, leavePage, useNotices } from './actions.js';
import { KeyDialog } from './key.js';
import { lazy } from './lazy.js';
import { restartNews, startNews, useLive } from './news.js';
import { Button, Note } from './parts.js';
import { entitle, useRoute } from './router.js';
import { asksForKey, onLocked, turnfold } from './server.js';
import { ThemeButton } from './theme.js';

/** @type {Record<string, {title: string, Page: any}>} by the first part of the address */
const PAGES = {
    '': { title: 'Chats', Page: lazy(() => import('./home/page.js').then((found) => found.HomePage)) },
    chats: { title: 'Chat', Page: lazy(() => import('./chat/page.js').then((found) => found.ChatPage)) },
    connections: {
        title: 'Connections', Page: lazy(() => import('./connections/page.js').then((found) => found.ConnectionsPage)),
    },
    settings: { title: 'Settings', Page: lazy(() => import('./settings/page.js').then((found) => found.SettingsPage)) },
};
/** @type {[string, string, string[]][]} name, address, and the first parts of the addresses under it */
const NAV = [
    ['Chats', '#/', ['', 'chats']], ['Connections', '#/connections', ['connections']],
    ['Settings', '#/settings', ['settings']],
];

/** @param {{current: string}} props */
const Header = ({ current }) => html`
    <header class="top">
        <a class="brand" href="#/"><img src="/static/icon.svg" alt="" width="28" height="28" />Turnfold</a>
        <nav aria-label="Pages"><ul>${NAV.map(([name, to, under]) => html`
            <li><a href=${to} aria-current=${under.includes(current) ? 'page' : undefined}>${name}</a></li>`)}
            <li><a href="/docs">API</a></li>
        </ul></nav>
        <${Liveness} />
        <${ThemeButton} />
    </header>`;

const Liveness = () => {
    const live = useLive();
    return html`<span class=${`liveness ${live ? 'on' : ''}`} role="status">${live ? 'Live' : 'Not connected'}</span>`;
};

/** @param {{notice: import('./actions.js').Notice}} props */
function NoticeLine({ notice: { id, kind, text, undo } }) {
    const onUndo = () => { undo?.(); dismiss(id); };
    return html`<div class=${`notice ${kind}`}>
        <span>${text}</span>
        ${undo && html`<${Button} kind="quiet" onClick=${onUndo}>Undo</${Button}>`}
        <${Button} kind="quiet" aria-label="Dismiss" onClick=${() => dismiss(id)}>✕</${Button}>
    </div>`;
}

const Notices = () => html`
    <div class="notices" role="log" aria-label="What happened" aria-live="polite">${useNotices().map((notice) => html`
        <${NoticeLine} key=${notice.id} notice=${notice} />`)}
    </div>`;

const Missing = () => html`
    <div class="page-head"><div>
        <h1>There is no such page</h1>
        <p>Perhaps its address was cut short. <a href="#/">Go to the chats</a></p>
    </div></div>`;

/** @param {string[]} parts of the address */
function pageOf([first = '', id]) {
    if (first === 'chats' && !id) return PAGES[''];
    return Object.hasOwn(PAGES, first) ? PAGES[first] : { title: 'There is no such page', Page: Missing };
}

/** A page, or what to do when it breaks. @param {{route: import('./router.js').Route, Page: any}} props */
function Guarded({ route, Page }) {
    const [error, reset] = useErrorBoundary((caught) => console.error(caught));
    if (!error) return html`<${Page} route=${route} />`;
    return html`<${Note} kind="error"><p>This page has a fault: ${String(error)}</p>
        <${Button} onClick=${reset}>Show it again</${Button}></${Note}>`;
}

/** Tells screen readers of a new page, and begins at its top. @param {string} place @param {string} title */
function useArrival(place, title) {
    const main = useRef(/** @type {any} */ (null));
    const before = useRef(place);
    useEffect(() => {
        entitle(title);
        if (before.current === place) return;
        before.current = place;
        scrollTo(0, 0);
        main.current?.focus({ preventScroll: true });
    }, [place, title]);
    return main;
}

function App() {
    const route = useRoute();
    const [locked, setLocked] = useState(false);
    useEffect(() => onLocked(() => setLocked(true)), []);
    const [first = ''] = route.parts;
    const known = pageOf(route.parts);
    const place = route.parts.slice(0, 2).join('/');
    const main = useArrival(place, known.title);
    const onOpen = () => { setLocked(false); restartNews(turnfold, asksForKey); };
    /** @param {Event} event */
    const onSkip = (event) => { event.preventDefault(); main.current?.focus(); };
    return html`
        <a class="skip" href="#main" onClick=${onSkip}>Skip to the page</a>
        <${Header} current=${first} />
        <main id="main" ref=${main} tabindex="-1">
            <${Guarded} key=${place} route=${route} Page=${known.Page} />
        </main>
        <${Notices} />
        ${locked && html`<${KeyDialog} onOpen=${onOpen} />`}`;
}

addEventListener('hashchange', leavePage);
// A file that is dropped beside its place must not take the page's.
for (const kind of ['dragover', 'drop']) addEventListener(kind, (event) => event.preventDefault());
startNews(turnfold, asksForKey);
render(html`<${App} />`, /** @type {Element} */ (document.getElementById('app')));
