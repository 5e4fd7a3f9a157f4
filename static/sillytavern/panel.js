/** The panel in SillyTavern's drawer of extensions: puts its sections together and keeps them true while it is seen. */

import { button } from './dom.js';
import { changed } from './sync.js';
import { actionSection, paintActions } from './panel-actions.js';
import { load } from './panel-data.js';
import { memorySection, paintMemory } from './panel-memory.js';
import { find, partOf } from './panel-parts.js';
import { draw } from './panel-picture.js';
import { paintPreview, placementSection } from './panel-placement.js';
import { paintPrompts, promptSection } from './panel-prompts.js';
import { serverSection } from './panel-server.js';
import { paintSource, sourceSection } from './panel-source.js';
import { describe } from './panel-state.js';
import { listen, session } from './session.js';
import { save, settings } from './settings.js';

/** Puts the panel where SillyTavern has those of extensions. */
export async function startPanel() {
    const markup = await fetch(new URL('./panel.html', import.meta.url)).then((read) => read.text());
    const holder = document.createElement('template');
    holder.innerHTML = markup; // a file of our own, without anybody's words in it
    const root = /** @type {HTMLElement} */ (holder.content.firstElementChild);
    document.getElementById('extensions_settings2')?.append(root);
    new Panel(root).start();
}

class Panel {
    /** @param {HTMLElement} root */
    constructor(root) {
        this.root = root;
        this.isSeen = false;
        this.isDue = false;
        this.paint = this.paint.bind(this);
        this.rows = memorySection(root, this.paint);
    }

    start() {
        promptSection(this.root, this.rows);
        serverSection(this.root, () => { this.restart(); });
        placementSection(this.root);
        actionSection(this.root);
        sourceSection(this.root, () => this.soon());
        this.switches();
        for (const what of ['phase', 'status', 'memory', 'source']) listen(what, () => this.soon());
        for (const what of ['opened', 'closed']) listen(what, () => { this.forget(); });
        listen('phase', () => { if (session.phase === 'ready') void this.ask(); });
        this.watch();
        this.soon();
    }

    /** Whether anybody looks, and at what. */
    watch() {
        const seen = new IntersectionObserver((told) => this.look(told[told.length - 1].isIntersecting));
        seen.observe(find(this.root, '.tf-panel'));
        for (const section of this.root.querySelectorAll('details')) {
            section.addEventListener('toggle', () => this.look(this.isSeen));
        }
    }

    /** What is kept in this SillyTavern alone. */
    switches() {
        for (const name of ['enabled', 'icons']) {
            const box = find(this.root, `#tf-${name}`);
            box.checked = settings()[name];
            box.addEventListener('change', () => {
                settings()[name] = box.checked;
                save();
                this.restart();
            });
        }
    }

    /** Another server, or on and off: everybody is told. */
    restart() {
        changed();
        void this.ask();
        this.soon();
    }

    /** @param {boolean} isSeen */
    look(isSeen) {
        this.isSeen = isSeen;
        if (!isSeen) return;
        void this.ask();
        this.soon();
    }

    forget() {
        partOf(this.root, 'outcome').replaceChildren();
        void this.ask();
        this.soon();
    }

    /** Asks the server for what the panel shows, if anybody looks. */
    async ask() {
        if (!this.isSeen || !settings().enabled) return;
        await load();
        this.soon();
    }

    /** Paints once before the page is drawn the next time. */
    soon() {
        if (this.isDue) return;
        this.isDue = true;
        requestAnimationFrame(this.paint);
    }

    paint() {
        this.isDue = false;
        this.state();
        if (!this.isSeen) return;
        this.rows.paint();
        paintMemory(this.root, this.rows);
        paintPrompts(this.root);
        paintActions(this.root);
        paintPreview(this.root);
        paintSource(this.root);
    }

    state() {
        const said = describe(session, settings().enabled);
        partOf(this.root, 'state').dataset.tone = partOf(this.root, 'dot').dataset.tone = said.tone;
        partOf(this.root, 'title').textContent = said.title;
        partOf(this.root, 'line').textContent = said.line;
        const progress = partOf(this.root, 'progress');
        progress.hidden = said.progress === undefined;
        progress.value = said.progress ?? 0;
        const shown = session.phase === 'closed' || !settings().enabled ? null : session.status;
        partOf(this.root, 'picture').replaceChildren(...draw(shown));
        const look = () => button('Look at the server', () => this.showServer());
        if (said.todo === 'server') partOf(this.root, 'line').append(' ', look());
    }

    showServer() {
        const section = partOf(this.root, 'server');
        section.open = true;
        section.scrollIntoView({ block: 'nearest' });
        find(section, '#tf-server').focus();
    }
}
