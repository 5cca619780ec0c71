// What rewritten tests call in place of assertions: it notes values with the test that was running, and judges nothing.
'use strict';

const { AsyncLocalStorage } = require('node:async_hooks');
const assert = require('node:assert');
const { encode } = require('./javascript_encode.cjs');

const MOST = 8 * 2 ** 20;
const running = new AsyncLocalStorage();
const current = running.getStore.bind(running);
const within = running.run.bind(running);
const { apply } = Reflect;
const NAME = '__repoassay';
let sent = 0;

// What no test was running for, as when a loop around tests asserts: it is told with the next test that begins.
const outside = { __proto__: null, seen: '', open: true };

/** What a test's operands are noted in, until its result is told. */
function record() {
  const { seen } = outside;
  outside.seen = '';
  return { __proto__: null, seen, open: true };
}

function note(site, texts) {
  const into = current() ?? outside;
  if (!into.open) return;
  const text = '[' + (site >>> 0) + ',[' + texts + ']]';
  sent += text.length;
  if (sent <= MOST) into.seen += (into.seen ? ',' : '') + text;
}

function listed(values, count) {
  let texts = '';
  for (let i = 0; i < count; i++) texts += (i ? ',' : '') + encode(values[i]);
  return texts;
}

/** The operands of a withheld assertion. */
function seen(site, ...operands) {
  note(site, listed(operands, operands.length));
}

/** How a function ends, row numbers before it: what `assert.throws` and `assert.doesNotThrow` would judge. */
function threw(site, fn, ...rows) {
  if (typeof fn !== 'function') return assert.throws(fn); // says what it says of no function
  note(site, before(rows) + outcome(fn));
}

function before(rows) {
  return rows.length ? listed(rows, rows.length) + ',' : '';
}

function outcome(fn) {
  try {
    fn();
  } catch (error) {
    return '["threw",' + encode(error) + ']';
  }
  return '["returned"]';
}

/** How a promise ends, or that of an asynchronous function. */
async function rejected(site, given, ...rows) {
  const promise = typeof given === 'function' ? given() : given;
  if (promise === null || typeof promise !== 'object' || typeof promise.then !== 'function') {
    return assert.rejects(promise); // says what it says of no promise
  }
  let text = '["returned"]';
  try {
    await promise;
  } catch (error) {
    text = '["threw",' + encode(error) + ']';
  }
  note(site, before(rows) + text);
}

/** An assertion that stays, and its first operands. */
function observed(site, count, judge, ...operands) {
  note(site, listed(operands, count));
  return apply(judge, undefined, operands);
}

/** A comparison that stays. */
function compared(site, compare, ...operands) {
  note(site, listed(operands, operands.length));
  if (!apply(compare, undefined, operands)) assert.ok(false, 'The comparison does not hold');
}

/** `assert.throws` with an expectation that stays. */
function observedThrow(site, judge, fn, ...rest) {
  const spied = typeof fn !== 'function' ? fn : () => {
    try {
      const value = fn();
      note(site, '["returned"]');
      return value;
    } catch (error) {
      note(site, '["threw",' + encode(error) + ']');
      throw error;
    }
  };
  return apply(judge, undefined, [spied, ...rest]);
}

/** `assert.rejects` with an expectation that stays. */
function observedReject(site, judge, given, ...rest) {
  const watch = async (promise) => {
    try {
      const value = await promise;
      note(site, '["returned"]');
      return value;
    } catch (error) {
      note(site, '["threw",' + encode(error) + ']');
      throw error;
    }
  };
  const watched = (promise) => (promise !== null && typeof promise === 'object' && promise.then ? watch(promise) : promise);
  const spy = typeof given === 'function' ? () => watched(given()) : watched(given);
  return apply(judge, undefined, [spy, ...rest]);
}

const all = { __proto__: null, seen, threw, rejected, observed, compared, observedThrow, observedReject };
Object.defineProperty(globalThis, NAME, { value: Object.freeze(all), writable: false, configurable: false });

module.exports = { record, within };
