// Reports hidden tests over the private channel: starts `node_runner.cjs` on them in a process of its own and signs
// what that claims. Started as `node node_parent.cjs FLAG...` with a job as JSON on standard input: `files`, `scripts`
// (those of them that hold no tests and must run to their end), `root` (where they lie) and `key` (hex; signs each line).
// One line a test: `<hmac> <json>`, numbered, then an `end`.
//
// The code under test shares the runner's process, not this one: no key and no end of the channel is there. What comes
// from there are claims, and a claim that a test passed is worth what the values sent with it are.
'use strict';

const { createHmac, randomBytes } = require('node:crypto');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const MOST = 2 ** 24 - 2 ** 16; // the channel holds 16 MiB
const KNOWN = ['ready', 'end', 'collect', 'id'];

process.on('SIGUSR1', () => {}); // else anybody of our own user starts our inspector with it

const { key, ...job } = JSON.parse(fs.readFileSync(0, 'utf8'));
fs.closeSync(0); // the job can be read again through it, by whoever opens our descriptors
fs.openSync('/dev/null', 'r');
const secret = Buffer.from(key, 'hex');
const channel = Number(process.env.REPOASSAY_CHANNEL);
const env = { ...process.env };
delete env.REPOASSAY_CHANNEL;

function tell(line) {
  for (let rest = Buffer.from(line + '\n'); rest.length;) rest = rest.subarray(fs.writeSync(channel, rest));
}

let sent = 0;
function forward(claim) {
  const body = claim.slice(0, -1) + ',"n":' + sent++ + '}';
  tell(createHmac('sha256', secret).update(body).digest('hex') + ' ' + body);
}

// The mark is no secret worth stealing: it only tells what the runner says from what is written to its pipe blindly.
const mark = randomBytes(16).toString('hex');

/** A line of the runner's, passed on signed; anything else is passed on as it is, for the host to see. */
function heard(line) {
  const claim = line.startsWith(mark + ' ') ? line.slice(mark.length + 1) : '';
  try {
    const fields = JSON.parse(claim);
    if (claim[0] === '{' && KNOWN.some((name) => Object.hasOwn(fields, name))) return forward(claim);
  } catch {
    // told below
  }
  tell('unsigned ' + JSON.stringify(line.slice(0, 200)));
}

const runner = path.join(__dirname, 'node_runner.cjs');
const stdio = ['pipe', 'inherit', 'inherit', 'pipe'];
while (stdio.length < channel) stdio.push('ignore');
if (channel > 3) stdio.push(fs.openSync('/dev/null', 'r')); // in the channel's place, which is inherited otherwise
const child = spawn(process.execPath, [...process.argv.slice(2), runner], { stdio, env });
child.stdin.on('error', () => {});
child.stdin.end(JSON.stringify({ ...job, mark }));
let pieces = [];
let heardSoFar = 0;
let broken = false;
child.stdio[3].on('error', () => {});
child.stdio[3].on('data', (data) => {
  heardSoFar += data.length;
  if (heardSoFar > MOST && !broken) {
    broken = true;
    tell('unsigned "more than the channel holds"');
    child.kill('SIGKILL');
  }
  if (broken) return;
  let start = 0;
  for (let at = data.indexOf(10); at >= 0; at = data.indexOf(10, start)) {
    heard(Buffer.concat([...pieces, data.subarray(start, at)]).toString());
    pieces = [];
    start = at + 1;
  }
  pieces.push(data.subarray(start));
});

// A descendant may hold the pipe open: what the runner wrote has been read when the loop turns and nothing comes.
child.on('exit', (code, signal) => {
  let quiet = 0;
  let before = -1;
  const look = () => {
    quiet = heardSoFar === before ? quiet + 1 : 0;
    before = heardSoFar;
    if (quiet < 3) return setImmediate(look);
    if (signal) process.kill(process.pid, signal);
    return process.exit(signal ? 1 : code);
  };
  look();
});
