"""JavaScript that wants to be believed: whatever its process claims, the values that reach the host are not right."""

from __future__ import annotations

from pathlib import Path

import pytest

from javascript_runs import Observed, Task
from repoassay.errors import Unavailable
from repoassay.grading.oracle.sites import SiteMode
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.programs import node_program
from repoassay.sandbox.sandbox import open_sandbox

try:
    node_program()
except Unavailable:
    pytestmark = pytest.mark.skip("node is not installed")

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
_PARTS = (Path(__file__).parent / "forgeries.js").read_text().split("\n// == ")[1:]
PRELUDE, *FORGERIES = ((name, code) for name, _, code in (part.partition("\n") for part in _PARTS))
FORGED = dict(FORGERIES)
WHOLLY, INSPECTED = "finds the mark in the heap", "asks for an inspector"


def forging(name: str) -> dict[str, str]:
    """The wrong module with a forgery at its end."""
    return {"index.js": WRONG + PRELUDE[1] + FORGED[name]}


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    base = tmp_path_factory.mktemp("base")
    (base / "index.js").write_text(WRONG)
    (base / "package.json").write_text("{}")
    tests = {"test/hidden.test.js": HIDDEN, "check.mjs": SCRIPT}
    return Task(base, tests, IDS, open_sandbox("namespaces", Cache()))


@pytest.fixture(scope="module")
def reference(task: Task) -> Observed:
    return task.run({"index.js": RIGHT})


@pytest.mark.long
def test_the_solution_is_attested_and_the_base_is_not(task: Task, reference: Observed) -> None:
    assert reference.passed, reference
    assert {site.mode for file in task.rewritten().values() for site in file.sites} == {SiteMode.WITHHELD}
    assert set(task.judged(reference).values()) == {""}
    assert set(task.attested(task.run({"index.js": RIGHT.replace("found", "result")}), reference).values()) == {""}
    base = task.run({})
    assert base.passed  # the process has nothing to be wrong by
    assert all(task.attested(base, reference).values())


def test_nothing_of_what_is_expected_is_inside(task: Task) -> None:
    sources = "".join(file.source for file in task.rewritten().values())
    answers = [
        "hello-world",
        "a-b",
        "trim-me",
        "22 }",
        "SyntaxError",
        "bad pair",
        "38",
        "RangeError",
        "59",
        "some-words",
        "80",
    ]
    for answer in answers:
        assert answer not in sources
    for name, file in task.rewritten().items():
        assert file.source.count("\n") == task.tests[name].count("\n")


@pytest.mark.by_day(8)
@pytest.mark.parametrize(  # neighbours go the same way: of three the quick tests try one
    "name", [pytest.param(name, marks=pytest.mark.exhaustive if at % 3 else []) for at, name in enumerate(FORGED)]
)
def test_forgeries_are_never_attested(task: Task, reference: Observed, name: str) -> None:
    run = task.run(forging(name))
    if run.complete and not run.signs:
        assert all(task.attested(run, reference).values()), run


def test_a_process_wholly_taken_over_says_passed_and_is_not_believed(task: Task, reference: Observed) -> None:
    """Nothing in it is a secret: whoever finds the mark makes claims, but has no values."""
    run = task.run(forging(WHOLLY))
    assert set(run.outcomes.values()) == {"passed"}, run
    assert all(task.attested(run, reference).values())


@pytest.mark.long
def test_no_signal_starts_an_inspector(task: Task) -> None:
    run = task.run(forging(INSPECTED))
    assert run.seen["test/hidden.test.js::numbers::later"][0] == (4, [["array", ["ECONNREFUSED"] * 2]])
