// Tells what each test came to, from within the main process of a JavaScript runner: node's, AVA, Vitest, Jest, Mocha or,
// as it starts them itself, of files that print TAP, by tap or tape, of Jasmine's or uvu's (REPOASSAY_READER). One line of JSON a test on the pipe
// REPOASSAY_RESULTS: `file`, `names` (suites, then the test), `outcome`, `seconds` and `message`; `broken` with a message
// for a file that could not be run; `end` when all is told.
//
// Where the runner has a process of its own for tests, this is not it, and the pipe is not open there. Nothing here is
// secret, and what is told is a claim: altered copies of the tests are what doubts it.
'use strict';

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { createInterface } = require('node:readline');
const { pathToFileURL } = require('node:url');

const write = fs.writeSync;
const bytes = Buffer.from;
const text = JSON.stringify;
const pipe = opened(Number(process.env.REPOASSAY_RESULTS));
const root = process.env.REPOASSAY_ROOT || process.cwd(); // the repository's; tests may be started below
const MESSAGE = 4000;
process.on('SIGUSR1', () => {}); // else anybody of our own user starts our inspector with it

/** Mocha starts itself anew where options are node's (`--import`), without our pipe: it is then that of the process above. */
function opened(number) {
  const [own, above] = [process.pid, process.ppid].map((each) => `/proc/${each}/fd/${number}`);
  try {
    const anew = process.env.REPOASSAY_READER === 'mocha' && fs.readlinkSync(above).startsWith('pipe:');
    if (anew && (!fs.existsSync(`/proc/self/fd/${number}`) || fs.readlinkSync(own) !== fs.readlinkSync(above))) {
      return fs.openSync(above, 'w');
    }
  } catch {} // the process that started the runner does not let anybody look
  return number;
}

function tell(fields) {
  for (let line = bytes(text(fields) + '\n'); line.length;) {
    try {
      line = line.subarray(write(pipe, line));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

function placed(file) {
  const full = String(file ?? '').replace(/^file:\/\//, '');
  return path.relative(root, path.resolve(full));
}

function said(error) {
  if (error === null || error === undefined) return '';
  const shown = error.cause?.stack ?? error.stack ?? error.message ?? error;
  return String(shown).slice(0, MESSAGE);
}

function test(file, names, outcome, milliseconds, message) {
  const seconds = Math.max(0, Number(milliseconds) || 0) / 1000;
  tell({ file: placed(file), names: names.map(String), outcome, seconds, message: String(message ?? '').slice(0, MESSAGE) });
}

function broken(file, message) {
  tell({ broken: placed(file), message: String(message ?? '').slice(0, MESSAGE) });
}

/** A reporter of `node --test`: suites are told from tests by what `test:start` said before. */
async function* node(events) {
  const open = new Map();
  for await (const { type, data } of events) {
    if (!['test:start', 'test:pass', 'test:fail'].includes(type)) continue;
    const stack = open.get(data.file) ?? [];
    open.set(data.file, stack);
    stack.length = data.nesting;
    stack[data.nesting] = data.name;
    if (type === 'test:start' || data.details?.type === 'suite') continue;
    const failed = type === 'test:fail';
    if (data.file === undefined || placed(data.name) === placed(data.file)) {
      if (failed) broken(data.file ?? data.name, said(data.details?.error)); // a file, not a test
      continue;
    }
    const skipped = data.skip !== undefined || data.todo !== undefined;
    const outcome = skipped ? 'skipped' : failed ? 'failed' : 'passed';
    test(data.file, stack, outcome, data.details?.duration_ms, said(data.details?.error));
  }
  tell({ end: true });
  yield '';
}

/** A reporter of Vitest, for its tree of tasks (before version 3) and its modules (since). */
class Vitest {
  onTestRunEnd(modules, errors) {
    this.told = true;
    for (const module of modules) {
      for (const error of module.errors?.() ?? []) broken(module.moduleId, said(error));
      for (const each of module.children.allTests()) {
        const names = [];
        for (let at = each; at && at.type !== 'module'; at = at.parent) names.unshift(at.name);
        const { state, errors: why } = each.result();
        const outcome = { passed: 'passed', failed: 'failed', skipped: 'skipped' }[state] ?? 'error';
        test(module.moduleId, names, outcome, each.diagnostic()?.duration, said(why?.[0]));
      }
    }
    for (const error of errors ?? []) broken('', said(error));
    tell({ end: true });
  }

  onFinished(files, errors) {
    if (this.told) return;
    const walk = (task, file, names) => {
      if (task.tasks) return task.tasks.forEach((each) => walk(each, file, [...names, each.name]));
      const outcome = { pass: 'passed', fail: 'failed' }[task.result?.state] ?? 'skipped';
      return test(file, names, outcome, task.result?.duration, said(task.result?.errors?.[0] ?? task.result?.error));
    };
    for (const file of files ?? []) {
      if (file.result?.state === 'fail' && !file.tasks.length) broken(file.filepath, said(file.result.errors?.[0]));
      walk(file, file.filepath, []);
    }
    for (const error of errors ?? []) broken('', said(error));
    tell({ end: true });
  }
}

/** A reporter of Jest. */
class Jest {
  onTestResult(_, result) {
    if (result.testExecError) broken(result.testFilePath, result.failureMessage ?? said(result.testExecError));
    for (const each of result.testResults) {
      const outcome = { passed: 'passed', failed: 'failed' }[each.status] ?? 'skipped';
      const names = [...each.ancestorTitles, each.title];
      test(result.testFilePath, names, outcome, each.duration, each.failureMessages.join('\n'));
    }
  }

  onRunComplete() {
    tell({ end: true });
  }

  getLastError() {}
}

/** A reporter of Mocha. */
function Mocha(runner) {
  const names = (each) => each.titlePath();
  runner.on('pass', (each) => test(each.file, names(each), 'passed', each.duration));
  runner.on('pending', (each) => test(each.file, names(each), 'skipped', 0));
  runner.on('fail', (each, error) => {
    if (each.type === 'hook') return broken(each.file ?? each.parent?.file, said(error));
    return test(each.file, names(each), 'failed', each.duration, said(error));
  });
  runner.on('end', () => tell({ end: true }));
}

/** AVA takes no reporter: its own for TAP is made to tell as well, and AVA started. */
async function ava() {
  const homes = [process.cwd(), root].map((each) => path.join(each, 'node_modules', 'ava'));
  const home = homes.find((each) => fs.existsSync(each)) ?? homes[1];
  const colours = path.join(home, 'lib/chalk.js'); // up to version 3, reporters want it chosen before they are loaded
  const { type } = JSON.parse(fs.readFileSync(path.join(home, 'package.json'), 'utf8'));
  if (type !== 'module' && fs.existsSync(colours)) {
    const module = require(colours);
    const chosen = module.set({ level: 0 });
    module.set = () => chosen;
  }
  const found = await import(pathToFileURL(path.join(home, 'lib/reporters/tap.js')));
  const { prototype } = found.default;
  const { consumeStateChange, endRun } = prototype;
  prototype.consumeStateChange = function (event) {
    const error = event.err?.formattedError ?? event.err?.stack ?? event.err?.summary ?? said(event.err);
    const { type } = event;
    if (type === 'test-passed') test(event.testFile, [event.title], 'passed', event.duration);
    else if (type === 'test-failed') test(event.testFile, [event.title], 'failed', event.duration, error);
    else if (type === 'selected-test' && (event.skip || event.todo)) test(event.testFile, [event.title], 'skipped', 0);
    else if (/exception|rejection|worker-failed|missing-ava-import|hook-failed|internal-error|timeout/.test(type)) {
      broken(event.testFile, error || type);
    }
    return Reflect.apply(consumeStateChange, this, [event]);
  };
  prototype.endRun = function (...rest) {
    tell({ end: true });
    return Reflect.apply(endRun, this, rest);
  };
  const started = ['entrypoints/cli.mjs', 'cli.js'].map((name) => path.join(home, name)).find((each) => fs.existsSync(each));
  process.argv = [process.argv[0], started, '--tap', ...process.argv.slice(2)];
  await import(pathToFileURL(started));
}

/** Tests of one file by what it prints: subtests, and assertions outside of any. What stands deeper comes first. */
class Tap {
  constructor(file) {
    Object.assign(this, { file, inner: [], named: [], failed: 0, message: null, quoted: null });
  }

  line(text) {
    const [, blanks, rest] = /^( *)(.*)$/.exec(text);
    if (this.quoted !== null) {
      if (blanks.length === this.quoted && rest === '...') this.quoted = null;
      else if (this.message && this.message.message.length < MESSAGE) this.message.message += text.trim() + '\n';
      return;
    }
    const level = Math.floor(blanks.length / 4);
    if (blanks.length % 4 === 2 && rest === '---') {
      this.quoted = blanks.length;
    } else if (blanks.length % 4 === 0) {
      const subtest = /^# Subtest(?:: |$)/.test(rest);
      const point = /^(not )?ok\b ?\d*(?: - | |$)(.*)$/.exec(rest);
      if (subtest) this.named[level] = true;
      else if (point) this.point(level, !point[1], point[2]);
      else if (rest.startsWith('Bail out!')) broken(this.file, rest);
    }
  }

  point(level, passed, text) {
    const [, title, directive] = /^(.*?)(?:\s(?<!\\)# ?((?:time=|skip|todo).*))?\s*$/i.exec(text.replace(/ \{$/, ''));
    const within = this.inner[level + 1] ?? [];
    this.inner.length = Math.min(this.inner.length, level + 1);
    const subtest = this.named[level] || this.named[level + 1] || within.length > 0 || directive !== undefined;
    this.named.length = Math.min(this.named.length, level);
    const name = title.replace(/\\([#\\])/g, '$1').trim();
    const outcome = /^(?:skip|todo)/i.test(directive ?? '') ? 'skipped' : passed ? 'passed' : 'failed';
    const seconds = /time=([\d.]+)(m?s)/.exec(directive ?? '');
    const own = { names: [name], outcome, time: seconds ? seconds[1] * (seconds[2] === 's' ? 1000 : 1) : 0, message: '' };
    const deeper = within.map((each) => ({ ...each, names: [name, ...each.names] }));
    if (!subtest && level > 0) { // an assertion of a subtest, whose message is the subtest's
      this.pending = passed ? this.pending : own;
    } else {
      own.message = passed ? '' : (this.pending?.message ?? '');
      this.pending = null;
      (this.inner[level] ??= []).push(...deeper, own);
    }
    this.message = passed ? null : own;
    this.failed += !passed && outcome === 'failed';
  }

  end(status, printed) {
    for (const each of this.inner[0] ?? []) test(this.file, each.names, each.outcome, each.time, each.message);
    if (status !== 0 && (!this.failed || !this.inner[0])) broken(this.file, `it ended with ${status}: ${printed}`);
  }
}

/** Tests of one file by what tape prints: a test is a title and the assertions up to the next, however deep it stands. */
class Tape {
  constructor(file) {
    Object.assign(this, { file, tests: [], open: null, failed: false, quoted: false, over: false });
  }

  line(text) {
    if (this.quoted) {
      this.quoted = text.trim() !== '...';
      if (this.quoted && this.open?.failing) this.open.message += text.trim() + '\n';
      return;
    }
    const title = /^# (?:(SKIP|TODO) )?(.*)$/.exec(text);
    const point = /^(not )?ok\b ?\d*(?: (.*))?$/.exec(text);
    this.over ||= /^1\.\.\d+$/.test(text);
    this.quoted = /^\s+---$/.test(text);
    if (title && !this.over) this.begin(title[2], title[1] && 'skipped', title[1] === 'TODO');
    else if (point) this.point(!point[1], point[2] ?? '');
    else if (text.startsWith('Bail out!')) broken(this.file, text);
  }

  begin(name, outcome, planned) {
    this.open = { name: name.trim(), outcome, planned, failing: false, message: '' };
    this.tests.push(this.open);
  }

  point(passed, name) {
    if (!this.open) this.begin(name);
    const left = this.open.planned || /\s# (?:SKIP|TODO)\b/.test(name);
    const found = left ? 'skipped' : passed ? 'passed' : 'failed';
    this.open.failing = found === 'failed';
    this.failed ||= this.open.failing;
    const order = [undefined, 'skipped', 'passed', 'failed'];
    if (order.indexOf(found) > order.indexOf(this.open.outcome)) this.open.outcome = found;
    if (this.open.failing) this.open.message += name + '\n';
  }

  end(status, printed) { // what has no assertion is a comment, or a test that only holds others
    const known = this.tests.filter((each) => each.outcome);
    for (const { name, outcome, message } of known) test(this.file, [name], outcome, 0, message);
    if (status !== 0 && (!this.failed || !known.length)) broken(this.file, `it ended with ${status}: ${printed}`);
  }
}

/** Files that print TAP, each run by itself, as tap does. */
async function tap(words, Found) {
  const options = words.filter((each) => each.startsWith('-'));
  const env = { ...process.env, TAP: '1' };
  for (const name of ['REPOASSAY_READER', 'REPOASSAY_RESULTS']) delete env[name];
  for (const file of words.filter((each) => !each.startsWith('-'))) {
    const found = new Found(file);
    let printed = '';
    const child = spawn(process.execPath, [...options, file], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stderr.on('data', (piece) => {
      printed = (printed + piece).slice(-MESSAGE);
    });
    createInterface({ input: child.stdout }).on('line', (line) => found.line(line));
    const [status, signal] = await new Promise((done) => child.on('close', (...how) => done(how)));
    found.end(status ?? signal, printed);
  }
  tell({ end: true });
}

if (process.env.REPOASSAY_READER === 'ava') ava();
if (['jasmine', 'uvu'].includes(process.env.REPOASSAY_READER)) {
  require(`./reporter_${process.env.REPOASSAY_READER}.cjs`).start(process.argv.slice(2), { tell, broken });
}
if (['tap', 'tape'].includes(process.env.REPOASSAY_READER)) {
  tap(process.argv.slice(2), process.env.REPOASSAY_READER === 'tap' ? Tap : Tape);
}
const within = { test, broken, said };
const own = { node, vitest: Vitest, jest: Jest, mocha: Mocha, 'jasmine-file': within, 'uvu-file': within };
module.exports = own[process.env.REPOASSAY_READER] ?? {};
