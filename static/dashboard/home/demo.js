/** The strip that shows how far the demo has been played, with its buttons. */
import { html, useEffect, useRef } from '../vendor/htm-preact.js';
import { notify, useAction } from '../actions.js';
import { number } from '../format.js';
import { Button, Failure, Progress } from '../parts.js';
import { go, href } from '../router.js';
import { close, goOn, isGoing, pause, play, playAgain, resume, skip, startDemo, stop } from './player.js';
import { isDemo, TURNS } from './story.js';

/** Plays the demo and goes to its Memory page; if it is there, it is opened.
 *  @param {{kind?: string, text?: string}} props */
export function DemoButton({ kind = 'plain', text = 'Play the demo' }) {
    const start = useAction(async () => {
        const id = await startDemo();
        go(['chats', id]);
        if (!isGoing(play.get())) notify('The demo is there already.');
    });
    return html`<${Button} kind=${kind} busy=${start.busy} onClick=${start.run}>${text}</${Button}>`;
}

const TITLES = /** @type {Record<string, string>} */ ({
    playing: 'A story is being played', paused: 'Paused', skipping: 'Going to the end', stopped: 'Stopped',
    failed: 'The story stopped here', ended: 'The story has been played',
});
const ENDED = 'Every line is kept. All but the newest turns are ghosted: the model is sent the layers below instead.';

/** @type {Record<import('./player.js').Play['state'], string>} what the first button says */
const FIRST = {
    playing: 'Pause the story', paused: 'Go on', skipping: 'Pause the story', stopped: 'Go on', failed: 'Try again',
    ended: 'Play it again',
};

/** The buttons: the first and the last stay where they are, whatever they do, so that the focus stays on them.
 *  @param {{now: import('./player.js').Play}} props */
function Buttons({ now }) {
    const { id, state, played } = now;
    const again = useAction(async () => go(['chats', await playAgain()]));
    const further = () => goOn(id, played);
    const acts = {
        playing: pause, paused: resume, skipping: pause, stopped: further, failed: further, ended: again.run,
    };
    const leave = () => { close(); document.getElementById('main')?.focus(); };
    const [end, name] = isGoing(now) ? [stop, 'Stop the story'] : [leave, 'Close'];
    return html`
        <${Button} key="first" busy=${again.busy} onClick=${acts[state]}>${FIRST[state]}</${Button}>
        ${isGoing(now) && html`
            <${Button} key="skip" busy=${state === 'skipping'} onClick=${skip}>Skip to the end</${Button}>`}
        <${Button} key="last" onClick=${end}>${name}</${Button}>`;
}

/** Keeps the focus in a part whose buttons come and go. @param {string} state */
function useKeptFocus(state) {
    const box = useRef(/** @type {any} */ (null));
    const had = useRef(false);
    useEffect(() => {
        const isLost = had.current && document.activeElement === document.body;
        if (isLost) box.current?.querySelector('button')?.focus({ preventScroll: true });
    }, [state]);
    const onfocusin = () => { had.current = true; }; // small letters: these have no property on elements
    const onfocusout = (/** @type {any} */ event) => { if (event.relatedTarget) had.current = false; };
    return { ref: box, onfocusin, onfocusout };
}

/** The play as it stands. @param {{now: import('./player.js').Play, away: boolean}} props `away`: on another page */
const Playing = ({ now, away }) => html`
    <section class="demo-strip" aria-label="The demo" ...${useKeptFocus(now.state)}>
        <div class="demo-said">
            <p role="status"><strong>${TITLES[now.state]}.</strong>${now.state === 'ended' && ` ${ENDED}`}</p>
            <${Progress} label="How far the story is" value=${now.played} max=${now.turns}
                text=${`Turn ${number(now.played)} of ${number(now.turns)}`} />
            <${Failure} error=${now.error} />
        </div>
        <div class="actions">
            ${away && html`<a class="button" href=${href(['chats', now.id])}>Watch it</a>`}
            <${Buttons} now=${now} />
        </div>
    </section>`;

/** A demo that another page began, or this one before it was loaded anew.
 *  @param {{id: string, played: number}} props */
const Unfinished = ({ id, played }) => html`
    <section class="demo-strip" aria-label="The demo">
        <p class="demo-said">This is the demo’s story, played to turn ${number(played)} of ${number(TURNS)}.</p>
        <div class="actions"><${Button} onClick=${() => goOn(id, played)}>Go on</${Button}></div>
    </section>`;

/** On the Memory page of the demo. @param {import('../chat/page.js').ChatProps} props */
export function DemoStrip({ id, status }) {
    const now = play.use();
    const { turns } = status.counts;
    if (now?.id === id) return html`<${Playing} now=${now} away=${false} />`;
    return isDemo(id) && turns < TURNS && !isGoing(now) ? html`<${Unfinished} id=${id} played=${turns} />` : null;
}

/** On the home page, while it plays. */
export function DemoPlaying() {
    const now = play.use();
    return isGoing(now) ? html`<${Playing} now=${now} away />` : null;
}
