/** A frontend's whole day with a real server; the same in Node, in a bundle and in a browser. No imports, for that. */

const ID = 'Mira & Tom @ 10:30 – 夜 100% 😀 #1?';

/** Lines of a chat. @param {number} turns */
const story = (turns) => Array.from({ length: turns }, (_, turn) => [
    { id: `u${turn}`, role: 'user', content: `Mira asks Tom about gate ${turn} and the key that opens it.` },
    { id: `a${turn}`, role: 'assistant', content: `Tom says gate ${turn} is shut until the brass key turns up.` },
]).flat();

/** What a call fails with. @param {Promise<any>} call */
const failure = (call) => call.then(() => null, (error) => error);

/** @param {any} client the module turnfold.js @param {string} server @param {string} [key] @returns {Promise<any>} */
export async function play({ Turnfold }, server, key) {
    const turnfold = new Turnfold({ server, key });
    const chat = turnfold.chat(ID);
    return {
        ...await write(chat), ...await read(chat), ...await fold(turnfold), ...await fail(turnfold, chat),
        ...await end(chat),
    };
}

async function write(chat) {
    const { title } = await chat.put({ title: 'The gates' });
    const { appended } = await chat.append(story(2), { fold: 'none' });
    const edited = await chat.edit('u0', { content: 'Mira asks about the moon.', pinned: true });
    await chat.remove('a1');
    const synced = await chat.sync(story(3));
    return { title, appended, edited: edited.pinned, synced: [synced.appended, synced.edited, synced.unchanged] };
}

async function read(chat) {
    const found = [];
    for await (const message of chat.list('/messages', { limit: 4 })) found.push(message.id);
    const { messages, tokens } = await chat.project({ context_size: 4096, max_tokens: 96, system_prompt: 'Be Tom.' });
    const current = await chat.project({ current: [{ role: 'user', content: 'And now?' }] });
    const { items } = await chat.request('GET', '/search', { query: { q: 'brass "gate 2"', limit: 1 } });
    return {
        found, first: messages[0], budget: tokens.budget, last: current.messages.at(-1).content,
        hit: items[0].message_id, memory: (await chat.preview()).text, line: (await chat.command('/sc-help')).text.includes('/sc-status'),
    };
}

async function fold(turnfold) {
    const raw = JSON.stringify(story(40));
    const { chat_id: id } = await turnfold.request('POST', '/import', { raw, query: { title: 'Old' }, timeout: 0 });
    const chat = turnfold.chat(id);
    const { backlog: { choice_needed: asked } } = await chat.status();
    const watched = watch(chat);
    const percents = [];
    const { job } = await chat.backlog('all', { onProgress: ({ percent }) => percents.push(percent) });
    const exported = await chat.request('GET', '/export');
    return {
        asked, state: job.state, progress: percents.at(-1), told: await watched,
        ghosted: (await chat.status()).counts.ghosted, stopped: (await chat.stop()).stopped,
        lines: exported.split('\n').length > 80,
    };
}

/** The kinds of events up to the end of the job. */
async function watch(chat) {
    const kinds = new Set();
    for await (const { event, data } of chat.events({ lastEventId: '0' })) {
        kinds.add(event);
        if (data.state === 'succeeded') return [...kinds].sort();
    }
    return null;
}

async function fail(turnfold, chat) {
    const calls = [
        turnfold.chat('nobody').status(), chat.append([{ role: 'user' }]),
        chat.append([{ ...story(1)[0], content: 'Not what it said.' }]),
        turnfold.request('GET', '/nowhere'), turnfold.request('GET', '/chats', { query: { limit: 0 } }),
        new turnfold.constructor({ server: turnfold.server, key: 'guessed' }).chat('nobody').events().next(),
    ];
    const errors = await Promise.all(calls.map(failure));
    return { errors: errors.map((error) => `${error.status} ${error.code}`), place: errors[1].errors[0].loc };
}

async function end(chat) {
    await chat.sync(story(1), { reset: true });
    const events = chat.events({ lastEventId: '0' });
    let { value } = await events.next(); // the stream is open
    await chat.request('DELETE', '');
    while (value.event !== 'end') ({ value } = await events.next());
    return { ending: value.event, over: (await events.next()).done, gone: (await failure(chat.status())).status };
}
