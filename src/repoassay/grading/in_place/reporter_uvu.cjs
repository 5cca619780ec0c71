// Tells what each test of uvu came to: the part of `reporter.cjs` that runs within the process of one file of tests.
'use strict';

const { spawn } = require('node:child_process');

/** uvu takes no reporter: tests are wrapped as it keeps them, and the mark that it prints after each is what became of it. */
function listen(file, { test, broken, said }) {
  const { push } = Array.prototype;
  const print = process.stdout.write.bind(process.stdout);
  let [last, failed] = [null, false];
  Array.prototype.push = function (...items) {
    const [item] = items;
    const kept = typeof item?.handler === 'function' && Object.keys(item).join() === 'name,handler';
    if (kept && /[\\/]uvu\b/.test(new Error().stack)) items = [{ name: item.name, handler: wrapped(item) }];
    return push.apply(this, items);
  };
  const wrapped = ({ name, handler }) => async (state) => {
    const began = Date.now();
    const found = { names: [state?.__suite__, name].filter(Boolean), message: '' };
    try {
      return await handler(state);
    } catch (error) {
      found.message = said(error);
      throw error;
    } finally {
      last = { ...found, milliseconds: Date.now() - began };
    }
  };
  process.stdout.write = (piece, ...rest) => {
    const mark = last && /[•✘]/.exec(String(piece))?.[0];
    if (mark) {
      failed ||= mark === '✘';
      test(file, last.names, mark === '✘' ? 'failed' : 'passed', last.milliseconds, last.message);
      last = null;
    }
    return print(piece, ...rest);
  };
  process.on('exit', (status) => status && !failed && broken(file, `it ended with ${status}`));
}

/** Files of uvu's; ours is loaded first, as other modules may compile what is loaded after them. */
function start(words, told) {
  const options = [`--require=${__filename}`, ...words.filter((each) => each.startsWith('-'))];
  return each(words, options, 'uvu-file', told);
}

/** Files each run by itself, in a process that tells by our pipe. */
async function each(words, options, reader, { tell, broken }) {
  const env = { ...process.env, REPOASSAY_READER: reader, REPOASSAY_RESULTS: '3' };
  for (const file of words.filter((each) => !each.startsWith('-'))) {
    const stdio = ['ignore', 'ignore', 'inherit', Number(process.env.REPOASSAY_RESULTS)];
    const child = spawn(process.execPath, [...options, file], { env, stdio });
    const [, signal] = await new Promise((done) => child.on('close', (...how) => done(how)));
    if (signal) broken(file, `it ended with ${signal}`);
  }
  tell({ end: true });
}

if (process.env.REPOASSAY_READER === 'uvu-file') {
  const { test, broken, said } = require('./reporter.cjs');
  for (const name of ['REPOASSAY_READER', 'REPOASSAY_RESULTS']) delete process.env[name];
  listen(process.argv[1], { test, broken, said });
}
module.exports = { each, start };
