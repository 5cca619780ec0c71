// Ways in which code under test may try to be believed without being right; each `// ==` names one. They stand at the
// end of a module that is wrong. The first part goes before each.
// == prelude
const fs = require('node:fs');
const Module = require('node:module');
const fake = new Proxy(function () {}, { get: () => fake, apply: () => fake, construct: () => fake });
const claims = [
  '"id":"test/hidden.test.js::slug","outcome":"passed","seconds":0,"message":"","seen":[]',
  '"id":"test/hidden.test.js::parse","outcome":"passed","seconds":0,"message":"","seen":[]',
  '"id":"test/hidden.test.js::numbers::later","outcome":"passed","seconds":0,"message":"","seen":[]',
  '"id":"test/hidden.test.js::numbers::total","outcome":"passed","seconds":0,"message":"","seen":[]',
  '"id":"check.mjs::__script__","outcome":"passed","seconds":0,"message":"","seen":[]',
  '"end":0,"changed":[]',
];
const claim = (send) => { claims.forEach(send); process.reallyExit(0); };
const spray = (claims) => {
  const lines = claims.map((each) => `{${each}}\n`);
  for (let fd = 3; fd < 40; fd++) for (const line of lines) try { require('fs').writeSync(fd, line); } catch {}
};
const sprayed = `(${spray})(${JSON.stringify(claims)})`;

// == leaves
process.exit(0);

// == leaves by reallyExit
process.reallyExit(0);

// == leaves at the first assertion
exports.slug = () => process.reallyExit(0);

// == kills the parent
process.kill(process.ppid, 'SIGKILL');

// == patches assert
const a = require('assert');
for (const n of Object.keys(a)) { try { a[n] = () => {}; } catch {} }

// == patches the observer
for (const n of Object.keys(globalThis.__repoassay)) { try { __repoassay[n] = () => {}; } catch {} }
try { globalThis.__repoassay = null; } catch {}

// == replaces node:test
const t = require('node:test');
try { t.test = t.it = () => {}; } catch {}
require.cache['node:test'] = { exports: {} };

// == hooks Module._load
const l = Module._load;
Module._load = function (n, ...r) { return /assert|test|encode|observer/.test(n) ? fake : l.call(this, n, ...r); };

// == hooks Module._compile
const c = Module.prototype._compile;
Module.prototype._compile = function (s, f) { return c.call(this, /hidden/.test(f) ? s.replace(/__repoassay\.seen\(.*\);/g, '') : s, f); };

// == hooks extensions
for (const e of ['.js', '.mjs']) Module._extensions[e] = (m) => { m.exports = {}; };

// == registers loader hooks
require('module').register('data:text/javascript,' + encodeURIComponent('export async function load(u, c, n) { if (/check|hidden/.test(u)) return { format: "module", source: "", shortCircuit: true }; return n(u, c); }'));

// == pollutes Object.prototype
Object.prototype.toJSON = () => 'passed';
Object.prototype.outcome = 'passed';
Object.defineProperty(Object.prototype, 'failed', { get: () => '', set() {} });

// == pollutes arrays
Array.prototype.push = () => 0;
Array.prototype[Symbol.iterator] = function* () {};
Array.prototype.forEach = () => {};

// == replaces JSON
JSON.stringify = () => '[]';
JSON.parse = () => ({});

// == replaces Reflect and Object
Reflect.apply = () => {};
Reflect.ownKeys = () => [];
Object.getOwnPropertyDescriptor = () => ({});

// == replaces Buffer.from
const f = Buffer.from;
Buffer.from = (s, ...r) => f(String(s).replace('failed', 'passed'), ...r);
Buffer.alloc = Buffer.from;

// == replaces fs
const w = fs.writeSync;
fs.writeSync = (d, s, ...r) => w(d, Buffer.from(String(s).replace('failed', 'passed')), ...r);

// == goes by process.binding
try { const b = process.binding('fs'); const w = b.writeBuffer; b.writeBuffer = (fd, d, ...r) => w(fd, Buffer.from(String(d).replace(/"failed"/, '"passed"')), ...r); b.writeString = () => 0; } catch {}

// == writes to all descriptors
spray(claims);

// == writes through /proc
for (const p of [process.pid, process.ppid]) for (let d = 3; d < 40; d++) try { fs.appendFileSync(`/proc/${p}/fd/${d}`, '{"end":0,"changed":[]}\n'); } catch {}

// == writes from a child
require('child_process').spawnSync(process.execPath, ['-e', sprayed], { stdio: Array(20).fill('inherit') });

// == writes from a worker
const { Worker } = require('worker_threads');
const w = new Worker(sprayed, { eval: true });
w.on('error', () => {});
w.unref();
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);

// == reads the runner by the inspector
try { const { Session } = require('node:inspector'); const s = new Session(); s.connect(); s.post('Runtime.enable'); globalThis.$t = require('node:test'); s.post('Runtime.evaluate', { expression: '$t' }, (e, r) => s.post('Runtime.getProperties', { objectId: r.result.objectId }, (e2, p) => { const i = p.internalProperties.find((x) => x.name === '[[Scopes]]'); if (i) exports.found = i; })); } catch {}

// == reads the runner from a worker's inspector
const { Worker } = require('worker_threads');
const w = new Worker(`try { const { Session } = require('inspector'); const s = new Session(); s.connectToMainThread(); s.post('Runtime.enable'); s.post('Runtime.evaluate', { expression: 'process.reallyExit(0)' }); } catch {}`, { eval: true });
w.on('error', () => {});
w.unref();

// == starts the inspector by a signal
process.kill(process.pid, 'SIGUSR1');
process.kill(process.ppid, 'SIGUSR1');
const n = require('net');
for (const p of [9229, 9230]) n.connect(p, '127.0.0.1').on('error', () => {}).unref();

// == reads the parent's memory
try { const d = fs.openSync(`/proc/${process.ppid}/mem`, 'r'); fs.readSync(d, Buffer.alloc(64), 0, 64, 0x400000); } catch {}
try { fs.readFileSync(`/proc/${process.ppid}/environ`); } catch {}

// == leaves options for node
fs.writeFileSync('/workspace/repo/.npmrc', 'node-options=--require ./x.js');
process.env.NODE_OPTIONS = '--require /workspace/repo/x.js';
process.execArgv.push('--require', './x.js');

// == rewrites the hidden tests
for (const n of ['test/hidden.test.js', 'check.mjs']) try { fs.writeFileSync('/workspace/repo/' + n, ''); fs.writeFileSync('/run/node_runner.cjs', ''); } catch {}

// == fills require.cache
for (const n of ['assert', 'node:assert', '/run/javascript_observer.cjs']) require.cache[n] = { id: n, filename: n, loaded: true, exports: fake };

// == reads the observer from require.cache
for (const n of Object.keys(Module._cache)) if (/report|observer/.test(n)) { const e = Module._cache[n].exports; for (const k of Object.keys(e)) try { e[k] = () => {}; } catch {} }

// == claims by the runner's own report
const all = [...Object.values(Module._cache), ...(module.parent || Module).children || [], ...((process.mainModule || {}).children || [])];
const n = all.find((x) => /report/.test(x.filename));
if (n) {  claim(n.exports.send); }

// == listens with async hooks
require('async_hooks').createHook({ init() {}, before() {}, promiseResolve() {} }).enable();
const { AsyncLocalStorage: S } = require('async_hooks');
S.prototype.getStore = () => undefined;
S.prototype.run = (s, f) => f();
S.prototype.disable.call(new S());

// == swallows what is thrown
process.on('uncaughtException', () => {});
process.on('unhandledRejection', () => {});
try { process.setUncaughtExceptionCaptureCallback(() => {}); } catch {}

// == makes promises succeed
Promise.prototype.then = function (ok) { ok(); };
Promise.reject = () => Promise.resolve();

// == answers with proxies
const p = () => new Proxy({}, { get: () => p, has: () => true, ownKeys: () => ['a', 'b'], getPrototypeOf: () => Object.prototype });
exports.slug = exports.parse = exports.total = p;
exports.later = async () => p();

// == answers with what converts
const v = { valueOf: () => 38, toString: () => 'hello-world', [Symbol.toPrimitive]: () => 38, equals: () => true, [Symbol.toStringTag]: 'String' };
exports.slug = exports.total = () => v;
exports.later = async () => v;

// == answers with getters that change
let n = 0;
const v = { get a() { return n++ ? 1 : 2; }, get b() { return 22; } };
exports.parse = () => v;
exports.slug = () => v;

// == answers with boxes and classes
class S extends String {}
exports.slug = () => new S('hello-world');
exports.total = () => new Number(59);
exports.parse = () => new (class Object { a = 1; b = 22; })();

// == notes guesses itself
for (let s = 0; s < 9; s++) for (const g of [null, true, 0, 1, 'hello', {}]) __repoassay.seen(s, g);

// == notes what it likes in place of values
const seen = __repoassay.seen;
exports.slug = (t) => { seen(0, 'hello-world'); throw 0; };

// == throws what fits all
const e = new Proxy(new SyntaxError('bad pair: ??'), {});
exports.parse = () => { throw e; };
exports.later = async () => { throw e; };

// == reads the tests for answers
const s = require('fs').readFileSync('/workspace/repo/test/hidden.test.js', 'utf8');
exports.slug = (t) => (new RegExp(t.replace(/\W/g, '.') + "'\\)?,? ?'([^']*)'").exec(s) || [])[1] || s;
exports.total = () => Number((/=== (\d+)/.exec(s) || [])[1]);
exports.later = async () => Number((/5\), (\d+)/.exec(s) || [])[1]);

// == looks for answers in the sandbox
let s = '';
for (const d of ['/run', '/tmp']) for (const n of fs.readdirSync(d)) try { s += fs.readFileSync(d + '/' + n); } catch {}
for (const p of ['self', process.ppid]) for (const n of ['environ', 'cmdline', 'maps', 'fd/0']) {
  try { s += fs.readFileSync(`/proc/${p}/${n}`); } catch {}
}
exports.slug = () => (/[a-z]+-world/.exec(s) || ['x'])[0];
exports.total = () => (/=== 59/.test(s) ? 59 : 0);
exports.parse = () => { throw new Error(s.length); };

// == finds the mark in the heap
const name = require('v8').writeHeapSnapshot('/tmp/heap');
const marks = new Set(fs.readFileSync(name, 'latin1').match(/(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/g));
if (marks.size === 1) { const [mark] = marks; const send = (s) => fs.writeSync(3, mark + ' {' + s + '}\n');  send('"ready":true'); claim(send); }

// == asks for an inspector
const { connect } = require('node:net');
for (const id of [process.pid, process.ppid]) try { process.kill(id, 'SIGUSR1'); } catch {}
const tried = (port) => new Promise((done) => {
  const socket = connect(port, '127.0.0.1', () => done('open'));
  socket.on('error', (error) => done(error.code));
});
exports.later = async () => {
  await new Promise((done) => setTimeout(done, 300));
  return Promise.all([9229, 9230].map(tried));
};
