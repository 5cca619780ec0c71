'use strict';

const assert = require('node:assert');
const { describe, it } = require('node:test');

const bytes = require('..');

describe('parse', () => {
  it('reads IEC units', () => {
    assert.strictEqual(bytes.parse('1KiB'), 1024);
    assert.strictEqual(bytes.parse('3MiB'), 3145728);
    assert.strictEqual(bytes.parse('2GiB'), 2147483648);
    assert.strictEqual(bytes.parse('1TiB'), 1099511627776);
    assert.strictEqual(bytes.parse('1PiB'), 1125899906842624);
  });

  it('reads them in any case and with spaces', () => {
    assert.strictEqual(bytes.parse('4 kib'), 4096);
    assert.strictEqual(bytes.parse('4KIB'), 4096);
    assert.strictEqual(bytes('0.5 mIb'), 524288);
  });

  it('reads signs and fractions', () => {
    assert.strictEqual(bytes.parse('-1.5KiB'), -1536);
    assert.strictEqual(bytes.parse('+1KiB'), 1024);
  });

  it('is as before', () => {
    assert.strictEqual(bytes.parse('1KB'), 1024);
    assert.strictEqual(bytes.parse('1.5 tb'), 1649267441664);
    assert.strictEqual(bytes.parse('1024'), 1024);
    assert.strictEqual(bytes.parse('12 parsecs'), 12);
    assert.strictEqual(bytes.parse('nothing'), null);
    assert.strictEqual(bytes.parse(7), 7);
  });
});

describe('format', () => {
  it('writes IEC units on demand', () => {
    assert.strictEqual(bytes.format(1024, { iec: true }), '1KiB');
    assert.strictEqual(bytes.format(1572864, { iec: true }), '1.5MiB');
    assert.strictEqual(bytes.format(1073741824, { iec: true }), '1GiB');
    assert.strictEqual(bytes.format(1099511627776, { iec: true }), '1TiB');
    assert.strictEqual(bytes.format(1125899906842624, { iec: true }), '1PiB');
    assert.strictEqual(bytes(2048, { iec: true }), '2KiB');
  });

  it('writes plain bytes as such', () => {
    assert.strictEqual(bytes.format(1000, { iec: true }), '1000B');
    assert.strictEqual(bytes.format(0, { iec: true }), '0B');
    assert.strictEqual(bytes.format(1024, { iec: true }), '1KiB');
  });

  it('goes with the other options', () => {
    assert.strictEqual(bytes.format(-1024, { iec: true, unitSeparator: ' ' }), '-1 KiB');
    assert.strictEqual(bytes.format(1024, { iec: true, fixedDecimals: true, decimalPlaces: 1 }), '1.0KiB');
  });

  it('takes an IEC unit as it is written', () => {
    assert.strictEqual(bytes.format(1048576, { unit: 'KiB' }), '1024KiB');
    assert.strictEqual(bytes.format(1048576, { unit: 'mib', unitSeparator: ' ' }), '1 mib');
  });

  it('lets a stated unit decide', () => {
    assert.strictEqual(bytes.format(1048576, { unit: 'KB', iec: true }), '1024KB');
    assert.strictEqual(bytes.format(1048576, { unit: 'KiB', iec: false }), '1024KiB');
  });

  it('is as before', () => {
    assert.strictEqual(bytes.format(1024), '1KB');
    assert.strictEqual(bytes.format(1048576, { unit: 'kb' }), '1024kb');
    assert.strictEqual(bytes.format(1024, { unit: 'bad' }), '1KB');
    assert.strictEqual(bytes.format(NaN), null);
  });
});
