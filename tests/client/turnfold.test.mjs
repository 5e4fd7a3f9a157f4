import assert from 'node:assert/strict';
import { test } from 'node:test';
import { part } from '../../static/turnfold.js';

test('an id becomes a part of a path', () => {
    assert.equal(part('a b@c:d%é😀'), 'a%20b%40c%3Ad%25%C3%A9%F0%9F%98%80');
});
