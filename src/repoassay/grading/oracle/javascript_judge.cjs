// Decides withheld assertions on values that came out of a sandbox. Runs in a sandbox of its own: on standard input
// `{definitions, checks: [[expression, [operand, ...]], ...]}`; on the channel `ready`, then a list of what each came to.
//
// The expressions are the test author's, the operands a stranger's: those are decoded, never evaluated.
'use strict';

const fs = require('node:fs');
const vm = require('node:vm');
const assert = require('node:assert');
const { decode, decoder } = require('./javascript_decode.cjs');

const SECONDS = 2;
const LONGEST = 300;

function said(error) {
  try {
    return String((error && error.message) || error).slice(0, LONGEST);
  } catch {
    return 'it threw what cannot be shown';
  }
}

/** `holds`, `fails`, or `error: ...` where the check itself could not be made. */
function decide(definitions, expression, operands) {
  const of = decoder();
  let values;
  try {
    values = operands.map((operand) => decode(operand, of));
  } catch (error) {
    return 'error: ' + said(error);
  }
  const names = operands.map((_, at) => '_' + at);
  try {
    const source = '(function (require, ' + names.join(', ') + ') {' + definitions + '\nreturn (' + expression + '\n); })';
    const check = new vm.Script(source, { filename: 'check' }).runInThisContext();
    globalThis.__repoassay_check = () => check(require, ...values);
    return vm.runInThisContext('__repoassay_check()', { timeout: SECONDS * 1000 }) ? 'holds' : 'fails';
  } catch (error) {
    return error instanceof assert.AssertionError ? 'fails' : 'error: ' + said(error);
  }
}

const channel = Number(process.env.REPOASSAY_CHANNEL);
function tell(text) {
  for (let rest = Buffer.from(text); rest.length;) rest = rest.subarray(fs.writeSync(channel, rest));
}

tell('ready\n'); // whatever goes wrong after this line is a stranger's doing
const job = JSON.parse(fs.readFileSync(0, 'utf8'));
tell(JSON.stringify(job.checks.map(([expression, operands]) => decide(job.definitions, expression, operands))));
