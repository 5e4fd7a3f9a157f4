/** static/dashboard/chat: costs-money.js, growth-data.js, layers-table.js and care-files.js. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fileName } from '../../static/dashboard/chat/care-files.js';
import { choices, costOf, figures, money, readPrice } from '../../static/dashboard/chat/costs-money.js';
import { byTurn, columns, sample, saved, sharing } from '../../static/dashboard/chat/growth-data.js';
import { fullRows, rows, sums } from '../../static/dashboard/chat/layers-table.js';

const PRICE = { input: 2, output: 10, currency: '€' };
const LAYERED = { turns_per_batch: 3, snippets_per_promotion: 3, snippets_per_layer: 30, max_layers: 5 };
const point = (turns) => ({ index: turns, turns, raw_tokens: 100 * turns, memory_tokens: 5, sent_tokens: 40 + turns });

test('tokens in money, with as many digits as say something', () => {
    assert.equal(costOf(PRICE, 1_000_000, 100_000), 3);
    assert.equal(money(1234.5, '€'), '€ 1,234.50');
    assert.equal(money(0.00312, '$'), '$ 0.0031');
    assert.equal(money(0.2, '$'), '$ 0.20');
    assert.equal(money(0, '$'), '$ 0.00');
});

test('a price is read as it is typed; nothing is no price, and a word is a fault', () => {
    const read = (input, output, currency = '') => readPrice({ input, output, currency });
    assert.deepEqual(read('0,15', ' 0.6 ').price, { input: 0.15, output: 0.6, currency: '$' });
    assert.deepEqual(read('', ''), { price: null, fault: '' });
    assert.equal(read('cheap', '1').price, null);
    assert.match(read('-1', '').fault, /number/);
    assert.equal(read('1', '', '€').price.output, 0);
});

test('a backlog: all of it, one batch, in money where a price is known, for nothing where no model is called', () => {
    const backlog = { turns: 153, estimated_calls: 50, estimated_input_tokens: 100_000, estimated_s: 200 };
    const status = (provider) => ({ backlog, connection: { provider }, raw_tokens: 9000 });
    const costs = choices(status('openai'), 120, PRICE);
    assert.deepEqual(costs.one, { calls: 1, input: 2000, seconds: 4, money: 0.0046 });
    assert.equal(costs.all.money.toFixed(2), '0.23');
    assert.equal(choices(status('openai'), 120, null).all.money, null);
    assert.equal(choices(status('extractive'), 120, null).all.money, 0);
    const none = { ...backlog, estimated_calls: 0, estimated_input_tokens: 0, estimated_s: null };
    assert.deepEqual(choices({ ...status('openai'), backlog: none }, 120, null).one,
        { calls: 0, input: 0, seconds: null, money: null });
});

test('the built-in summarizer takes moments for a few batches, a time that is told for more', () => {
    const time = (backlog) => {
        const free = { backlog: { turns: 9, ...backlog }, connection: { provider: 'extractive' }, raw_tokens: 9 };
        return figures('all', choices(free, 120, null), '').at(-1);
    };
    assert.equal(time({ estimated_calls: 19, batches: 19, estimated_s: null })[1], 'moments');
    assert.equal(time({ estimated_calls: 2400, batches: 2400, estimated_s: null })[1], 'about 2 min');
    assert.equal(time({ estimated_calls: 2400, batches: 2400, estimated_s: 30 })[1], 'about 30 s');
});

test('the figures of a choice, each of which says alone what it is', () => {
    const backlog = { turns: 153, estimated_calls: 50, estimated_input_tokens: 100_000, estimated_s: 200 };
    const costs = choices({ backlog, connection: { provider: 'openai' }, raw_tokens: 9000 }, 120, PRICE);
    const brief = (name) => figures(name, costs, '€').map((one) => one[2]).join(' · ');
    assert.equal(brief('all'), 'about 50 calls · 100K tokens · about 3 min · about € 0.23');
    assert.equal(brief('one'), '1 call · 2,000 tokens · about 4 s · about € 0.0046');
    assert.equal(brief('skip'), 'no calls · up to 9,000 tokens');
});

test('growth: columns for the chart, ten rows for the table, what a prompt saves', () => {
    const points = Array.from({ length: 200 }, (_, place) => point(place + 1));
    assert.deepEqual(columns([point(1), point(2)], false), [[1, 2], [100, 200], [41, 42]]);
    assert.equal(columns([{ ...point(0), sent_tokens: 0 }], true)[2][0], 1);
    assert.deepEqual(byTurn([{ turns: 0 }, { turns: 1, index: 1 }, { turns: 1, index: 2 }]),
        [{ turns: 0 }, { turns: 1, index: 2 }]);
    const sampled = sample(points);
    assert.deepEqual([sampled.length, sampled[0].turns, sampled.at(-1).turns], [10, 1, 200]);
    assert.equal(sample(points.slice(0, 4)).length, 4);
    assert.deepEqual(saved(points), { raw: 20_000, sent: 240, less: 19_760, share: 1 - 240 / 20_000 });
    assert.equal(saved([{ ...point(1), sent_tokens: 900 }]).less, 0);
    assert.equal(saved([]), null);
});

test('growth is read once for all that ask, soon, and then not again for two seconds', async () => {
    const waits = [];
    const asked = [];
    let now = 10_000;
    const read = async (id) => { asked.push(id); return { items: [id] }; };
    const growth = sharing(read, async (ms) => { waits.push(ms); now += ms; }, () => now);
    assert.deepEqual(await Promise.all([growth('a'), growth('a')]), [['a'], ['a']]);
    await growth('a');
    assert.deepEqual(await growth('b'), ['b']);
    assert.deepEqual([asked, waits], [['a', 'a', 'b'], [0, 2000, 0]]);
});

test('growth that could not be read is asked for again', async () => {
    let broken = true;
    const read = async () => { if (broken) throw new Error('away'); return { items: [1] }; };
    const growth = sharing(read, async () => {}, () => 0);
    await assert.rejects(growth('a'), /away/);
    broken = false;
    assert.deepEqual(await growth('a'), [1]);
});

test('layers: deepest first, turns in each, what is full', () => {
    const layers = [
        { layer: 0, snippets: 28, limit: 30, tokens: 300, turns: 84 },
        { layer: 1, snippets: 2, limit: 30, tokens: 20, turns: 12 },
    ];
    const [deep, newest] = rows(layers, LAYERED);
    assert.deepEqual([deep.layer, deep.each, deep.fullEach, deep.fullTurns], [1, 6, 9, 270]);
    assert.deepEqual([newest.layer, newest.each, newest.fullTurns], [0, 3, 90]);
    assert.deepEqual(sums(layers), { snippets: 30, turns: 96, tokens: 320 });
    assert.equal(rows([{ layer: 0, snippets: 0, limit: 30, tokens: 0, turns: 0 }], LAYERED)[0].each, null);
    assert.equal(fullRows(LAYERED).reduce((sum, row) => sum + row.fullTurns, 0), 10_890); // the original's seed table
    assert.deepEqual(fullRows(LAYERED).map((row) => row.fullEach), [3, 9, 27, 81, 243]);
});

test('the name of a file is what the server says, else what one has', () => {
    assert.equal(fileName('attachment; filename="a.jsonl"; filename*=UTF-8\'\'caf%C3%A9.jsonl', 'x'), 'café.jsonl');
    assert.equal(fileName('attachment; filename="a.jsonl"', 'x'), 'a.jsonl');
    assert.equal(fileName('attachment; filename="a.jsonl"; filename*=UTF-8\'\'%E9', 'x'), 'a.jsonl');
    assert.equal(fileName(null, 'chat.json'), 'chat.json');
});
