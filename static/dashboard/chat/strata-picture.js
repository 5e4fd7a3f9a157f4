/** The picture of a memory: its bands of cells, walked by arrow keys as one stop of the Tab key. */
import { Component, html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../vendor/htm-preact.js';
import { number } from '../format.js';
import { Button } from '../parts.js';
import { href } from '../router.js';
import { rowsOf, step } from './strata-layout.js';
import { Sign } from './strata-signs.js';
import { Tip, useTip } from './strata-tip.js';
import { headOf, nameOf } from './strata-words.js';

/** @typedef {import('./strata-layout.js').Band} Band @typedef {import('./strata-layout.js').Cell} Cell
 *  @typedef {import('./strata-layout.js').Row} Row */
const MOST_ARRIVALS = 60; // cells, beside which a new one comes without a movement

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
    const shown = rows.flatMap((row) => row.cells.map((cell) => ({ cell, band: row.band })));
    const find = (/** @type {string|undefined} */ key) => shown.find(({ cell }) => cell.key === key);
    const place = useRef(0); // where the cell is, or was before it went
    const current = [at, opened].find(find) ?? shown[Math.min(place.current, shown.length - 1)]?.cell.key;
    place.current = Math.max(0, shown.findIndex(({ cell }) => cell.key === current));
    useKeptFocus(root, rows);
    const tip = useTip();
    const keyOf = (/** @type {any} */ event) => event.target.closest?.('[data-key]')?.dataset.key ?? '';
    const onKeyDown = (/** @type {any} */ event) => {
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
        tip.onFocus(event, keyOf(event));
    };
    const fresh = useArrivals(bands);
    const drawn = useMemo(() => { // the same nodes are not looked at again while only the tip moves
        const drawing = { chat, single, opened, current, fresh, onOpen };
        return layout.map((one) => html`
            <${Stratum} key=${one.band.key} ...${one} drawing=${drawing} onMore=${onMore} />`);
    }, [layout, chat, single, opened, current, fresh, onOpen, onMore]);
    const told = find(tip.key);
    return html`<div class="strata" ref=${root} role="group" aria-label="Strata of the memory"
        aria-describedby=${describedby} onKeyDown=${onKeyDown} onfocusin=${onFocus} onfocusout=${tip.hide}
        onPointerMove=${(/** @type {any} */ event) => tip.onMove(event, keyOf(event))} onPointerLeave=${tip.onLeave}>
        <div class="band strata-ruler" aria-hidden="true"><span class="band-head"></span>
            <div class="beds" ref=${ruler}><span>older</span><span>newer</span></div></div>
        ${drawn}
        ${told && html`<${Tip} ...${told} single=${single} root=${root} />`}
    </div>`;
}

/** @param {{band: Band, rows: Row[], drawing: Drawing, onMore: (band: Band) => void}} props */
function Stratum({ band, rows, drawing, onMore }) {
    const { title, lines, about } = headOf(band, drawing.single);
    const depth = band.kind === 'layer' ? `layer depth-${Math.min(band.layer, 4)}` : band.kind;
    return html`<div class=${`band ${depth}`} role="group" aria-label=${`${title}: ${about}`}>
        <div class="band-head" aria-hidden="true"><strong>${title}</strong>
            ${lines.map((line) => html`<span key=${line}>${line}</span>`)}</div>
        <div class="beds">
            ${band.older > 0 && html`<${Button} kind="quiet" onClick=${() => onMore(band)}>
                Show ${number(band.older)} older ones</${Button}>`}
            ${rows.map((row, at) => html`<div class="bed" key=${at}>
                ${row.cells.map((cell) => html`
                    <${Drawn} key=${cell.key} ...${cellProps(cell, band, drawing)} />`)}
                ${row.room > 0 && html`<span class="room" style=${{ flexGrow: row.room }}></span>`}
            </div>`)}
        </div>
    </div>`;
}

/** @typedef {{cell: Cell, chat: string, name: string, current: boolean, opened: boolean, fresh: boolean,
 *   onOpen: (id: string) => void}} CellProps */

/** @param {Cell} cell @param {Band} band @param {Drawing} drawing @returns {CellProps} */
const cellProps = (cell, band, { chat, single, current, opened, fresh, onOpen }) => ({
    cell, chat, name: nameOf(cell, band, single), current: cell.key === current, opened: cell.id === opened,
    fresh: fresh.has(cell.key), onOpen,
});

/** A cell, which is drawn anew only where something of it has changed: there may be hundreds, and folds come fast. */
class Drawn extends Component {
    /** @param {any} next */
    shouldComponentUpdate(next) {
        const now = this.props;
        return Object.keys(next).some((key) => key !== 'cell' && next[key] !== now[key])
            || JSON.stringify(next.cell) !== JSON.stringify(now.cell);
    }

    render() {
        return html`<${CellPart} ...${this.props} />`;
    }
}

/** A snippet is a button that opens it; a stretch leads to its messages. @param {CellProps} props */
function CellPart({ cell, chat, name, current, opened, fresh, onOpen }) {
    const { id } = cell;
    const turns = cell.turns ?? 0;
    const marks = [...(cell.pins ? ['pinned'] : []), ...cell.marks];
    const states = [cell.kind, ...marks, ...(fresh ? ['arrives'] : [])];
    const given = {
        class: `cell ${states.map((state) => `is-${state}`).join(' ')}`,
        'data-key': cell.key,
        'aria-label': name,
        tabIndex: current ? 0 : -1,
        style: { flexGrow: cell.weight },
    };
    const signs = cell.kind === 'snippet' || marks.length ? marks : [cell.kind];
    const inside = html`${signs.map((sign) => html`<${Sign} key=${sign} name=${sign} />`)}
        ${turns > 1 && html`<span class="cell-turns" aria-hidden="true">${number(turns)}</span>`}`;
    const place = href(['chats', chat, 'messages'], { at: cell.first_index });
    if (id === null) return html`<a ...${given} href=${place}>${inside}</a>`;
    return html`<button ...${given} type="button" aria-current=${opened ? 'true' : undefined}
        onClick=${() => onOpen(id)}>${inside}</button>`;
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
        const told = known.current && keys.length <= MOST_ARRIVALS;
        return { keys, come: new Set(told ? keys.filter((key) => !known.current?.has(key)) : []) };
    }, [bands]);
    useEffect(() => { known.current = new Set(fresh.keys); }, [fresh]);
    return fresh.come;
}
