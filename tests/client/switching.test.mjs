/** A chat that is left while a command, a repair or a takeover of it is under way: the next one is let alone. */

import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gate, message, openChat, press, seen, serverAnswers, tavern, until } from './page.mjs';

const own = (name) => import(pathToFileURL(`${process.env.EXTENSION}/${name}.js`).href);
const { startSync } = await own('sync');
const { startCommands } = await own('commands');
const { repair } = await own('repair');
const { startTakeover, takeOver } = await own('takeover');
const { followJob } = await own('progress');
const { session, tell } = await own('session');

const OLD = { layers: [[{ text: 'They met.', turnRange: [0, 1] }]] };
const HIDDEN = () => message('Long ago.', { is_system: true, extra: { sc_ghosted: true } });

startSync();
startCommands();
startTakeover();

let chats = 0;

/** Opens a chat of its own and waits until it is synced. */
async function opened(messages = [message('One.')], metadata = {}) {
    const id = `chat-${chats += 1}`;
    openChat(id, messages, metadata);
    await until(() => session.id === id && session.phase === 'ready');
    return id;
}

/** Opens one that Summaryception knows, and tells how it stands on the server. @param {string} id */
async function openedOld(id) {
    openChat(id, [message('One.'), HIDDEN()], { summaryception: OLD });
    await until(() => session.id === id && session.phase === 'ready');
    session.status = { strategy: 'layered', layers: [] };
    tell('status');
}

const sent = (method, path) => seen.calls.filter(([how, where]) => how === method && where.endsWith(path));
const settingsOf = (id) => sent('PUT', `/chats/${id}`).map(([, , body]) => body.settings).filter(Boolean);
const run = (name, given, words = '') => seen.commands[name].callback(given, words);

after(() => openChat('', [])); // nothing is followed any more, and Node can end

beforeEach(() => {
    for (const all of [seen.calls, seen.toasts, seen.dialogs, seen.saves]) all.length = 0;
    serverAnswers(() => undefined);
});

test('a command that waits for a slow server is not given to the chat that is opened meanwhile', async () => {
    const [id, held] = [await opened(), gate()];
    serverAnswers((method, path) => (path === `/chats/${id}/messages` ? held.passed : undefined));
    tavern.chat.push(message('Two.'));
    const done = run('sc-clear', { yes: 'true' });
    await until(() => sent('POST', `/chats/${id}/messages`).length);
    await opened();
    held.open();
    assert.equal(await done, '');
    assert.deepEqual(sent('POST', '/commands'), []);
    assert.match(seen.toasts.map(([, text]) => text).join(), /sc-clear: Another chat was opened meanwhile/);
});

test('the question before clearing goes with its chat, and nothing is cleared', async () => {
    await opened();
    const done = run('sc-clear', {});
    const dialog = await until(() => seen.dialogs.at(-1)?.isOpen && seen.dialogs.at(-1));
    await opened();
    assert.equal(await done, '');
    assert.equal(dialog.isOpen, false);
    assert.deepEqual(sent('POST', '/commands'), []);
});

test('a repair that a person types asks, with or without the word now; a script says that it is sure', async () => {
    const id = await opened();
    serverAnswers((_, path) => (path.endsWith('/repair') ? { findings: [{ code: 'x', detail: 'A fault.', fixed: false }] }
        : undefined));
    for (const words of ['', 'now']) {
        const done = run('sc-repair', {}, words);
        await until(() => seen.dialogs.at(-1)?.isOpen);
        seen.dialogs.at(-1).complete(null);
        assert.equal(await done, 'Nothing was changed.');
    }
    assert.deepEqual(sent('POST', '/commands'), []);
    for (const given of [{ yes: 'true' }, { quiet: 'true' }]) assert.equal(await run('sc-repair', given, 'now'), 'done');
    assert.deepEqual(sent('POST', `/chats/${id}/commands`).map(([, , body]) => body.command), Array(2).fill('/sc-repair now'));
});

test('a repair that is agreed to is finished on the server, and changes no file but its own chat’s', async () => {
    const [hidden, held] = [HIDDEN(), gate()];
    await opened([message('One.'), hidden]);
    serverAnswers(async (method, path, body) => {
        if (!path.endsWith('/repair')) return undefined;
        if (!body.dry_run) await held.passed;
        return { findings: [{ code: 'x', detail: 'A fault.', fixed: !body.dry_run }] };
    });
    const done = repair();
    await until(() => seen.dialogs.at(-1)?.isOpen);
    press('Put it right');
    seen.dialogs.at(-1).complete(null);
    await until(() => sent('POST', '/repair').length === 2);
    await opened();
    held.open();
    assert.match(await done, /^1 fault put right\. 1 message stayed hidden/);
    assert.deepEqual([seen.saves, hidden.is_system], [[], true]);
});

test('a takeover is finished where it was begun; the file follows when its chat is open again', async () => {
    for (const [choice, answer] of [['Leave this chat to Summaryception', 'left'], ['Begin anew', 'anew']]) {
        const held = gate();
        await openedOld(`old ${answer}`);
        await until(() => seen.dialogs.at(-1)?.isOpen);
        serverAnswers((method, path, body) => (
            method === 'PUT' && body?.settings?.paused === null ? held.passed : undefined));
        press(choice);
        await until(() => settingsOf(`old%20${answer}`).at(-1)?.paused === null);
        const next = await opened();
        held.open();
        await until(() => tavern.extensionSettings.turnfold.begun[`old ${answer}`]);
        assert.deepEqual([tavern.chatMetadata.turnfold, seen.saves, settingsOf(next)], [undefined, [], []]);
        seen.dialogs.length = 0;
        await openedOld(`old ${answer}`);
        await until(() => tavern.chatMetadata.turnfold?.summaryception === answer && seen.saves.length);
        assert.deepEqual([seen.dialogs, seen.saves, tavern.chat[1].is_system], [[], [`old ${answer}`], answer === 'left']);
        assert.deepEqual(tavern.extensionSettings.turnfold.begun, {});
        seen.saves.length = 0;
    }
});

test('a memory that was asked for is taken, and its chat folds again, though another one was opened', async () => {
    const held = gate();
    await openedOld('old taken');
    await until(() => seen.dialogs.at(-1)?.isOpen);
    serverAnswers(async (method, path) => {
        if (!path.endsWith('/import')) return undefined;
        await held.passed;
        return { snippets: 1, warnings: [] };
    });
    press('Take its memory over');
    await until(() => sent('POST', '/import').length);
    const next = await opened();
    held.open();
    await until(() => tavern.extensionSettings.turnfold.begun['old taken']);
    assert.deepEqual(settingsOf('old%20taken').at(-1), { enabled: null, paused: null });
    assert.deepEqual([settingsOf(next), seen.saves], [[], []]);
});

test('without an answer a chat that was decided about is paused as it was before: by itself, or not', async () => {
    for (const paused of [true, null]) {
        const id = await opened([message('One.')], { summaryception: OLD, turnfold: { summaryception: 'taken' } });
        serverAnswers((method, path) => (
            method === 'GET' && path === `/chats/${id}` ? { settings: paused === null ? {} : { paused } } : undefined));
        seen.dialogs.length = 0;
        const done = takeOver();
        await until(() => seen.dialogs.at(-1)?.isOpen);
        seen.dialogs.at(-1).complete(null);
        await done;
        assert.deepEqual(settingsOf(id), [{ paused: true }, { paused }]);
    }
});

test('a job of a chat that was left is not followed in the next one', async () => {
    const id = await opened();
    const job = { id: 'job-1', chat_id: id, kind: 'backlog', state: 'running', progress: { done: 0, total: 9, percent: 0 } };
    await opened();
    followJob(job, { large: true });
    assert.deepEqual(seen.dialogs, []);
});
