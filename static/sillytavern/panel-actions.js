/** What is done with the open chat's memory: fold, stop, clear, put in order, take out and bring in. */

import { confirmClear } from './answers.js';
import { count, element } from './dom.js';
import { busy, find, partOf, pictured, said } from './panel-parts.js';
import { followJob, showBacklog } from './backlog.js';
import { toast } from './host.js';
import { load } from './panel-data.js';
import { refresh } from './memory.js';
import { repair } from './repair.js';
import { session } from './session.js';
import { openSnippets } from './snippets.js';
import { settled } from './sync.js';
import { takeOver } from './takeover.js';

const SYNC_MS = 10_000; // that an export or an import waits for what is not synced yet
/** @type {Record<string, string>} */
const REASONS = {
    nothing_to_fold: 'There is nothing to fold: every turn is in the window or in the memory.',
    below_threshold: 'There is nothing to fold yet.',
    strategy_none: 'This chat keeps no memory.',
    disabled: 'Memory is switched off for this chat.',
};

/** @typedef {(chat: import('./turnfold.js').Chat) => Promise<unknown>} Work */

/** What `work` fails of is shown, not thrown. @param {any} pressed @param {Work} work */
async function act(pressed, work) {
    const chat = session.chat;
    if (!chat) return;
    try {
        await busy(pressed, () => work(chat));
    } catch (error) {
        toast('error', said(error));
    }
}

/**
 * A button for the open chat. @param {string} picture @param {string} text @param {Work} work @param {string} title
 * @param {string} [name] that the panel finds it by
 */
function chatButton(picture, text, work, title, name) {
    const pressed = pictured(picture, text, () => act(pressed, work), { title });
    Object.assign(pressed.dataset, { needs: 'chat', ...(name && { part: name }) });
    return pressed;
}

/** @param {HTMLElement} root */
export function actionSection(root) {
    const file = partOf(root, 'file');
    const choose = async () => showBacklog();
    partOf(root, 'main').append(
        chatButton('fa-list-check', 'Backlog', choose, 'What to do with the turns that wait', 'choose'),
        chatButton('fa-layer-group', 'Fold now', fold, 'Fold every turn that is outside the window'),
        chatButton('fa-circle-stop', 'Stop', stop, 'What is folded stays', 'stop'),
        chatButton('fa-book-open', 'Snippets', async () => openSnippets(), 'Read, edit and regenerate what is remembered'),
        chatButton('fa-circle-pause', 'Pause', pauseOrResume, 'Fold nothing new in this chat', 'pause'),
        chatButton('fa-circle-play', 'Resume', pauseOrResume, 'Fold by itself again in this chat', 'resume'));
    partOf(root, 'chat-buttons').append(
        chatButton('fa-list-check', 'Backlog', choose, 'What to do with turns that were never folded'),
        chatButton('fa-screwdriver-wrench', 'Repair', async () => repair(), 'Look for what is wrong; asks first'),
        chatButton('fa-right-left', 'Take over', async () => takeOver(), 'Bring over the memory of Summaryception'),
        chatButton('fa-broom', 'Clear', clear, 'Clear the memory; every message is sent again'));
    partOf(root, 'file-buttons').append(
        chatButton('fa-download', 'Export', (chat) => download(chat, find(root, '#tf-format').value), 'Save as a file'),
        chatButton('fa-upload', 'Import', async () => file.click(), 'A file of memory, or a chat that has one'));
    file.addEventListener('change', () => act(file, (chat) => bringIn(chat, file, partOf(root, 'outcome'))));
}

/** @param {import('./turnfold.js').Chat} chat */
async function stop(chat) {
    await chat.stop();
    await refresh();
}

/** @param {import('./turnfold.js').Chat} chat */
async function fold(chat) {
    const { signal } = session;
    await settled(SYNC_MS);
    if (signal.aborted) return;
    const { job, reason } = await chat.request('POST', '/summarize');
    if (job) followJob(job);
    else toast('info', REASONS[reason] ?? `There is nothing to fold (${reason}).`);
    await refresh();
}

/** @param {import('./turnfold.js').Chat} chat */
async function pauseOrResume(chat) {
    await chat.request('POST', session.status?.paused ? '/resume' : '/pause');
    await Promise.all([refresh(), load()]);
}

/** @param {import('./turnfold.js').Chat} chat */
async function clear(chat) {
    if (!await confirmClear(session.signal)) return;
    const { cleared_snippets: snippets, unghosted_messages: shown } = await chat.request('POST', '/clear');
    toast('success', `${count(snippets, 'snippet')} cleared, ${count(shown, 'message')} sent again.`);
    await refresh();
}

/** @param {import('./turnfold.js').Chat} chat @param {string} format */
async function download(chat, format) {
    await settled(SYNC_MS); // if another chat is opened meanwhile, it is still this one that is saved
    const answer = await chat.server.open('GET', `${chat.path}/export`, { query: { format }, timeout: 0 });
    const told = /filename\*=UTF-8''([^;]+)/.exec(answer.headers.get('content-disposition') ?? '');
    const address = URL.createObjectURL(await answer.blob());
    element('a', { href: address, download: told ? decodeURIComponent(told[1]) : `chat.${format}.json` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** @param {import('./turnfold.js').Chat} chat @param {HTMLInputElement} input @param {HTMLElement} outcome */
async function bringIn(chat, input, outcome) {
    const raw = input.files?.[0];
    input.value = '';
    if (!raw) return;
    outcome.replaceChildren(`Reading ${raw.name}…`);
    const { signal } = session;
    try {
        await settled(SYNC_MS);
        if (signal.aborted) return void toast('info', `Another chat was opened: ${raw.name} was not read.`);
        const { snippets, warnings } = await chat.request('POST', '/import', { raw, timeout: 0 });
        const notices = warnings.map((/** @type {any} */ one) => element('li', {}, one.detail));
        outcome.replaceChildren(`${count(snippets, 'snippet')} taken from ${raw.name}.`, element('ul', {}, ...notices));
        await refresh();
    } catch (error) {
        outcome.replaceChildren(said(error));
    }
}

/** @param {HTMLElement} root */
export function paintActions(root) {
    const able = session.chat !== null && session.phase === 'ready';
    for (const pressed of /** @type {NodeListOf<HTMLButtonElement>} */ (root.querySelectorAll('[data-needs="chat"]'))) {
        pressed.disabled = !able;
    }
    partOf(root, 'pause').hidden = session.status?.paused === true;
    partOf(root, 'resume').hidden = session.status?.paused !== true;
    partOf(root, 'stop').hidden = !session.status?.job;
    partOf(root, 'choose').hidden = !session.status?.backlog.choice_needed;
}
