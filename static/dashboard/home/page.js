/** The home page: the chats, or, before there is one, the ways in. */
import { html, useEffect, useRef, useState } from '../vendor/htm-preact.js';
import { Button, Dialog, Loading } from '../parts.js';
import { Arrivals, ChooseFiles, DropZone } from './arrivals.js';
import { DemoButton, DemoPlaying } from './demo.js';
import { FirstRun } from './first.js';
import { Frontends } from './frontends.js';
import { ChatList, useChats } from './list.js';
import { NewChat } from './new.js';
import { Strip } from './strip.js';

const Actions = () => {
    const [open, setOpen] = useState('');
    const close = () => setOpen('');
    return html`<div class="actions">
        <${Button} kind="primary" onClick=${() => setOpen('new')}>New chat</${Button}>
        <${ChooseFiles} text="Import chats" />
        <${DemoButton} />
        <${Button} onClick=${() => setOpen('frontends')}>Connect a frontend</${Button}>
        ${open === 'new' && html`<${NewChat} onClose=${close} />`}
        ${open === 'frontends' && html`
            <${Dialog} wide title="Connect a frontend" onClose=${close}><${Frontends} /></${Dialog}>`}
    </div>`;
};

/** Keeps the focus on the page when the ways in give way to the list. @param {boolean} isFirst */
function useFocusOnChange(isFirst) {
    const before = useRef(isFirst);
    useEffect(() => {
        const isLost = before.current && !isFirst && document.activeElement === document.body;
        if (isLost) document.getElementById('main')?.focus({ preventScroll: true });
        before.current = isFirst;
    }, [isFirst]);
}

/** @param {{route: import('../router.js').Route}} props */
export function HomePage({ route }) {
    const q = route.query.q ?? '';
    const found = useChats(route.query);
    const isFirst = !q && found.data?.q === '' && found.data.items.length === 0;
    const isKnown = found.data !== null || found.error !== null;
    useFocusOnChange(isFirst);
    return html`
        ${!isFirst && html`
            <div class="page-head"><div><h1>Chats</h1></div>${isKnown && html`<${Actions} />`}</div>`}
        <${DropZone} />
        <${DemoPlaying} />
        <${Arrivals} />
        ${!isKnown && html`<${Loading} what="Reading the chats" />`}
        ${isKnown && (isFirst ? html`<${FirstRun} />` : html`<${Strip} /><${ChatList} q=${q} found=${found} />`)}`;
}
