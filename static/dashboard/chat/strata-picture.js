/** The picture of a memory: its bands of cells, walked by arrow keys as one stop of the Tab key. */
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../vendor/htm-preact.js';
import { number } from '../format.js';
import { Button } from '../parts.js';
import { href } from '../router.js';
import { rowsOf, step } from './strata-layout.js';
import { Sign } from './strata-signs.js';
import { Tip } from './strata-tip.js';
import { headOf, nameOf } from './strata-words.js';

/** @typedef {import('./strata-layout.js').Band} Band @typedef {import('./strata-layout.js').Cell} Cell
 *  @typedef {import('./strata-layout.js').Row} Row */
/** @typedef {{chat: string, single: boolean, opened: string|undefined, current: string|undefined, fresh: Set<string>,
 *   onOpen: (id: string) => void}} Drawing what every cell is drawn with */

/**
 * @param {{chat: string, bands: Band[], single: boolean, opened: string|undefined, describedby: string,
 *   onOpen: (id: string) => void, onMore: (band: Band) => void}} props
 */
export function Picture({ chat, bands, single, opened, describedby, onOpen, onMore }) {
    const root = useRef(/** @type {any} */ (null));
    const [ruler, width] = useWidth();
    const layout = useMemo(() => bands.map((band) => ({ band, rows: rowsOf(band, width || 600) })), [bands, width]);
    const rows = layout.flatMap((one) => one.rows);
    const [at, setAt] = useState('');
    const [tip, setTip] = useState('');
    const shown = rows.flatMap((row) => row.cells.map((cell) => ({ cell, band: row.band })));
    const find = (/** @type {string|undefined} */ key) => shown.find(({ cell }) => cell.key === key);
    const place = useRef(0); // where the cell is, or was before it went
    const current = [at, opened].find(find) ?? shown[Math.min(place.current, shown.length - 1)]?.cell.key;
    place.current = Math.max(0, shown.findIndex(({ cell }) => cell.key === current));
    useKeptFocus(root, rows);
    const keyOf = (/** @type {any} */ event) => event.target.closest?.('[data-key]')?.dataset.key ?? '';
    const onKeyDown = (/** @type {any} */ event) => {
        if (event.key === 'Escape') setTip('');
        if (!keyOf(event) || event.altKey || event.metaKey) return;
        const next = step(rows, keyOf(event), event.key, event.ctrlKey);
        if (next === null) return;
        event.preventDefault();
        setAt(next);
        focusCell(root.current, next);
    };
    const onFocus = (/** @type {any} */ event) => {
        if (!keyOf(event)) return;
        setAt(keyOf(event));
        setTip(keyOf(event));
    };
    const onOver = (/** @type {any} */ event) => keyOf(event) && setTip(keyOf(event));
    const onAway = () => setTip('');
    const fresh = useArrivals(bands);
    const drawn = useMemo(() => { // the same nodes are not looked at again while only the tip moves
        const drawing = { chat, single, opened, current, fresh, onOpen };
        return layout.map((one) => html`
            <${Stratum} key=${one.band.key} ...${one} drawing=${drawing} onMore=${onMore} />`);
    }, [layout, chat, single, opened, current, fresh, onOpen, onMore]);
    const told = find(tip);
    return html`<div class="strata" ref=${root} role="group" aria-label="Strata of the memory"
        aria-describedby=${describedby} onKeyDown=${onKeyDown} onfocusin=${onFocus} onfocusout=${onAway}
        onMouseOver=${onOver} onMouseLeave=${onAway}>
        <div class="band strata-ruler" aria-hidden="true"><span class="band-head"></span>
            <div class="beds" ref=${ruler}><span>older</span><span>newer</span></div></div>
        ${drawn}
        ${told && html`<${Tip} ...${told} single=${single} root=${root} />`}
    </div>`;
}

/** @param {{band: Band, rows: Row[], drawing: Drawing, onMore: (band: Band) => void}} props */
function Stratum({ band, rows, drawing, onMore }) {
    const { title, about } = headOf(band, drawing.single);
    const depth = band.kind === 'layer' ? `layer depth-${Math.min(band.layer, 4)}` : band.kind;
    return html`<div class=${`band ${depth}`} role="group" aria-label=${`${title}: ${about}`}>
        <div class="band-head" aria-hidden="true"><strong>${title}</strong><span>${about}</span></div>
        <div class="beds">
            ${band.older > 0 && html`<${Button} kind="quiet" onClick=${() => onMore(band)}>
                Show ${number(band.older)} older ones</${Button}>`}
            ${rows.map((row, at) => html`<div class="bed" key=${at}>
                ${row.cells.map((cell) => html`
                    <${CellPart} key=${cell.key} cell=${cell} band=${band} drawing=${drawing} />`)}
                ${row.room > 0 && html`<span class="room" style=${{ flexGrow: row.room }}></span>`}
            </div>`)}
        </div>
    </div>`;
}

/** A snippet is a button that opens it; a stretch leads to its messages.
 *  @param {{cell: Cell, band: Band, drawing: Drawing}} props */
function CellPart({ cell, band, drawing }) {
    const { id } = cell;
    const turns = cell.turns ?? 0;
    const marks = [...(cell.pins ? ['pinned'] : []), ...cell.marks];
    const states = [cell.kind, ...marks, ...(drawing.fresh.has(cell.key) ? ['arrives'] : [])];
    const given = {
        class: `cell ${states.map((state) => `is-${state}`).join(' ')}`,
        'data-key': cell.key,
        'aria-label': nameOf(cell, band, drawing.single),
        tabIndex: cell.key === drawing.current ? 0 : -1,
        style: { flexGrow: cell.weight },
    };
    const signs = cell.kind === 'snippet' || marks.length ? marks : [cell.kind];
    const inside = html`${signs.map((name) => html`<${Sign} key=${name} name=${name} />`)}
        ${turns > 1 && html`<span class="cell-turns" aria-hidden="true">${number(turns)}</span>`}`;
    const place = href(['chats', drawing.chat, 'messages'], { at: cell.first_index });
    if (id === null) return html`<a ...${given} href=${place}>${inside}</a>`;
    return html`<button ...${given} type="button" aria-current=${id === drawing.opened ? 'true' : undefined}
        onClick=${() => drawing.onOpen(id)}>${inside}</button>`;
}

/** How wide the cells may be together. @returns {[any, number]} */
function useWidth() {
    const place = useRef(/** @type {any} */ (null));
    const [width, setWidth] = useState(0);
    useLayoutEffect(() => {
        const look = () => setWidth(Math.floor(place.current.clientWidth));
        look();
        const observer = new ResizeObserver(look);
        observer.observe(place.current);
        return () => observer.disconnect();
    }, []);
    return [place, width];
}

/** @param {HTMLElement} root @param {string|undefined} [key] without: the cell that the Tab key leads to */
export function focusCell(root, key) {
    const cells = /** @type {HTMLElement[]} */ ([...root.querySelectorAll('[data-key]')]);
    (cells.find((cell) => cell.dataset.key === key) ?? cells.find((cell) => cell.tabIndex === 0))?.focus();
}

/** The focus stays in the picture where the cell that had it has gone.
 *  @param {{current: any}} root @param {unknown} drawn */
function useKeptFocus(root, drawn) {
    const had = useRef(false);
    had.current = !!root.current?.contains(document.activeElement);
    useLayoutEffect(() => {
        if (had.current && document.activeElement === document.body) focusCell(root.current);
    }, [drawn]);
}

/** The snippets that have come since the picture was first drawn, with its newest change. @param {Band[]} bands
 *  @returns {Set<string>} */
function useArrivals(bands) {
    const known = useRef(/** @type {Set<string>|null} */ (null));
    const fresh = useMemo(() => {
        const keys = bands.flatMap((band) => band.cells).filter((cell) => cell.id).map((cell) => cell.key);
        return { keys, come: new Set(known.current ? keys.filter((key) => !known.current?.has(key)) : []) };
    }, [bands]);
    useEffect(() => { known.current = new Set(fresh.keys); }, [fresh]);
    return fresh.come;
}
