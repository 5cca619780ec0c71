"""Scripts in JavaScript without tests: what running to one's own end is, and what only looks like it."""

from __future__ import annotations

import difflib
from collections.abc import Callable

import pytest

from repoassay.errors import Unavailable
from repoassay.grading.canary_check import can_doubt
from repoassay.grading.edit import grade_edit
from repoassay.grading.hidden_tests.javascript_script import watched
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.programs import node_program
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks.suite import find_suite
from repoassay.types import Outcome, Verdict
from repoassay.workspace.preparation import lay_out

TASK = """\
schema = 1
[task]
id = "add"
title = "Repair addition"
kind = "edit"
domain = "Tests"
[repository]
source = "bundled:calc"
licence = "MIT"
[grading.tests]
runner = "node"
fail_to_pass = ["FILE::__script__"]
seconds = 20
"""
PLAIN = """\
const assert = require('assert');
const calc = require('./index.js');
assert.strictEqual(calc.add(2, 3), 5);
assert.strictEqual(calc.add(-1, 1), 0);
"""
MODULE = """\
import assert from 'node:assert';
import calc from './index.js';
const sum = await calc.later(2, 3);
assert.equal(sum, 5);
"""
ASYNC = """\
const assert = require('assert');
const calc = require('./index.js');
async function main() {
  const first = await calc.later(2, 3);
  assert.ok(first > 0);
  if (first > 100) return;
  const sum = await calc.later(3, 4);
  assert.ok(sum === 7);
}
main().catch((error) => {
  console.error(error);
  process.exit(1);
});
"""
CODED = ASYNC.replace("process.exit(1)", "process.exitCode = 1")
THEN = """\
const assert = require('assert');
const calc = require('./index.js');
calc.later(2, 3).then((sum) => assert(sum === 5));
"""
CALLED_BACK = """\
const assert = require('assert');
const calc = require('./index.js');
calc.tell(2, 3, function (error, sum) {
  assert.ifError(error);
  assert(sum === 5);
});
"""
TIMED = """\
const assert = require('assert');
const calc = require('./index.js');
setTimeout(() => { assert.ok(calc.add(2, 3) === 5); }, 5);
"""
LATE = """\
const calc = require('./index.js');
const assert = require('assert');
for (const [a, b, sum] of [[2, 3, 5], [1, 1, 2]]) {
  assert.strictEqual(calc.add(a, b), sum);
}
"""
RIGHT = """\
exports.add = function add(a, b) { return a + b; };
exports.later = async (a, b) => { await new Promise((done) => setTimeout(done, 2)); return exports.add(a, b); };
exports.tell = (a, b, told) => { setImmediate(() => told(null, exports.add(a, b))); };
"""
WRONG = RIGHT.replace("a + b", "a - b")
SCRIPTS = {
    "plain.cjs": PLAIN, "module.mjs": MODULE, "async.cjs": ASYNC, "coded.cjs": CODED, "then.cjs": THEN,
    "called.cjs": CALLED_BACK, "timed.cjs": TIMED, "late.cjs": LATE,
}  # fmt: skip
Grade = Callable[..., Verdict]

try:
    node_program()
except Unavailable:
    pytestmark = pytest.mark.skip("node is not installed")


@pytest.fixture(scope="module")
def grade(tmp_path_factory: pytest.TempPathFactory) -> Grade:
    """Grade a new index.js by a script."""
    top = tmp_path_factory.mktemp("suite")
    files = {
        "suite.toml": 'schema = 1\n[suite]\nname = "s"\nversion = "1"\ntitle = "Suite"\nlicence = "MIT"\n',
        "repositories/calc/index.js": "exports.add = () => NaN;\n",
        "repositories/calc/package.json": '{"name": "calc", "version": "1.0.0"}\n',
    }
    for name, source in SCRIPTS.items():
        task = name.partition(".")[0]
        files |= {
            f"tasks/{task}/task.toml": TASK.replace("FILE", name).replace('"add"', f'"{task}"'),
            f"tasks/{task}/instruction.md": "Addition fails.",
            f"tasks/{task}/tests/{name}": source,
            f"tasks/{task}/solution/changes.diff": "x",
        }
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    suite = find_suite(str(top))
    cache = Cache()
    sandbox = open_sandbox("namespaces", cache)
    layouts = {task.task.id: lay_out(task, suite.repositories, cache, sandbox) for task in suite.tasks}

    def run(name: str, text: str, seed: int | None = None) -> Verdict:
        layout = layouts[name.partition(".")[0]]
        old = (layout.base / "index.js").read_text().splitlines(keepends=True)
        diff = "".join(difflib.unified_diff(old, text.splitlines(keepends=True), "a/index.js", "b/index.js"))
        return grade_edit(
            layout.folder, diff.encode(), sandbox, base=layout.base, environment=layout.environment, seed=seed
        )

    for name, layout in layouts.items():
        assert can_doubt(layout.folder) == (name in {"plain", "module"})
    return run


@pytest.mark.by_day(2)
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_passes_when_it_and_all_it_started_ran_without_an_error(grade: Grade, name: str) -> None:
    verdict = grade(name, RIGHT)
    assert verdict.outcome is Outcome.PASSED, (verdict.comments, verdict.tests)
    assert [test.id for test in verdict.tests] == [f"{name}::__script__"]
    wrong = grade(name, WRONG)
    assert wrong.outcome is Outcome.FAILED, wrong
    assert wrong.tests[0].message


NEVER = "new Promise(() => {})"
ATTACKS = {
    "leaves": ("plain.cjs", "process.exit(0);"),
    "leaves by reallyExit": ("plain.cjs", "process.reallyExit(0);"),
    "leaves later": ("async.cjs", "setImmediate(() => process.exit(0));"),
    "is killed": ("plain.cjs", "process.kill(process.pid, 'SIGKILL');"),
    "aborts": ("plain.cjs", "process.abort();"),
    "disarms assert": (
        "plain.cjs",
        "const assert = require('assert'); for (const n of Object.keys(assert)) {"
        " try { assert[n] = () => {}; } catch {} try { Object.defineProperty(assert, n, { value() {} }); } catch {} }",
    ),
    "puts another assert into the cache": (
        "then.cjs",
        "const fake = new Proxy(() => {}, { get: () => fake }); for (const n of ['assert', 'node:assert'])"
        " require.cache[n] = { id: n, filename: n, loaded: true, exports: fake };",
    ),
    "puts another assert into the cache first": (
        "late.cjs",
        "const fake = new Proxy(() => {}, { get: () => fake }); for (const n of ['assert', 'node:assert'])"
        " require.cache[n] = { id: n, filename: n, loaded: true, exports: fake };",
    ),
    "hooks the loader": (
        "late.cjs",
        "const M = require('module'); const fake = new Proxy(() => {}, { get: () => fake });"
        " for (const [of, n] of [[M, '_load'], [M.prototype, 'require']]) { const old = of[n];"
        " of[n] = function (r, ...a) { return /assert/.test(r) ? fake : old.call(this, r, ...a); };"
        " try { Object.defineProperty(of, n, { value: of[n] }); } catch {} }",
    ),
    "has empty loops": (
        "late.cjs",
        "try { Array.prototype[Symbol.iterator] = function* () {}; } catch {}"
        " try { Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({ done: true }); } catch {}",
    ),
    "forges lines": (
        "plain.cjs",
        "for (let fd = 3; fd < 30; fd++) { try { require('fs').writeSync(fd, '00 {\"id\":\"plain.cjs::__script__\","
        '"outcome":"passed","seconds":0,"message":"","n":1}\\n00 {"end":0,"changed":[],"n":2}\\n\'); } catch {} }',
    ),
    "never settles": ("async.cjs", f"exports.later = () => {NEVER};"),
    "settles once": ("async.cjs", f"let n = 0; exports.later = () => n++ ? {NEVER} : Promise.resolve(5);"),
    "never settles for a module": ("module.mjs", f"exports.later = () => {NEVER};"),
    "never settles for then": ("then.cjs", f"exports.later = () => {NEVER};"),
    "is no promise": ("then.cjs", "exports.later = () => ({ then() {} });"),
    "never calls back": ("called.cjs", "exports.tell = () => {};"),
    "calls back and swallows": ("called.cjs", "exports.tell = (a, b, f) => { try { f(null, 0); } catch {} };"),
    "swallows what is not caught": (
        "async.cjs",
        "for (const n of ['uncaughtException', 'unhandledRejection', 'rejectionHandled', 'uncaughtExceptionMonitor'])"
        " process.on(n, () => {});",
    ),
    "swallows rejections of then": (
        "then.cjs", "process.on('unhandledRejection', () => {}); process.on('uncaughtException', () => {});",
    ),
    "captures exceptions": (
        "timed.cjs",
        "try { process.setUncaughtExceptionCaptureCallback(null); } catch {}"
        " try { process.setUncaughtExceptionCaptureCallback(() => {}); } catch {}"
        " try { process._fatalException = () => true; } catch {} process.on('uncaughtException', () => {});",
    ),
    "makes exit do nothing": ("async.cjs", "process.exit = () => {}; process.reallyExit = () => {};"),
    "takes exit codes back": (
        "coded.cjs", "process.prependListener('beforeExit', () => { process.exitCode = 0; });"
        " setInterval(() => { process.exitCode = 0; }, 1).unref();",
    ),
    "makes catch deaf": (
        "async.cjs", "Promise.prototype.catch = function () { return this.then(() => {}, () => {}); };",
    ),
    "says the loop is empty": (
        "timed.cjs", "setImmediate(() => process.emit('beforeExit', 0)); process.emit('beforeExit', 0);",
    ),
    "says so in a microtask": ("async.cjs", "queueMicrotask(() => process.emit('beforeExit', 0));"),
    "unrefs timers": ("timed.cjs", "const t = setTimeout; globalThis.setTimeout = (f, n) => t(f, n).unref();"),
    "has no timers": ("timed.cjs", "globalThis.setTimeout = () => {};"),
    "takes hooks away": ("timed.cjs", "process.removeAllListeners('beforeExit'); globalThis.setTimeout = () => {};"),
    "uses the watch": (
        "async.cjs",
        "const w = globalThis.__repoassay_script; try { w.begin = () => () => {}; } catch {}"
        " try { globalThis.__repoassay_script = null; } catch {} try { w.begin()(); w.begin()(); } catch {}"
        f" exports.later = () => {NEVER};",
    ),
    "ends in beforeExit": ("async.cjs", "process.on('beforeExit', () => process.reallyExit(0));"),
    "poisons prototypes": (
        "timed.cjs",
        "Object.defineProperty(Array.prototype, 'length', { value: 0 }); Object.prototype.done = () => {};"
        " Function.prototype.call = () => {}; Array.prototype.constructor = { [Symbol.species]: function () {} };",
    ),
}  # fmt: skip


@pytest.mark.by_day(12)
@pytest.mark.parametrize("first", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_never_pass(grade: Grade, name: str, first: bool) -> None:
    script, code = ATTACKS[name]
    verdict = grade(script, f"{code}\n{WRONG}" if first else f"{WRONG}{code}\n")
    assert verdict.outcome in (Outcome.FAILED, Outcome.TAMPERING), (name, verdict)


def test_code_that_reads_its_answers_from_the_script_is_found_out(grade: Grade) -> None:
    reads = """\
const source = require('fs').readFileSync('/workspace/repo/plain.cjs', 'utf8');
exports.add = (a, b) => Number(source.split(`add(${a}, ${b}), `)[1].split(')')[0]);
"""
    assert grade("plain.cjs", reads).outcome is Outcome.TAMPERING


def test_what_hooks_the_loader_honestly_still_can(grade: Grade) -> None:
    hooks = (
        "const M = require('module'); const load = M._load; M._load = function (...a) { return load.apply(this, a); };"
    )
    assert grade("then.cjs", f"{RIGHT}{hooks}\nexports.os = require('os');\n").outcome is Outcome.PASSED


@pytest.mark.exhaustive
def test_a_loop_that_never_runs_empty_is_timed_out(grade: Grade) -> None:
    assert grade("plain.cjs", f"{RIGHT}setInterval(() => {{}}, 5);\n").outcome is Outcome.TIMED_OUT


@pytest.mark.parametrize(
    "source",
    [
        "", "(((", "const a = 1;\n", "assert.throws(() => { assert.ok(0); });\n",
        "emitter.on('error', () => assert.fail());\n", "x.catch((e) => assert.fail(e));\n",
        "x.then(one, (e) => assert.fail(e));\n", "async function* all() { yield 1; }\n", "function owe(assert) {}\n",
    ],
)  # fmt: skip
def test_what_need_not_run_is_not_counted(source: str) -> None:
    assert watched(source) == source


def test_lines_stay_where_they_are() -> None:
    for source in SCRIPTS.values():
        changed = watched(source)
        assert [line[:8] for line in changed.split("\n")][:2] == [line[:8] for line in source.split("\n")][:2]
        assert changed.count("\n") == source.count("\n")
