import assert from 'node:assert/strict';
import { test } from 'node:test';
import { part } from '../../static/turnfold.js';

test('an id becomes a part of a path', () => {
    assert.equal(part('a/b'), 'a%2Fb');
});
