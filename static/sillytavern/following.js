/**
 * One open chat, and the server's copy of it made equal whenever something changed.
 *
 * The array in the page is the truth of what a person sees. Requests go one after another; what failed has changed
 * nothing and is tried again, at the next change or after a while.
 */

import { messages, isGenerating } from './host.js';
import { after, diff, digest, held, identify, packs, toHistory } from './history.js';
import { isInFile, whichChat } from './identity.js';
import { remember, remembered } from './remembered.js';
import { beginnings } from './session.js';
import { TurnfoldError } from './turnfold.js';

const FIRST_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 60_000;
const SLOW_MS = 5000;
const EMPTY_MS = 500; // SillyTavern has emptied the array for longer only if it stays so
const WHOLE_MS = 300_000; // the server counts the tokens of all of it
const WHOLE_CHARS = 3_500_000; // what surely fits into one body

/**
 * @typedef {import('./history.js').Line} Line
 * @typedef {'none'|'tail'|'all'} How what had to be sent: nothing, new messages at the end, or anything else
 * @typedef {{synced: (how: How) => void, failed: (error: TurnfoldError) => void,
 *   slow: () => void, tooLong: (places: number[]) => void,
 *   refused: (error: TurnfoldError, agree: () => void, signal: AbortSignal) => void}} Hearing
 *   `slow`: no answer for 5 seconds; `refused`: most of the chat would go, until somebody agrees
 */

export class Following {
    /** @type {Line[]|null} what the server has; null: nobody knows */
    lines = null;
    isEmptied = false; // by a person, who deleted the last message; until there is one again
    mayShrink = false;
    isAsked = false; // whether it may
    isDoubtful = false; // something failed since the server was last heard
    isKept = false; // the chat's file has its id
    begun = performance.now();
    /** @type {Promise<boolean>|null} */
    looked = null;
    isDue = false;
    /** @type {Promise<void>|null} */
    running = null;
    wait = FIRST_WAIT_MS;
    /** @type {any} */
    timer = null;
    tooLong = '';
    /** @type {string|null} what the server was told of the chat */
    fields = null;

    /**
     * @param {import('./identity.js').Open} open @param {import('./turnfold.js').Chat} chat @param {AbortSignal} signal
     * @param {Hearing} hearing
     */
    constructor(open, chat, signal, hearing) {
        this.open = open;
        this.chat = chat;
        this.signal = signal;
        this.hearing = hearing;
        signal.addEventListener('abort', () => clearTimeout(this.timer), { once: true });
    }

    /** Whether what is in the page is still this chat. */
    isOpen() { return !this.signal.aborted && whichChat()?.place === this.open.place; }

    /** Whether the server has all that is known here. */
    isSettled() { return this.lines !== null && !this.isDue && !this.running; }

    /** Something changed, or may have. @returns {Promise<void>} when it was sent, or could not be */
    changed() {
        this.isDue = true;
        clearTimeout(this.timer);
        this.running ??= this.work().finally(() => { this.running = null; });
        return this.running;
    }

    async work() {
        while (this.isDue && this.isOpen()) {
            this.isDue = false;
            const slow = setTimeout(() => { if (!this.signal.aborted) this.hearing.slow(); }, SLOW_MS);
            try {
                await this.reconcile();
                this.wait = FIRST_WAIT_MS;
            } catch (error) {
                if (!(error instanceof TurnfoldError)) throw error;
                if (!this.misunderstood(error)) return this.failed(error);
            } finally {
                clearTimeout(slow);
            }
        }
    }

    /** Whether the server has another history than was thought: it is looked at anew. @param {TurnfoldError} error */
    misunderstood({ status }) {
        const isNews = this.lines !== null && (status === 404 || status === 409);
        if (isNews) Object.assign(this, { lines: null, isDue: true });
        return isNews;
    }

    /** @param {TurnfoldError} error */
    failed(error) {
        if (this.signal.aborted) return;
        Object.assign(this, { isDue: true, isDoubtful: true });
        const wait = Math.max(this.wait, 1000 * (error.retryAfter ?? 0));
        this.timer = setTimeout(() => void this.changed(), wait);
        this.wait = Math.min(2 * this.wait, LONGEST_WAIT_MS);
        this.hearing.failed(error);
    }

    async reconcile() {
        if (!(await this.isReady())) return;
        const chat = messages();
        identify(chat);
        const { lines, tooLong } = toHistory(chat);
        this.tell(tooLong);
        const now = held(lines, this.lines, isGenerating());
        await this.describe();
        const how = this.lines ? await this.change(now, this.isMeant(now)) : await this.compare(now);
        const sure = how === 'none' && this.isDoubtful ? await this.compare(now) : how;
        this.isEmptied = this.isDoubtful = false;
        if (!this.signal.aborted) this.hearing.synced(sure);
    }

    /** Whether what is in the page now is the chat, and one that the server should have. */
    async isReady() {
        if (messages().length) identify(messages()); // before SillyTavern saves
        this.isKept ||= await (this.looked ??= this.look()) || this.isKept;
        if (!this.isKept) return false; // at its next opening it would be another chat
        const isThere = messages().length > 0 || await this.isLeftEmpty();
        return isThere && this.isOpen();
    }

    async look() { return await remembered('fields', this.chat.id) !== null || isInFile(); }

    /** SillyTavern began to save a chat. @param {number} at milliseconds, as performance.now() counts */
    saved(at) { this.isKept ||= at >= this.begun; }

    /** Whether a person emptied the chat; it is empty while it is loaded, too. */
    async isLeftEmpty() {
        if (this.isEmptied) await new Promise((done) => setTimeout(done, EMPTY_MS));
        return this.isEmptied && !messages().length;
    }

    /**
     * Whether a person made the chat as short as it is: what was loaded anew has no line that was there before.
     * @param {Line[]} now
     */
    isMeant(now) {
        const known = new Set(this.lines);
        return this.isEmptied || now.some((line) => known.has(line));
    }

    /** @param {number[]} places of messages that are too long */
    tell(places) {
        if (String(places) !== this.tooLong && places.length) this.hearing.tooLong(places);
        this.tooLong = String(places);
    }

    /** @param {Line[]} now @param {boolean} isMeant whether a person made it that short @returns {Promise<How>} */
    async change(now, isMeant) {
        const known = /** @type {Line[]} */ (this.lines);
        const shrinks = 2 * now.length < known.length;
        const ops = shrinks && !isMeant ? [/** @type {const} */ ({ kind: 'whole', lines: now })] : diff(known, now);
        if (!ops.length) return 'none';
        if (shrinks && isMeant) await remember('shrunk', this.chat.id, true); // for a later page, should this fail
        for (const op of ops) await this.send(op, isMeant);
        this.lines = now; // dates and the like may be other ones
        if (shrinks) await remember('shrunk', this.chat.id, null);
        return ops.every((op) => op.kind === 'append') ? 'tail' : 'all';
    }

    /** @param {import('./history.js').Op} op @param {boolean} isMeant */
    async send(op, isMeant) {
        const { chat, signal } = this;
        if (op.kind === 'append') await chat.append(op.lines, { fold: 'background' }, { signal });
        if (op.kind === 'edit') await chat.edit(op.line.id, op.changes, { signal });
        if (op.kind === 'remove') await chat.remove(op.id, { signal });
        if (op.kind === 'whole') await this.replace(op.lines, isMeant);
        this.lines = after(/** @type {Line[]} */ (this.lines), op);
    }

    /** @param {Line[]} lines @param {boolean} isMeant */
    async replace(lines, isMeant) {
        const asked = lines.length ? { allow_shrink: isMeant } : { reset: this.isEmptied };
        await this.chat.sync(lines, asked, { signal: this.signal, timeout: WHOLE_MS });
    }

    /** Of a chat just opened, or that was misunderstood. @param {Line[]} now @returns {Promise<How>} */
    async compare(now) {
        const [mine, theirs] = await Promise.all([digest(now), this.theirs()]);
        if (theirs === null) await this.describe(true);
        if (mine.digest !== theirs?.digest || mine.messages !== theirs.messages) {
            if (theirs?.messages) await this.overwrite(now);
            else await this.create(now);
        }
        this.lines = now;
        return 'all';
    }

    /** @returns {Promise<{messages: number, digest: string}|null>} null: the chat is new to the server */
    async theirs() {
        return this.chat.request('GET', '/digest', { signal: this.signal }).catch((error) => {
            if (error.status === 404) return null;
            throw error;
        });
    }

    /** @param {Line[]} now */
    async overwrite(now) {
        const isMeant = this.mayShrink || this.isEmptied || Boolean(await remembered('shrunk', this.chat.id));
        try {
            if (isLong(now)) await this.approach(now, isMeant);
            else await this.replace(now, isMeant);
        } catch (error) {
            if (/** @type {any} */ (error).status === 409 && !isMeant) this.ask(/** @type {any} */ (error));
            throw error;
        }
        this.mayShrink = this.isAsked = false;
        await remember('shrunk', this.chat.id, null);
    }

    /** Once, whether the server may forget most of the chat. @param {TurnfoldError} error */
    ask(error) {
        if (this.isAsked || this.signal.aborted) return;
        this.isAsked = true;
        const agree = () => {
            this.mayShrink = true;
            void this.changed();
        };
        this.hearing.refused(error, agree, this.signal);
    }

    /** Where the whole is more than a request may hold. @param {Line[]} now @param {boolean} isMeant */
    async approach(now, isMeant) {
        const lines = [];
        for await (const { id, role, name, content, hidden } of this.chat.server.list(`${this.chat.path}/messages`)) {
            lines.push({ id, role, name, content, hidden });
        }
        this.lines = lines;
        await this.change(now, isMeant);
    }

    /** A chat that the server does not have yet. @param {Line[]} now */
    async create(now) {
        const { chat, signal } = this;
        const [first = [], ...rest] = isLong(now) ? packs(now) : [now];
        await this.begin();
        const parent = await this.parent();
        if (parent) await chat.request('PUT', '', { body: { strategy: parent.strategy }, signal });
        await chat.sync(first, { parent_chat_id: parent?.id }, { signal, timeout: WHOLE_MS });
        for (const lines of rest) {
            const fold = lines === rest.at(-1) ? 'background' : 'none';
            await chat.append(lines, { fold }, { signal, timeout: WHOLE_MS });
        }
    }

    /** Settings that are to hold before the first message is there, such as a pause. */
    async begin() {
        const settings = Object.assign({}, ...beginnings.map((one) => one()));
        if (!Object.keys(settings).length) return;
        await this.chat.request('PUT', '', { body: { settings }, signal: this.signal });
    }

    /**
     * The chat that this one was branched from, as the server knows it.
     * @returns {Promise<{id: string, strategy: string}|undefined>}
     */
    async parent() {
        const { parent: title, character } = this.open;
        if (title === null) return undefined;
        const query = { title, limit: 20 };
        const { items } = await this.chat.server.request('GET', '/chats', { query, signal: this.signal });
        /** @type {any[]} */
        const others = items.filter((/** @type {any} */ one) => one.id !== this.chat.id);
        return others.find((one) => one.character_name === character) ?? others[0];
    }

    /**
     * Tells the server the chat's title and names, if they are other ones than it was told. So a new chat is made
     * before anything is asked of it.
     * @param {boolean} [isForgotten] whether the server does not have what it was told
     */
    async describe(isForgotten = false) {
        const { title, user, character } = whichChat() ?? this.open;
        const fields = JSON.stringify([title, user, character]);
        this.fields ??= await remembered('fields', this.chat.id);
        if ((fields === this.fields && !isForgotten) || !this.isOpen()) return;
        const body = { title, user_name: user, character_name: character };
        await this.chat.request('PUT', '', { body, signal: this.signal });
        this.fields = fields;
        await remember('fields', this.chat.id, fields);
    }
}

/** @param {Line[]} lines */
const isLong = (lines) => lines.reduce((sum, { content }) => sum + (content ?? '').length, 0) > WHOLE_CHARS;
