// A script without tests in the place of a test: `node_runner.cjs` runs it, and this tells whether it ran to its end.
'use strict';

const assert = require('node:assert');
const observer = require('./javascript_observer.cjs');
const { keep, leave, now, report, said, send } = require('./node_report.cjs');

// A script without tests is one test: that it runs to its end. Its end is when nothing is left for the event loop, so
// whatever it had started must be told from what was kept from running: `javascript_script.py` puts calls of these into
// its source, which count asynchronous functions entered and not left, and callbacks that assert and were never called.
const script = { __proto__: null, id: '', started: 0, loaded: false, owed: 0, code: 0, broken: '', done: null, noted: null };
const later = setImmediate;
const active = process.getActiveResourcesInfo.bind(process);
const GuardedCall = Proxy;
const apply = Reflect.apply;
const settle = Function.prototype.call.bind(Promise.prototype.then);
const failing = assert.AssertionError;
const isPromise = require('node:util').types.isPromise;
const WORK = ['Timeout', 'Immediate', 'FSReqCallback', 'FSReqPromise', 'GetAddrInfoReqWrap', 'ProcessWrap', 'Worker'];
Object.freeze(WORK);

function owing() {
  let open = true;
  script.owed++;
  return () => {
    if (open) script.owed--;
    open = false;
  };
}
function judged(error) {
  if (error instanceof failing) script.broken = script.broken || said(error);
}
function owe(fn) {
  if (typeof fn !== 'function') return fn;
  const release = owing();
  return new GuardedCall(fn, {
    __proto__: null,
    apply(target, self, args) {
      try {
        const result = apply(target, self, args);
        if (isPromise(result)) settle(result, release, (error) => { release(); judged(error); });
        else release();
        return result;
      } catch (error) {
        release();
        judged(error);
        throw error;
      }
    },
  });
}
function giveUp(why) {
  report(script.id, 'failed', script.started, why, script.noted);
  send('"end":0,"changed":[]');
  leave(1);
}
const watch = {
  __proto__: null,
  owe,
  begin: owing,
  exit(code) { giveUp('it called process.exit(' + (typeof code === 'number' ? code : '') + ')'); },
  get exitCode() { return script.code || undefined; },
  set exitCode(code) { script.code = script.code || (typeof code === 'number' ? code : typeof code === 'string' ? 1 : 0); },
};
Object.freeze(watch);

// Told by anybody that the loop has run empty, look for oneself, when all that was about to run has run.
function looked() {
  if (!script.loaded) return;
  later(() => {
    const found = active();
    for (let i = 0; i < found.length; i++) {
      for (let k = 0; k < WORK.length; k++) if (found[i] === WORK[k]) return;
    }
    if (script.done !== null) script.done();
  });
}
function prepare() {
  // What a script's own loops and comparisons go by: with another iterator its assertions would never be reached.
  const steps = [[], new Map(), new Set()].map((each) => Object.getPrototypeOf(each[Symbol.iterator]()));
  for (const of of [Array.prototype, Map.prototype, Set.prototype, ...steps, Object, JSON, Reflect]) {
    for (const name of Reflect.ownKeys(of)) {
      const found = Object.getOwnPropertyDescriptor(of, name);
      if (typeof found.value === 'function' && found.configurable) keep(of, name);
    }
  }
  process.on('beforeExit', looked);
  process.setUncaughtExceptionCaptureCallback((error) => {
    if (script.id !== '') giveUp(said(error) || 'it threw');
    leave(1);
  });
  const refused = { value: () => undefined, writable: false, configurable: false, enumerable: true };
  Object.defineProperty(process, 'setUncaughtExceptionCaptureCallback', refused);
  const name = '__repoassay_script';
  Object.defineProperty(globalThis, name, { value: watch, writable: false, configurable: false, enumerable: false });
}
async function runScript(name, url) {
  script.noted = observer.record();
  script.id = name + '::__script__';
  script.started = now();
  script.loaded = false;
  script.owed = script.code = 0;
  script.broken = '';
  const drained = new Promise((done) => { script.done = done; });
  let why = '';
  try {
    await observer.within(script.noted, () => import(url));
    script.loaded = true;
    await drained;
  } catch (error) {
    why = said(error) || 'it threw';
  }
  script.done = null;
  why = why || script.broken;
  const code = script.code || process.exitCode;
  if (!why && code) why = 'it ended with the exit code ' + code;
  if (!why && script.owed) why = 'it ended before ' + script.owed + ' of its functions had run to their ends';
  report(script.id, why ? 'failed' : 'passed', script.started, why, script.noted);
  script.id = '';
}

module.exports = { prepare, runScript };
