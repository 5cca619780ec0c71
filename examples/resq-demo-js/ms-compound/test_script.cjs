'use strict';

const assert = require('node:assert');
const { describe, it } = require('node:test');

const ms = require('./index.js');

describe('several parts', () => {
  it('are added up', () => {
    assert.strictEqual(ms('1h 30m'), 5400000);
    assert.strictEqual(ms('1h30m'), 5400000);
    assert.strictEqual(ms('2 days 1 hour 5 secs'), 176405000);
    assert.strictEqual(ms('1.5s 250ms'), 1750);
  });

  it('come in any order', () => {
    assert.strictEqual(ms('30m 1h'), 5400000);
    assert.strictEqual(ms('10ms 1y'), 31557600010);
  });

  it('share one sign', () => {
    assert.strictEqual(ms('-1h 30m'), -5400000);
    assert.strictEqual(ms('1h -30m'), undefined);
  });

  it('each need a unit', () => {
    assert.strictEqual(ms('1h 30'), undefined);
    assert.strictEqual(ms('1 30m'), undefined);
    assert.strictEqual(ms('1h and 30m'), undefined);
    assert.strictEqual(ms('1h 30m '.repeat(20)), undefined);
  });
});

it('reads one part as before', () => {
  assert.strictEqual(ms('2 days'), 172800000);
  assert.strictEqual(ms('-.5h'), -1800000);
  assert.strictEqual(ms('100'), 100);
  assert.strictEqual(ms('ten minutes'), undefined);
  assert.strictEqual(ms(60000, { long: true }), '1 minute');
});
