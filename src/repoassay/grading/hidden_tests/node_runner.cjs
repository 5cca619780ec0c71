// Runs hidden tests written for node's test runner in a process that they share with the code under test, and claims
// what each came to. Started by `node_parent.cjs` with a job as JSON on standard input: `files`, `scripts` (those of them
// that hold no tests and must run to their end), `root` (where they lie) and `mark` (begins every line of ours).
//
// Nothing here is secret and nothing here is proof. What is frozen and kept makes crude lies fail; the values that
// `javascript_observer.cjs` notes with each test are what a verdict can rest on.
'use strict';

const Module = require('node:module');
const assert = require('node:assert');
const { pathToFileURL } = require('node:url');
const { quote } = require('./javascript_encode.cjs');
const observer = require('./javascript_observer.cjs');
const { job, leave, now, report, said, send } = require('./node_report.cjs');
const { prepare, runScript } = require('./node_script.cjs');

const text = String;
const { apply } = Reflect;
const realMock = require('node:test').mock;

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
  const noted = observer.record();
  if (of.skip || what.options.skip || what.options.todo || !what.fn) {
    return report(id, 'skipped', started, 'skipped', noted);
  }
  let skipped = false;
  let failed = '';
  const context = {
    name: what.name, signal: new AbortController().signal, mock: realMock, assert, diagnostic() {}, plan() {},
    skip() { skipped = true; },
    todo() { skipped = true; },
    async test(name, options, fn) {
      const inside = given(name, options, fn);
      if (!(await run(inside, of, id + '::' + inside.name))) failed = failed || 'the subtest ' + inside.name + ' failed';
    },
  };
  try {
    await observer.within(noted, async () => {
      await hooks(of, 'beforeEach', true);
      await call(what.fn, context);
    });
  } catch (error) {
    failed = said(error) || 'it threw';
  }
  try {
    await observer.within(noted, () => hooks(of, 'afterEach', false));
  } catch (error) {
    failed = failed || said(error) || 'a hook threw';
  }
  report(id, failed ? 'failed' : skipped ? 'skipped' : 'passed', started, failed, noted);
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
process.on('SIGUSR1', () => {}); // else it starts the inspector
const DEBUGGERS = ['inspector', 'node:inspector', 'inspector/promises', 'node:inspector/promises'];
for (const name of DEBUGGERS) {
  // Whoever debugs the process reads this runner's variables. A worker's loader is its own: this shuts no last door.
  Object.defineProperty(ASSERT, name, { get() { throw new Error('The inspector is not to be had in hidden tests.'); } });
}
Object.freeze(ASSERT);
const copied = (name, found) => (name === 'binding' ? { ...found } : found);
for (const name of ['binding', 'getBuiltinModule']) {
  const theirs = process[name];
  if (typeof theirs !== 'function') continue;
  // Of a binding a copy: what node itself calls there is not to be had.
  const ours = (request) => ASSERT[request] ?? copied(name, apply(theirs, process, [request]));
  Object.defineProperty(process, name, { value: ours, writable: false, configurable: false, enumerable: true });
}
guarded(Module, '_load');
guarded(Module.prototype, 'require');
if (Module.register) {
  const target = JSON.stringify(pathToFileURL(require.resolve('./node_test.mjs')).href);
  const hooked = `export async function resolve(specifier, context, next) {
    if (/^(node:)?inspector/.test(specifier)) throw new Error('The inspector is not to be had in hidden tests.');
    return specifier === 'node:test' ? { url: ${target}, shortCircuit: true } : next(specifier, context);
  }`;
  Module.register('data:text/javascript,' + encodeURIComponent(hooked));
}

// What was loaded so far is ours, and nobody's to require.
for (const name of Object.keys(require.cache)) if (!name.endsWith('/node_test.cjs')) delete require.cache[name];
module.children.length = 0;
process.mainModule = undefined;

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
      send('"collect":' + quote(at.value.name) + ',"message":' + quote(said(error)));
    }
  }
  send('"end":0,"changed":[]');
  leave(0); // nothing of the repository's runs after this
})();
