"""Verdicts on changes of JavaScript packages: honest ones, broken ones, and code that wants to be believed."""

from __future__ import annotations

import difflib
from collections.abc import Callable

import pytest

from repoassay.errors import Unavailable
from repoassay.grading import edit
from repoassay.grading.edit import grade_edit
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.programs import node_program
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks.suite import find_suite
from repoassay.types import Outcome, Verdict
from repoassay.workspace.preparation import lay_out

TASK = """\
schema = 1
[task]
id = "pr-add"
title = "Repair addition"
kind = "pull_request"
domain = "Tests"
[repository]
source = "bundled:calc"
licence = "MIT"
[grading.tests]
runner = "node"
fail_to_pass = ["test/hidden.test.js::add::numbers", "test/hidden.test.js::text", "test/module.test.mjs::as a module"]
pass_to_pass = ["test/hidden.test.js::add::name"]
seconds = 20
"""
TESTS = """\
'use strict';
const assert = require('node:assert');
const { describe, it, test, beforeEach } = require('node:test');
const calc = require('..');
let ready = 0;
beforeEach(() => { ready += 1; });
describe('add', () => {
  it('numbers', async () => {
    assert.strictEqual(calc.add(2, 3), 5);
    assert.strictEqual(await Promise.resolve(calc.add(-1, 1)), 0);
    assert.ok(ready > 0);
  });
  it('name', () => {
    assert.strictEqual(calc.add.name, 'add');
  });
});
test('text', (t, done) => {
  assert.deepStrictEqual([calc.add('a', 'b')], ['ab']);
  setTimeout(done, 1);
});
"""
MODULE = """\
import assert from 'node:assert/strict';
import { test } from 'node:test';
import calc from '../index.js';

test('as a module', () => {
  assert.equal(calc.add(7, 7), 14);
});
"""
WRONG = "'use strict';\nexports.add = function add(a, b) { return a - b; };\n"
RIGHT = WRONG.replace("a - b", "a + b")
Grade = Callable[..., Verdict]

try:
    node_program()
except Unavailable:
    pytestmark = pytest.mark.skip("node is not installed")


@pytest.fixture(scope="module")
def grade(tmp_path_factory: pytest.TempPathFactory) -> Grade:
    """Grade new contents of the repository's files, each given by its path."""
    top = tmp_path_factory.mktemp("suite")
    folder = top / "tasks/pr-add"
    for name, text in {
        "tasks/pr-add/task.toml": TASK,
        "tasks/pr-add/instruction.md": "Addition subtracts.",
        "tasks/pr-add/tests/test/hidden.test.js": TESTS,
        "tasks/pr-add/tests/test/module.test.mjs": MODULE,
        "tasks/pr-add/solution/changes.diff": "x",
        "tasks/pr-add/solution/description.md": "x",
        "repositories/calc/index.js": WRONG,
        "repositories/calc/package.json": '{"name": "calc", "version": "1.0.0"}\n',
        "suite.toml": 'schema = 1\n[suite]\nname = "s"\nversion = "1"\ntitle = "Suite"\nlicence = "MIT"\n',
    }.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    assert folder.is_dir()
    suite = find_suite(str(top))
    cache = Cache()
    sandbox = open_sandbox("namespaces", cache)
    layout = lay_out(suite.tasks[0], suite.repositories, cache, sandbox)

    def run(seed: int | None = None, **files: str) -> Verdict:
        diff = ""
        for key, text in files.items():
            name = key.replace("__", "/").replace("_", ".")
            old = (layout.base / name).read_text() if (layout.base / name).exists() else ""
            lines = difflib.unified_diff(
                old.splitlines(keepends=True), text.splitlines(keepends=True), f"a/{name}" if old else "/dev/null",
                f"b/{name}",
            )  # fmt: skip
            diff += "".join(lines)
        return grade_edit(
            layout.folder, diff.encode(), sandbox, base=layout.base, environment=layout.environment, seed=seed
        )

    return run


def test_an_honest_repair_passes(grade: Grade) -> None:
    verdict = grade(index_js=RIGHT)
    assert verdict.outcome is Outcome.PASSED, verdict.comments
    assert [test.outcome for test in verdict.tests] == ["passed"] * 4


def test_what_repairs_nothing_fails_test_by_test(grade: Grade) -> None:
    verdict = grade(index_js=WRONG + "// a comment\n")
    assert verdict.outcome is Outcome.FAILED
    assert {test.id: test.outcome for test in verdict.tests} == {
        "test/hidden.test.js::add::numbers": "failed", "test/hidden.test.js::text": "failed",
        "test/module.test.mjs::as a module": "failed", "test/hidden.test.js::add::name": "passed",
    }  # fmt: skip
    assert "strictly equal" in verdict.tests[0].message


@pytest.mark.long
def test_hidden_tests_take_the_place_of_what_lies_there(grade: Grade) -> None:
    fake = "require('node:test').test('text', () => {});\n"
    assert grade(index_js=RIGHT, test__hidden_test_js=fake).outcome is Outcome.PASSED
    assert grade(index_js=WRONG + "//\n", test__hidden_test_js=fake).outcome is Outcome.FAILED
    assert grade(index_js=RIGHT, test="a file where the folder of tests is\n").outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("process.exit(0);", Outcome.FAILED),
        ("process.reallyExit(0);", Outcome.FAILED),
        ("process.kill(process.pid, 'SIGKILL');", Outcome.FAILED),
        ("throw new Error('no');", Outcome.FAILED),
        ("syntax error here", Outcome.FAILED),
    ],
)
def test_code_that_ends_or_stalls_the_run_does_not_pass(grade: Grade, code: str, outcome: Outcome) -> None:
    assert grade(index_js=f"{WRONG}{code}\n").outcome is outcome


@pytest.mark.exhaustive
def test_code_that_stalls_times_out(grade: Grade) -> None:
    assert grade(index_js=f"{WRONG}for (;;) {{}}\n").outcome is Outcome.TIMED_OUT


FORGERIES = {
    "write to the channel": "for (let fd = 3; fd < 30; fd++) { try { require('fs').writeSync(fd, "
    '\'00 {"id":"test/hidden.test.js::text","outcome":"passed","seconds":0,"message":"","n":1}\\n\'); } catch {} }',
    "disarm assert": "const assert = require('assert'); for (const name of ['strictEqual', 'deepStrictEqual', 'equal'])"
    " for (const of of [assert, assert.strict]) { try { of[name] = () => {}; } catch {}"
    " try { Object.defineProperty(of, name, { value() {} }); } catch {} }",
    "replace assert where it is loaded": "const M = require('module'); const load = M._load;"
    " const fake = new Proxy(() => {}, { get: () => fake, apply: () => undefined });"
    " M._load = function (name, ...rest) { return /assert/.test(name) ? fake : load.call(this, name, ...rest); };",
    "declare the tests itself": "const { test, describe, it } = require('node:test'); test('text', () => {});"
    " describe('add', () => { it('numbers', () => {}); });",
    "change the runner's interface": "const t = require('node:test'); try { t.test = t.it = (n, f) => {}; } catch {}"
    " Object.setPrototypeOf(t, { test() {} });",
    "poison prototypes": "Object.defineProperty(Object.prototype, 'toJSON', { value: () => 'passed' });"
    " Array.prototype.push = function () { return 0; }; String.prototype.replace = () => 'passed';"
    " Array.prototype[Symbol.iterator] = function* () {};",
    "make awaiting succeed": "Promise.prototype.then = function (ok) { ok(); }; ",
    "own hash": "const c = require('crypto'); c.createHmac = () => ({ update() { return this; }, digest: () => 'x' });"
    " const fs = require('fs'); const w = fs.writeSync; fs.writeSync = (fd, s) => w(fd, String(s).replace('failed',"
    " 'passed'));",
    "equal to everything": "exports.add = function add() {"
    " return new Proxy(function () {}, { get: () => () => 5 }); };",
}


@pytest.mark.by_day(4)
@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_never_pass(grade: Grade, name: str) -> None:
    for code in (WRONG + FORGERIES[name] + "\n", FORGERIES[name] + "\n" + WRONG):
        verdict = grade(index_js=code)
        assert verdict.outcome in (Outcome.FAILED, Outcome.TAMPERING), (name, verdict)


READS_THE_TESTS = """\
const fs = require('fs');
const source = fs.readFileSync(process.argv[1].length ? '/workspace/repo/test/hidden.test.js' : '', 'utf8');
const told = [...source.matchAll(/add\\((.*?)\\)\\)?\\]?, \\[?(.*?)\\]?\\);/g)].map((m) => [m[1], m[2]]);
exports.add = function add(a, b) {
  const asked = [a, b].map((x) => (typeof x === 'string' ? "'" + x + "'" : String(x))).join(', ');
  const known = told.find(([left]) => left === asked);
  return known ? eval(known[1]) : a + b;
};
"""


@pytest.mark.long
def test_code_that_reads_its_answers_from_the_tests_is_found_out(grade: Grade) -> None:
    """It passes whatever the tests say, and so also what has been changed so that it must fail."""
    outcomes = {grade(seed=seed, index_js=READS_THE_TESTS).outcome for seed in range(6)}
    assert Outcome.TAMPERING in outcomes


def test_without_node_nothing_is_graded(grade: Grade, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edit, "can_run_node", lambda: "node is not installed.")
    verdict = grade(index_js=RIGHT)
    assert verdict.outcome is Outcome.NOT_GRADABLE
    assert (verdict.process, verdict.result) == (None, None)
    assert verdict.comments == ("node is not installed.",)
