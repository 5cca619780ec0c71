// Runs hidden tests written for node's test runner inside the sandbox and reports each over the private channel.
// Trusted code, hostile company: started as `node node_runner.cjs` with a job as JSON on standard input: `files`,
// `scripts` (those of them that hold no tests and must run to their end), `root` (where they lie) and `key` (hex; signs
// every line). One line a test: `<hmac> <json>`, numbered, then an `end`.
//
// The code under test shares the process, since a test calls it. It cannot sign: the key is read from the pipe before
// any of it is loaded, lies in a typed array that only this file's functions can name, and is hashed by arithmetic of
// our own, which no changed prototype can listen to. What it can do is what canaries are for.
'use strict';

const fs = require('node:fs');
const Module = require('node:module');
const assert = require('node:assert');
const { pathToFileURL } = require('node:url');

const job = JSON.parse(fs.readFileSync(0, 'utf8'));
const channel = Number(process.env.REPOASSAY_CHANNEL);
delete process.env.REPOASSAY_CHANNEL;

const write = fs.writeSync;
const leave = process.reallyExit.bind(process);
const now = performance.now.bind(performance);
const round = Math.round;
const codeOf = Function.prototype.call.bind(String.prototype.charCodeAt);
const cut = Function.prototype.call.bind(String.prototype.slice);
const text = String;
const Bytes = Uint8Array;
const Words = Uint32Array;
const realMock = require('node:test').mock;
const HEX = '0123456789abcdef';
const MESSAGE = 4000;

// SHA-256 and HMAC (FIPS 180-4, RFC 2104) over bytes, touching nothing but typed arrays and numbers.
const K = new Words([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);

function sha256(data, length) {
  const blocks = ((length + 8) >> 6) + 1;
  const padded = new Bytes(blocks * 64);
  for (let i = 0; i < length; i++) padded[i] = data[i];
  padded[length] = 0x80;
  for (let i = 0; i < 4; i++) padded[blocks * 64 - 1 - i] = (length * 8) >>> (8 * i);
  const h = new Words(8);
  h[0] = 0x6a09e667; h[1] = 0xbb67ae85; h[2] = 0x3c6ef372; h[3] = 0xa54ff53a;
  h[4] = 0x510e527f; h[5] = 0x9b05688c; h[6] = 0x1f83d9ab; h[7] = 0x5be0cd19;
  const w = new Words(64);
  for (let block = 0; block < blocks; block++) {
    for (let i = 0; i < 16; i++) {
      const at = block * 64 + i * 4;
      w[i] = (padded[at] << 24) | (padded[at + 1] << 16) | (padded[at + 2] << 8) | padded[at + 3];
    }
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15];
      const y = w[i - 2];
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    let a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], z = h[7];
    for (let i = 0; i < 64; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (z + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      z = g; g = f; f = e; e = (d + t1) | 0; d = c; c = b; b = a; a = (t1 + t2) | 0;
    }
    h[0] += a; h[1] += b; h[2] += c; h[3] += d; h[4] += e; h[5] += f; h[6] += g; h[7] += z;
  }
  const digest = new Bytes(32);
  for (let i = 0; i < 32; i++) digest[i] = h[i >> 2] >>> (24 - 8 * (i & 3));
  return digest;
}

const inner = new Bytes(64);
const outer = new Bytes(64);
for (let i = 0; i < 64; i++) {
  const byte = i < 32 ? parseInt(job.key.slice(2 * i, 2 * i + 2), 16) : 0;
  inner[i] = byte ^ 0x36;
  outer[i] = byte ^ 0x5c;
}
delete job.key;

function sign(body) {
  const length = body.length;
  const first = new Bytes(64 + length);
  for (let i = 0; i < 64; i++) first[i] = inner[i];
  for (let i = 0; i < length; i++) first[64 + i] = codeOf(body, i);
  const digest = sha256(first, 64 + length);
  const second = new Bytes(96);
  for (let i = 0; i < 64; i++) second[i] = outer[i];
  for (let i = 0; i < 32; i++) second[64 + i] = digest[i];
  const signed = sha256(second, 96);
  let hex = '';
  for (let i = 0; i < 32; i++) hex += HEX[signed[i] >> 4] + HEX[signed[i] & 15];
  return hex;
}

function quoted(value) {
  let said = '"';
  for (let i = 0; i < value.length; i++) {
    const code = codeOf(value, i);
    if (code === 34 || code === 92) said += '\\' + value[i];
    else if (code >= 32 && code < 127) said += value[i];
    else said += '\\u' + HEX[code >> 12] + HEX[(code >> 8) & 15] + HEX[(code >> 4) & 15] + HEX[code & 15];
  }
  return said + '"';
}

let sent = 0;
function send(fields) {
  const body = '{' + fields + ',"n":' + sent++ + '}';
  let line = sign(body) + ' ' + body + '\n';
  while (line !== '') line = cut(line, write(channel, line));
}

function said(error) {
  try {
    const stack = error !== null && typeof error === 'object' ? error.stack || error.message || error : error;
    return cut(text(stack), 0, MESSAGE);
  } catch {
    return 'it threw what cannot be shown';
  }
}

function report(id, outcome, started, message) {
  const seconds = round((now() - started) * 10) / 10000;
  send('"id":' + quoted(id) + ',"outcome":"' + outcome + '","seconds":' + seconds + ',"message":' + quoted(message));
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

// Tests, suites and hooks as they are declared: lists without prototypes, so that nothing else has a say in them.
function list() {
  return { __proto__: null, first: null, last: null };
}
function append(to, value) {
  const entry = { __proto__: null, value, next: null };
  if (to.last === null) to.first = entry;
  else to.last.next = entry;
  to.last = entry;
}
function suite(name, parent) {
  return {
    __proto__: null, name, parent, children: list(), before: list(), after: list(), beforeEach: list(),
    afterEach: list(), skip: false,
  };
}
let current = suite('', null);

function given(name, options, fn) {
  if (typeof name === 'function') return given(name.name || '<anonymous>', {}, name);
  if (typeof options === 'function') return given(name, {}, options);
  return { __proto__: null, name: text(name), options: options || {}, fn };
}
function pathOf(of, name) {
  let path = name;
  for (let at = of; at !== null && at.parent !== null; at = at.parent) path = at.name + '::' + path;
  return path;
}
function declare(name, options, fn) {
  const what = given(name, options, fn);
  append(current.children, { __proto__: null, ...what, suite: null });
}
function group(name, options, fn) {
  const what = given(name, options, fn);
  const made = suite(what.name, current);
  made.skip = Boolean(what.options.skip || what.options.todo || current.skip);
  append(current.children, { __proto__: null, name: what.name, options: {}, fn: null, suite: made });
  const outer = current;
  current = made;
  try {
    if (what.fn) what.fn({ name: what.name });
  } finally {
    current = outer;
  }
}
function hook(kind) {
  return (fn) => append(current[kind], fn);
}
function variant(of, option) {
  return (name, options, fn) => {
    const what = given(name, options, fn);
    of(what.name, { ...what.options, [option]: true }, what.fn);
  };
}

async function call(fn, context) {
  if (fn.length < 2) return fn(context);
  return new Promise((done, failed) => {
    Promise.resolve(fn(context, (error) => (error ? failed(error) : done()))).catch(failed);
  });
}
async function hooks(of, kind, inward) {
  if (of === null) return;
  if (!inward) for (let at = of[kind].first; at !== null; at = at.next) await call(at.value, {});
  await hooks(of.parent, kind, inward);
  if (inward) for (let at = of[kind].first; at !== null; at = at.next) await call(at.value, {});
}

async function run(what, of, id) {
  const started = now();
  if (of.skip || what.options.skip || what.options.todo || !what.fn) return report(id, 'skipped', started, 'skipped');
  let skipped = false;
  let failed = '';
  const context = {
    name: what.name, signal: new AbortController().signal, mock: realMock, diagnostic() {}, plan() {},
    skip() { skipped = true; },
    todo() { skipped = true; },
    async test(name, options, fn) {
      const inside = given(name, options, fn);
      if (!(await run(inside, of, id + '::' + inside.name))) failed = failed || 'the subtest ' + inside.name + ' failed';
    },
  };
  try {
    await hooks(of, 'beforeEach', true);
    await call(what.fn, context);
  } catch (error) {
    failed = said(error) || 'it threw';
  }
  try {
    await hooks(of, 'afterEach', false);
  } catch (error) {
    failed = failed || said(error) || 'a hook threw';
  }
  report(id, failed ? 'failed' : skipped ? 'skipped' : 'passed', started, failed);
  return !failed;
}

async function runSuite(of, file) {
  for (let at = of.before.first; at !== null; at = at.next) await call(at.value, {});
  for (let at = of.children.first; at !== null; at = at.next) {
    const what = at.value;
    if (what.suite !== null) await runSuite(what.suite, file);
    else await run(what, of, file + '::' + pathOf(of, what.name));
  }
  for (let at = of.after.first; at !== null; at = at.next) await call(at.value, {});
}

// A script without tests is one test: that it runs to its end. Its end is when nothing is left for the event loop, so
// whatever it had started must be told from what was kept from running: `javascript_script.py` puts calls of these into
// its source, which count asynchronous functions entered and not left, and callbacks that assert and were never called.
const script = { __proto__: null, id: '', started: 0, loaded: false, owed: 0, code: 0, broken: '', done: null };
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
  report(script.id, 'failed', script.started, why);
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
  script.id = name + '::__script__';
  script.started = now();
  script.loaded = false;
  script.owed = script.code = 0;
  script.broken = '';
  const drained = new Promise((done) => { script.done = done; });
  let why = '';
  try {
    await import(url);
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
  report(script.id, why ? 'failed' : 'passed', script.started, why);
  script.id = '';
}

for (const of of [declare, group]) {
  for (const option of ['skip', 'todo']) of[option] = variant(of, option);
  of.only = of;
}
const api = require('./node_test.cjs');
Object.assign(api, {
  test: declare, it: declare, describe: group, suite: group, mock: realMock, default: declare,
  before: hook('before'), after: hook('after'), beforeEach: hook('beforeEach'), afterEach: hook('afterEach'),
});
for (const name of Object.keys(api)) declare[name] = api[name];
Object.freeze(declare);
Object.freeze(group);
// Packages may hook the loader; whoever asks for tests or assertions gets these, whatever the hooks say.
const ASSERT = { __proto__: null, assert, 'node:assert': assert, 'assert/strict': assert.strict };
ASSERT['node:assert/strict'] = assert.strict;
ASSERT['node:test'] = ASSERT.test = declare;
Object.freeze(ASSERT);
function guarded(of, name) {
  let current = of[name];
  const set = (theirs) => {
    current = function (request, ...rest) {
      const ours = typeof request === 'string' ? ASSERT[request] : undefined;
      return ours === undefined ? apply(theirs, this, [request, ...rest]) : ours;
    };
  };
  set(current);
  Object.defineProperty(of, name, { get: () => current, set, configurable: false, enumerable: true });
}
guarded(Module, '_load');
guarded(Module.prototype, 'require');
if (Module.register) {
  const target = JSON.stringify(pathToFileURL(require.resolve('./node_test.mjs')).href);
  const hooked = `export async function resolve(specifier, context, next) {
    return specifier === 'node:test' ? { url: ${target}, shortCircuit: true } : next(specifier, context);
  }`;
  Module.register('data:text/javascript,' + encodeURIComponent(hooked));
}

(async () => {
  const files = list();
  for (let i = 0; i < job.files.length; i++) {
    const name = job.files[i];
    const alone = job.scripts.includes(name);
    append(files, { __proto__: null, name, alone, url: pathToFileURL(job.root + '/' + name).href });
  }
  if (job.scripts.length) prepare();
  process.chdir(job.root);
  send('"ready":true'); // whatever goes wrong before this line is not the submission's doing
  for (let at = files.first; at !== null; at = at.next) {
    current = suite('', null);
    const top = current;
    if (at.value.alone) {
      await runScript(at.value.name, at.value.url);
      continue;
    }
    try {
      await import(at.value.url);
      await runSuite(top, at.value.name);
    } catch (error) {
      send('"collect":' + quoted(at.value.name) + ',"message":' + quoted(said(error)));
    }
  }
  send('"end":0,"changed":[]');
  leave(0); // nothing of the repository's runs after this
})();
