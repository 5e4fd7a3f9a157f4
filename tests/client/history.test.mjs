// SillyTavern's chat as Turnfold's history: ids, messages, the checksum, and the requests between two histories.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { after, diff, digest, held, identify, idOf, packs, toHistory, toMessage } from '../../static/sillytavern/history.js';
import { sentAt } from '../../static/sillytavern/dates.js';

const said = (text, fields = {}) => ({ name: 'Mira', is_user: false, is_system: false, send_date: '2026-01-02T03:04:05.678Z', mes: text, ...fields });
const historyOf = (chat) => { identify(chat); return toHistory(chat).lines; };
const ids = (chat) => { identify(chat); return chat.map(idOf); };
const reloaded = (chat) => JSON.parse(JSON.stringify(chat));

test('a message is called the same after a reload, saved or not', () => {
    const chat = [said('one'), said('two'), said('two')];
    const unsaved = reloaded(chat);
    const first = ids(chat);
    assert.equal(new Set(first).size, 3);
    assert.deepEqual(ids(unsaved), first);
    assert.deepEqual(ids(reloaded(chat)), first);
});

test('ids stay when messages before them go, and when a text is edited', () => {
    const chat = [said('one'), said('two'), said('three')];
    const [, , third] = ids(chat);
    chat.shift();
    chat[1].mes = 'edited';
    assert.equal(ids(chat)[1], third);
    assert.equal(ids(reloaded(chat))[1], third);
});

test('an id outlives the swap of extra by a swipe, and is written back', () => {
    const chat = [said('one'), said('two')];
    const [, id] = ids(chat);
    chat[1].extra = { api: 'another' };
    assert.equal(ids(chat)[1], id);
    assert.deepEqual(chat[1].extra, { api: 'another', turnfold: { id } });
});

test('a copied message gets an id of its own, wherever it is put', () => {
    const chat = [said('one'), said('two')];
    const [first, second] = ids(chat);
    chat.splice(0, 0, structuredClone(chat[1]));
    const [copy, ...rest] = ids(chat);
    assert.deepEqual(rest, [first, second]);
    assert.ok(copy && copy !== second);
    assert.deepEqual(ids(reloaded(chat)), [copy, first, second]);
});

test('marks of an export stay beside the id; an id that no server takes is replaced', () => {
    const chat = [said('one', { extra: { turnfold: { pinned: true } } }), said('two', { extra: { turnfold: { id: 'a/b' } } }),
        said('three', { extra: null })];
    const [one, two] = ids(chat);
    assert.deepEqual(chat[0].extra.turnfold, { pinned: true, id: one });
    assert.notEqual(two, 'a/b');
    assert.equal(toMessage(chat[0]).pinned, true);
});

test('the checksum is that of the server', async () => {
    const lines = [{ id: 'ü1', role: 'user', name: null, hidden: false, content: 'Hä? 🜂' },
        { id: 'a', role: 'assistant', name: 'Mira', hidden: true, content: null }];
    assert.deepEqual(await digest(lines), { messages: 2, digest: '97534d62' });
    assert.deepEqual(await digest([]), { messages: 0, digest: '00000000' });
});

test('a long history is summed in slices', async () => {
    let breaths = 0;
    const lines = Array.from({ length: 3000 }, (_, at) => ({ id: `${at}`, role: 'user', name: null, hidden: false, content: 'x'.repeat(5000) }));
    await digest(lines, async () => { breaths += 1; });
    assert.ok(breaths > 0);
});

test('a message over 1 MiB is named, and the rest is taken', () => {
    const chat = [said('one'), said('ä'.repeat(600_000)), said('three')];
    identify(chat);
    const { lines, tooLong } = toHistory(chat);
    assert.deepEqual(tooLong, [1]);
    assert.deepEqual(lines.map(({ content }) => content), ['one', 'three']);
});

test('what did not change is the same object, so that histories are compared by looking', () => {
    const chat = [said('one'), said('two')];
    const [first, second] = historyOf(chat);
    chat[1].mes = 'edited';
    const again = historyOf(chat);
    assert.equal(again[0], first);
    assert.notEqual(again[1], second);
});

test('dates are read as the importer reads them', () => {
    assert.equal(sentAt('April 26, 2024 6:06am'), '2024-04-26T06:06:00.000Z');
    assert.equal(sentAt('2024-04-26 @06h 06m 12s 123ms'), '2024-04-26T06:06:12.123Z');
    assert.equal(sentAt('2024-04-26T06:06:12.123+02:00'), '2024-04-26T04:06:12.123Z');
    assert.equal(sentAt(1714111572000), '2024-04-26T06:06:12.000Z');
    assert.equal(sentAt('1714111572'), '2024-04-26T06:06:12.000Z');
    for (const none of [undefined, null, true, '', 'soon', '2024-02-30', 'May 3, 2024 13:00pm', NaN]) assert.equal(sentAt(none), null);
});

test('a reply that is being written is as the server knows it, or not there yet', () => {
    const [user, reply] = historyOf([said('Hi', { is_user: true }), said('Hel')]);
    const grown = { ...reply, content: 'Hello' };
    assert.deepEqual(held([user, reply], [user], true), [user]);
    assert.deepEqual(held([user, grown], [user, reply], true), [user, reply]);
    assert.deepEqual(held([user, grown], [user, reply], false), [user, grown]);
    assert.deepEqual(held([user], [], true), [user]);
});

test('portions are no larger than a request may be', () => {
    const lines = Array.from({ length: 2500 }, (_, at) => ({ id: `${at}`, content: 'x'.repeat(at < 5 ? 1_000_000 : 1) }));
    const found = packs(lines);
    assert.deepEqual(found.flat(), lines);
    for (const pack of found) {
        assert.ok(pack.length <= 1000);
        assert.ok(pack.reduce((sum, { content }) => sum + content.length, 0) <= 3_500_000);
    }
});

// A server that takes the requests, and refuses what the real one refuses.
function served(lines, op) {
    const at = lines.findIndex(({ id }) => id === (op.id ?? op.line?.id));
    if (op.kind === 'append') {
        assert.ok(!op.lines.some(({ id }) => lines.some((line) => line.id === id)));
        return [...lines, ...op.lines];
    }
    if (op.kind === 'whole') return op.lines;
    assert.ok(at >= 0);
    return op.kind === 'remove' ? lines.toSpliced(at, 1) : lines.with(at, { ...lines[at], ...op.changes });
}

function random(seed) {
    let state = seed;
    return (below) => {
        state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9 | 0;
        return ((state ^ (state >>> 13)) >>> 0) % below;
    };
}

// What a person does; gives how many requests it may take at most, Infinity where only the whole will do.
const DEEDS = [
    (chat, below, serial) => { chat.push(said(`new ${serial}`, { is_user: below(2) === 0 })); return 1; },
    (chat, below, serial) => { chat[below(chat.length)].mes = `edited ${serial}`; return 1; },
    (chat, below, serial) => { Object.assign(chat[below(chat.length)], { mes: `swiped ${serial}`, extra: { gen_id: 1 } }); return 1; },
    (chat, below) => { chat[below(chat.length)].is_system ^= true; return 1; },
    (chat, below) => { if (chat.length > 1) chat.splice(below(chat.length), 1); return 1; },
    (chat, below, serial) => { chat.splice(below(chat.length), 0, said(`between ${serial}`)); return Infinity; },
    (chat, below) => { const at = below(chat.length); chat.splice(at + 1, 0, structuredClone(chat[at])); return Infinity; },
    (chat, below) => { const [moved] = chat.splice(below(chat.length), 1); chat.splice(below(chat.length + 1), 0, moved); return Infinity; },
    (chat, below) => { if (chat.length > 3) chat.length -= 1 + below(2); return 2; },
];

test('whatever is done, the server comes to the same history by the fewest requests', () => {
    for (let seed = 1; seed <= 150; seed += 1) walk(seed);
});

function walk(seed) {
    const below = random(seed);
    const chat = Array.from({ length: 1 + below(6) }, (_, at) => said(`message ${at}`));
    chat.forEach((message) => { message.is_system = false; });
    let synced = historyOf(chat);
    let server = synced;
    for (let round = 0; round < 12; round += 1) {
        let most = 0;
        for (let times = below(4); times > 0; times -= 1) most += DEEDS[below(DEEDS.length)](chat, below, `${seed}.${round}.${times}`);
        chat.forEach((message) => { message.is_system = Boolean(message.is_system); });
        const now = historyOf(chat);
        const ops = diff(synced, now);
        server = ops.reduce(served, server);
        assert.deepEqual(server.map(plain), now.map(plain), `seed ${seed}, round ${round}`);
        assert.ok(ops.length <= Math.max(most, 1), `seed ${seed}, round ${round}: ${ops.length} requests for ${most} deeds`);
        if (Number.isFinite(most)) assert.ok(!ops.some(({ kind }) => kind === 'whole'), `seed ${seed}, round ${round}`);
        assert.deepEqual(ops.reduce(after, synced).map(plain), now.map(plain));
        synced = now;
    }
}

const plain = ({ id, role, name, hidden, content }) => ({ id, role, name, hidden, content });

test('many removals at once are one request', () => {
    const chat = Array.from({ length: 100 }, (_, at) => said(`message ${at}`));
    const synced = historyOf(chat);
    chat.length = 50;
    assert.deepEqual(diff(synced, historyOf(chat)).map(({ kind }) => kind), ['whole']);
});
