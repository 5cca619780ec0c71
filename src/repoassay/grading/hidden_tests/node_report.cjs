// Claims of `node_runner.cjs` on what each test came to, and what keeps crude lies about them from working.
'use strict';

const fs = require('node:fs');
const assert = require('node:assert');
const { cut, quote } = require('./javascript_encode.cjs');

const job = JSON.parse(fs.readFileSync(0, 'utf8'));
const { mark } = job;
const channel = 3;

const write = fs.writeSync;
const bytes = Buffer.from;
const leave = process.reallyExit.bind(process);
const now = performance.now.bind(performance);
const round = Math.round;
const text = String;
const MESSAGE = 4000;

function send(fields) {
  const line = bytes(mark + ' {' + fields + '}\n');
  for (let at = 0; at < line.length;) at += write(channel, line, at);
}

function said(error) {
  try {
    const stack = error !== null && typeof error === 'object' ? error.stack || error.message || error : error;
    return cut(text(stack), 0, MESSAGE);
  } catch {
    return 'it threw what cannot be shown';
  }
}

function report(id, outcome, started, message, noted) {
  const seconds = round((now() - started) * 10) / 10000;
  noted.open = false;
  const values = ',"seen":[' + noted.seen + ']';
  send('"id":' + quote(id) + ',"outcome":"' + outcome + '","seconds":' + seconds + ',"message":' + quote(message) + values);
}

// What the code under test may not change: how assertions judge, and how awaiting a promise ends.
for (const part of [assert, assert.strict, assert.AssertionError, assert.AssertionError.prototype]) Object.freeze(part);
function keep(of, name) {
  const kept = { value: of[name], writable: false, configurable: false, enumerable: false };
  Object.defineProperty(of, name, kept);
}
for (const name of ['then', 'catch', 'finally', 'constructor']) keep(Promise.prototype, name);
for (const name of ['all', 'allSettled', 'any', 'race', 'reject', 'resolve']) keep(Promise, name);
keep(process, '_fatalException');

module.exports = { job, keep, leave, now, report, said, send };
