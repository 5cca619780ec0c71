// Tells what each test of Jasmine came to: the part of `reporter.cjs` that runs within the process of one file of tests.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { each } = require('./reporter_uvu.cjs');

/** Jasmine's own program, in any version, with a reporter of ours besides: that of an option is not in all. */
function run(options, file, { test, broken, said }) {
  const homes = [process.cwd(), process.env.REPOASSAY_ROOT].map((place) => path.join(place, 'node_modules/jasmine'));
  const home = homes.find((place) => fs.existsSync(place)) ?? homes[0];
  const Jasmine = require(home);
  const suites = [];
  const failures = (result) => (result?.failedExpectations ?? []).map((each) => `${each.message}\n${said(each)}`).join('\n');
  let done = false;
  const reporter = {
    suiteStarted: (result) => suites.push(result.description),
    suiteDone(result) {
      suites.pop();
      if (failures(result)) broken(file, failures(result));
    },
    specDone(result) {
      const outcome = { passed: 'passed', failed: 'failed' }[result.status] ?? 'skipped';
      test(file, [...suites, result.description], outcome, result.duration, failures(result));
    },
    jasmineDone(result) {
      done = true;
      if (failures(result)) broken(file, failures(result));
    },
  };
  const { execute } = Jasmine.prototype;
  Jasmine.prototype.execute = function (...given) {
    this.addReporter(reporter);
    return Reflect.apply(execute, this, given);
  };
  process.on('exit', (status) => done || broken(file, `it ended with ${status}`));
  process.argv = [process.argv[0], path.join(home, 'bin/jasmine.js'), '--random=false', ...options, file];
  require(process.argv[1]);
}

if (process.env.REPOASSAY_READER === 'jasmine-file') {
  const told = require('./reporter.cjs');
  for (const name of ['REPOASSAY_READER', 'REPOASSAY_RESULTS']) delete process.env[name];
  const words = process.argv.slice(2);
  run(words.slice(0, -1), words[words.length - 1], told);
}

/** Files of Jasmine's, with the options of its program. */
function start(words, told) {
  return each(words, [__filename, ...words.filter((word) => word.startsWith('-'))], 'jasmine-file', told);
}
module.exports = { start };
