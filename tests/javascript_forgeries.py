"""Ways in which JavaScript under test may try to be believed without being right."""

from __future__ import annotations

__all__ = ["FORGERIES", "HEAP", "INSPECTED", "HIDDEN", "IDS", "RIGHT", "SCRIPT", "WRONG"]

RIGHT = """\
'use strict';
exports.slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
exports.parse = (text) => {
  const found = {};
  for (const pair of text.split(';')) {
    const match = /^(\\w+)=(\\d+)$/.exec(pair);
    if (!match) throw new SyntaxError(`bad pair: ${pair}`);
    found[match[1]] = Number(match[2]);
  }
  return found;
};
exports.later = async (n) => {
  if (n < 0) throw new RangeError('too small');
  return n * 7 + 3;
};
exports.total = (list) => list.reduce((a, b) => a + b, 0);
"""
WRONG = """\
'use strict';
exports.slug = (text) => text;
exports.parse = (text) => ({ text });
exports.later = async (n) => n;
exports.total = (list) => list.length;
"""
HIDDEN = """\
'use strict';
const assert = require('node:assert');
const { describe, it, test } = require('node:test');
const lib = require('..');
test('slug', () => {
  assert.strictEqual(lib.slug('Hello, World'), 'hello-world');
  for (const [text, slug] of [['A b', 'a-b'], [' Trim me! ', 'trim-me'], ['x__y', 'x-y']]) {
    assert.strictEqual(lib.slug(text), slug);
  }
});
test('parse', () => {
  assert.deepStrictEqual(lib.parse('a=1;b=22'), { a: 1, b: 22 });
  assert.throws(() => lib.parse('??'), { name: 'SyntaxError', message: 'bad pair: ??' });
});
describe('numbers', () => {
  it('later', async () => {
    assert.equal(await lib.later(5), 38);
    await assert.rejects(lib.later(-1), RangeError);
  });
  it('total', () => {
    assert.ok(lib.total([40, 2, 17]) === 59);
  });
});
"""
SCRIPT = """\
import assert from 'node:assert/strict';
import lib from './index.js';
assert.equal(lib.slug('Some Words'), 'some-words');
assert.deepEqual(lib.parse('key=77'), { key: 77 });
assert.equal(await lib.later(11), 80);
"""
IDS = [
    "test/hidden.test.js::slug", "test/hidden.test.js::parse", "test/hidden.test.js::numbers::later",
    "test/hidden.test.js::numbers::total", "check.mjs::__script__",
]  # fmt: skip
_LINES = ";".join(f'w(fd, \'MARK{{"id":"{name}","outcome":"passed","seconds":0,"message":"","seen":[]}}\\n\')' for name in IDS)
_SPRAY = (
    "const w = (fd, s) => { try { require('fs').writeSync(fd, s.replace('MARK', '')); } catch {} };"
    f" for (let fd = 3; fd < 40; fd++) {{ {_LINES}; w(fd, 'MARK{{\"end\":0,\"changed\":[]}}\\n'); }}"
)
_FORGE = (
    "const claim = (send) => { "
    + ";".join(f'send(\'"id":"{name}","outcome":"passed","seconds":0,"message":"","seen":[]\')' for name in IDS)
    + "; send('\"end\":0,\"changed\":[]'); process.reallyExit(0); };"
)
_FAKE = "const fake = new Proxy(function () {}, { get: () => fake, apply: () => fake, construct: () => fake });"

HEAP = (
    "const f = require('fs'); const name = require('v8').writeHeapSnapshot('/tmp/heap'); const marks = new Set("
    "f.readFileSync(name, 'latin1').match(/(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/g));"
    " if (marks.size === 1) { const [mark] = marks; const send = (s) => f.writeSync(3, mark + ' {' + s + '}\\n');"
    f" {_FORGE} send('\"ready\":true'); claim(send); }}"
)
"""Finds the runner's mark in the heap and claims with it what it likes."""
FORGERIES = {
    "leaves": "process.exit(0);",
    "leaves by reallyExit": "process.reallyExit(0);",
    "leaves at the first assertion": "exports.slug = () => process.reallyExit(0);",
    "kills the parent": "process.kill(process.ppid, 'SIGKILL');",
    "patches assert": "const a = require('assert'); for (const n of Object.keys(a)) { try { a[n] = () => {}; } catch {} }",
    "patches the observer": "for (const n of Object.keys(globalThis.__repoassay)) { try { __repoassay[n] = () => {}; } catch {} }"
    " try { globalThis.__repoassay = null; } catch {}",
    "replaces node:test": "const t = require('node:test'); try { t.test = t.it = () => {}; } catch {}"
    " require.cache['node:test'] = { exports: {} };",
    "hooks Module._load": f"{_FAKE} const M = require('module'); const l = M._load; M._load = function (n, ...r) "
    "{ return /assert|test|encode|observer/.test(n) ? fake : l.call(this, n, ...r); };",
    "hooks Module._compile": "const M = require('module'); const c = M.prototype._compile; M.prototype._compile = function (s, f)"
    " { return c.call(this, /hidden/.test(f) ? s.replace(/__repoassay\\.seen\\(.*\\);/g, '') : s, f); };",
    "hooks extensions": "const M = require('module'); for (const e of ['.js', '.mjs']) M._extensions[e] = (m) => { m.exports = {}; };",
    "registers loader hooks": "require('module').register('data:text/javascript,' + encodeURIComponent('export async function "
    "load(u, c, n) { if (/check|hidden/.test(u)) return { format: \"module\", source: \"\", shortCircuit: true };"
    " return n(u, c); }'));",
    "pollutes Object.prototype": "Object.prototype.toJSON = () => 'passed'; Object.prototype.outcome = 'passed';"
    " Object.defineProperty(Object.prototype, 'failed', { get: () => '', set() {} });",
    "pollutes arrays": "Array.prototype.push = () => 0; Array.prototype[Symbol.iterator] = function* () {};"
    " Array.prototype.forEach = () => {};",
    "replaces JSON": "JSON.stringify = () => '[]'; JSON.parse = () => ({});",
    "replaces Reflect and Object": "Reflect.apply = () => {}; Reflect.ownKeys = () => []; Object.getOwnPropertyDescriptor = () => ({});",
    "replaces Buffer.from": "const f = Buffer.from; Buffer.from = (s, ...r) => f(String(s).replace('failed', 'passed'), ...r);"
    " Buffer.alloc = Buffer.from;",
    "replaces fs": "const fs = require('fs'); const w = fs.writeSync; fs.writeSync = (d, s, ...r) =>"
    " w(d, Buffer.from(String(s).replace('failed', 'passed')), ...r);",
    "goes by process.binding": "try { const b = process.binding('fs'); const w = b.writeBuffer; b.writeBuffer = (fd, d, ...r) =>"
    " w(fd, Buffer.from(String(d).replace(/\"failed\"/, '\"passed\"')), ...r); b.writeString = () => 0; } catch {}",
    "writes to all descriptors": _SPRAY,
    "writes through /proc": "const f = require('fs'); for (const p of [process.pid, process.ppid]) for (let d = 3; d < 40; d++) try {"
    " f.appendFileSync(`/proc/${p}/fd/${d}`, '{\"end\":0,\"changed\":[]}\\n'); } catch {}",
    "writes from a child": "require('child_process').spawnSync(process.execPath, ['-e', "
    + repr(_SPRAY).replace("\\\\n", "\\\\\\\\n")
    + "], { stdio: Array(20).fill('inherit') });",
    "writes from a worker": "const { Worker } = require('worker_threads'); const w = new Worker("
    f"`{_SPRAY}`, {{ eval: true }}); w.on('error', () => {{}}); w.unref();"
    " Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);",
    "reads the runner by the inspector": f"{_FORGE} try {{ const {{ Session }} = require('node:inspector'); const s = new Session();"
    " s.connect(); s.post('Runtime.enable'); globalThis.$t = require('node:test'); s.post('Runtime.evaluate', { expression: '$t' },"
    " (e, r) => s.post('Runtime.getProperties', { objectId: r.result.objectId }, (e2, p) => {"
    " const i = p.internalProperties.find((x) => x.name === '[[Scopes]]'); if (i) exports.found = i; })); } catch {}",
    "reads the runner from a worker's inspector": "const { Worker } = require('worker_threads'); const w = new Worker("
    "`try { const { Session } = require('inspector'); const s = new Session(); s.connectToMainThread();"
    " s.post('Runtime.enable'); s.post('Runtime.evaluate', { expression: 'process.reallyExit(0)' }); } catch {}`,"
    " { eval: true }); w.on('error', () => {}); w.unref();",
    "starts the inspector by a signal": "process.kill(process.pid, 'SIGUSR1'); process.kill(process.ppid, 'SIGUSR1');"
    " const n = require('net'); for (const p of [9229, 9230]) n.connect(p, '127.0.0.1').on('error', () => {}).unref();",
    "reads the parent's memory": "const f = require('fs'); try { const d = f.openSync(`/proc/${process.ppid}/mem`, 'r');"
    " f.readSync(d, Buffer.alloc(64), 0, 64, 0x400000); } catch {} try { f.readFileSync(`/proc/${process.ppid}/environ`); } catch {}",
    "leaves options for node": "const f = require('fs'); f.writeFileSync('/workspace/repo/.npmrc', 'node-options=--require ./x.js');"
    " process.env.NODE_OPTIONS = '--require /workspace/repo/x.js'; process.execArgv.push('--require', './x.js');",
    "rewrites the hidden tests": "const f = require('fs'); for (const n of ['test/hidden.test.js', 'check.mjs']) try {"
    " f.writeFileSync('/workspace/repo/' + n, ''); f.writeFileSync('/run/node_runner.cjs', ''); } catch {}",
    "fills require.cache": f"{_FAKE} for (const n of ['assert', 'node:assert', '/run/javascript_observer.cjs'])"
    " require.cache[n] = { id: n, filename: n, loaded: true, exports: fake };",
    "reads the observer from require.cache": "const M = require('module'); for (const n of Object.keys(M._cache)) if (/report|observer/"
    ".test(n)) { const e = M._cache[n].exports; for (const k of Object.keys(e)) try { e[k] = () => {}; } catch {} }",
    "claims by the runner's own report": "const M = require('module'); const all = [...Object.values(M._cache), ...(module.parent || M)"
    ".children || [], ...((process.mainModule || {}).children || [])]; const n = all.find((x) => /report/.test(x.filename));"
    f" if (n) {{ {_FORGE} claim(n.exports.send); }}",
    "listens with async hooks": "require('async_hooks').createHook({ init() {}, before() {}, promiseResolve() {} }).enable();"
    " const { AsyncLocalStorage: S } = require('async_hooks'); S.prototype.getStore = () => undefined; S.prototype.run = (s, f) => f();"
    " S.prototype.disable.call(new S());",
    "swallows what is thrown": "process.on('uncaughtException', () => {}); process.on('unhandledRejection', () => {});"
    " try { process.setUncaughtExceptionCaptureCallback(() => {}); } catch {}",
    "makes promises succeed": "Promise.prototype.then = function (ok) { ok(); }; Promise.reject = () => Promise.resolve();",
    "answers with proxies": "const p = () => new Proxy({}, { get: () => p, has: () => true, ownKeys: () => ['a', 'b'],"
    " getPrototypeOf: () => Object.prototype }); exports.slug = exports.parse = exports.total = p; exports.later = async () => p();",
    "answers with what converts": "const v = { valueOf: () => 38, toString: () => 'hello-world', [Symbol.toPrimitive]: () => 38,"
    " equals: () => true, [Symbol.toStringTag]: 'String' }; exports.slug = exports.total = () => v; exports.later = async () => v;",
    "answers with getters that change": "let n = 0; const v = { get a() { return n++ ? 1 : 2; }, get b() { return 22; } };"
    " exports.parse = () => v; exports.slug = () => v;",
    "answers with boxes and classes": "class S extends String {} exports.slug = () => new S('hello-world');"
    " exports.total = () => new Number(59); exports.parse = () => new (class Object { a = 1; b = 22; })();",
    "notes guesses itself": "for (let s = 0; s < 9; s++) for (const g of [null, true, 0, 1, 'hello', {}]) __repoassay.seen(s, g);",
    "notes what it likes in place of values": "const seen = __repoassay.seen; exports.slug = (t) => { seen(0, 'hello-world'); throw 0; };",
    "throws what fits all": "const e = new Proxy(new SyntaxError('bad pair: ??'), {}); exports.parse = () => { throw e; };"
    " exports.later = async () => { throw e; };",
    "reads the tests for answers": "const s = require('fs').readFileSync('/workspace/repo/test/hidden.test.js', 'utf8');"
    " exports.slug = (t) => (new RegExp(t.replace(/\\W/g, '.') + \"'\\\\)?,? ?'([^']*)'\").exec(s) || [])[1] || s;"
    " exports.total = () => Number((/=== (\\d+)/.exec(s) || [])[1]); exports.later = async () => Number((/5\\), (\\d+)/.exec(s) || [])[1]);",
    "looks for answers in the sandbox": "const f = require('fs'); let s = ''; for (const d of ['/run', '/tmp', '/proc/self', `/proc/${process.ppid}`])"
    " try { for (const n of f.readdirSync(d)) try { const k = d + '/' + n; if (f.statSync(k).isFile()) s += f.readFileSync(k, 'latin1'); }"
    " catch {} } catch {} exports.slug = () => (/[a-z]+-world/.exec(s) || ['x'])[0]; exports.total = () => (/59/.test(s) ? 59 : 0);"
    " exports.parse = () => { throw new Error(s.length); };",
}  # fmt: skip
INSPECTED = """\
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
"""
"""Asks for an inspector by a signal, and tells whether one listens."""
