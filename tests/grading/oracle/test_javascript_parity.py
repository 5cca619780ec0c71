"""A rewritten assertion comes to what the plain one comes to, whatever values meet it."""

from __future__ import annotations

import pytest

from javascript_runs import Task
from repoassay.errors import Unavailable
from repoassay.grading.oracle.sites import SiteMode
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.programs import node_program
from repoassay.sandbox.sandbox import open_sandbox

try:
    node_program()
except Unavailable:
    pytestmark = pytest.mark.skip("node is not installed")

VALUES = """\
'use strict';
class Point { constructor(x) { this.x = x; } get far() { throw new Error('asked'); } }
class Broken extends RangeError { constructor(m) { super(m); this.name = 'Broken'; this.code = 'E_BROKEN'; } }
const cyclic = { a: 1 };
cyclic.self = cyclic;
const thrown = (error) => () => { throw error; };
exports.values = [
  () => undefined, () => null, () => true, () => 0, () => -0, () => NaN, () => 3, () => 3n, () => '3', () => 'abc',
  () => '', () => [], () => [1, 2], () => [1, , 2], () => ({}), () => ({ a: 1 }), () => ({ a: '1' }), () => cyclic,
  () => Object.assign(Object.create(null), { a: 1 }), () => new Point(1), () => new Map([['a', 1]]),
  () => new Set([1, 'a']), () => new Date(5), () => /a+/g, () => new Uint8Array([1, 2]), () => Buffer.from([1, 2]),
  () => new Broken('no way'), () => new TypeError('no way'), () => Symbol.for('x'), () => Object('abc'),
  () => thrown(new TypeError('no way')), () => thrown(new Broken('no way')), () => thrown('abc'),
  () => thrown(undefined),
  () => () => 3, () => Promise.resolve(3), () => Promise.reject(new TypeError('no way')),
  () => async () => { throw new Broken('no way'); }, () => class Foo {}, () => new Error('x', { cause: 3 }),
  () => '\\u2028"\\\\\\ud800', () => Object.assign([1, 2], { extra: 1 }), () => new Number(3), () => Infinity,
];
exports.other = () => 3;
exports.Broken = Broken;
"""
ASSERTIONS = """\
assert.equal(f(), 3)
assert.equal('3', f(), 'as a message')
assert.strictEqual(f(), 3)
assert.strictEqual(f(), -0)
assert.strictEqual(f(), NaN)
assert.strictEqual(f(), 'abc')
assert.strictEqual(f(), undefined)
assert.strictEqual(f(), 3n)
assert.notStrictEqual(f(), null)
assert.notEqual(f(), undefined)
assert.deepEqual(f(), { a: 1 })
assert.deepEqual(f(), [1, 2])
assert.deepStrictEqual(f(), { a: 1 })
assert.deepStrictEqual(f(), [1, , 2])
assert.deepStrictEqual(f(), new Map([['a', 1]]))
assert.deepStrictEqual(f(), new Set(['a', 1]))
assert.deepStrictEqual(f(), new Date(5))
assert.deepStrictEqual(f(), /a+/g)
assert.deepStrictEqual(f(), new Uint8Array([1, 2]))
assert.deepStrictEqual(f(), Buffer.from([1, 2]))
assert.deepStrictEqual(f(), new TypeError('no way'))
assert.deepStrictEqual(f(), Object.assign(Object.create(null), { a: 1 }))
assert.notDeepStrictEqual(f(), { a: 1 })
assert.notDeepEqual(f(), { a: '1' })
assert.strictEqual(f(), '\\u2028"\\\\\\ud800')
assert.match(f(), /^a/)
assert.doesNotMatch(f(), /b/)
assert(f())
assert(!f())
assert.ok(f() === 3)
assert.ok(f() == '3')
assert.ok(f() > 2 && f() < 4)
assert.ok(f() !== undefined)
assert.ok(typeof f() === 'object')
assert.ok(Array.isArray(f()))
assert.ok(Number.isInteger(f()))
assert.ok(Object.is(f(), -0))
assert.ok(f() instanceof Error)
assert.ok(f() instanceof TypeError)
assert.ok(f().includes('b'))
assert.ok(f().startsWith('a'))
assert.ok(f().has('a'))
assert.ok('a' in f())
assert.ok(/b/.test(f()))
assert.ok(['abc', 3].includes(f()))
assert.ok(f() === lib.other())
assert.throws(f())
assert.throws(f(), TypeError)
assert.throws(f(), /no/)
assert.throws(f(), { message: 'no way' })
assert.throws(f(), { name: 'Broken', code: /^E_/ })
assert.throws(f(), (error) => error instanceof RangeError && error.code === 'E_BROKEN')
assert.throws(f(), (error) => { assert.equal(error.message, 'no way'); return true; })
assert.throws(f(), lib.Broken)
assert.throws(f(), 'a message')
assert.doesNotThrow(f())
assert.ifError(f())
await assert.rejects(f())
await assert.rejects(f(), TypeError)
await assert.rejects(f(), { code: 'E_BROKEN' })
await assert.rejects(f(), lib.Broken)
await assert.doesNotReject(f())
t.assert.strictEqual(f(), 3)
strict.equal(f(), 3)
same(f(), [1, 2])
assert.strictEqual(f(), lib.other())
assert.deepStrictEqual(f(), f())
assert.strictEqual((f()).length, 3)
const wanted = { a: 1 }; assert.deepEqual(f(), wanted)
const wanted = 'abc'; assert.equal(f(), wanted, `for ${wanted}`)
for (const [i, want] of [[0, 3], [1, 3]]) assert.equal(f(i), want)
[{ i: 0, want: [1, 2] }].forEach(({ i, want }) => { assert.deepEqual(f(i), want); })
assert.fail(String(f()))
assert.ok('reached')
assert.equal(1, 2)
""".splitlines()
HEAD = """\
const assert = require('node:assert');
const { strict, deepStrictEqual: same } = require('node:assert');
const { test } = require('node:test');
const lib = require('..');
"""
OBSERVED = {
    "assert.fail(String(f()))",
        "assert.ok(f() === lib.other())", "assert.throws(f(), lib.Broken)", "await assert.rejects(f(), lib.Broken)",
    "assert.strictEqual(f(), lib.other())", "assert.deepStrictEqual(f(), f())",
}  # fmt: skip


@pytest.fixture(scope="module", params=[pytest.param(1, marks=pytest.mark.exhaustive), 5])
def task(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Task:
    """One test for every assertion on every value, or on every fifth, others for the next."""
    step = request.param
    base = tmp_path_factory.mktemp("base")
    (base / "index.js").write_text(VALUES)
    (base / "package.json").write_text("{}")
    lines, ids = [HEAD], []
    for number, assertion in enumerate(ASSERTIONS):
        for value in range(number % step, 44, step):
            name = f"{number} {value}"
            lines.append(f"test('{name}', async (t) => {{ const f = lib.values[{value}]; {assertion}; }});\n")
            ids.append(f"test/all.test.js::{name}")
    return Task(base, {"test/all.test.js": "".join(lines)}, ids, open_sandbox("namespaces", Cache()))


def test_every_form_finds_its_mode(task: Task) -> None:
    modes: dict[str, set[SiteMode]] = {}
    for site in task.rewritten()["test/all.test.js"].sites:
        modes.setdefault(ASSERTIONS[int(site.test.split()[0])], set()).add(site.mode)
    expected = {name: SiteMode.OBSERVED if name in OBSERVED else SiteMode.WITHHELD
                for name in ASSERTIONS}  # fmt: skip
    assert modes == {name: {mode} for name, mode in expected.items()}


@pytest.mark.long
def test_outside_comes_to_what_inside_came_to(task: Task) -> None:
    plain, run = task.run({}, plain=True, seconds=60), task.run({}, seconds=60)
    assert plain.complete, plain.said
    assert run.complete, run.said
    judged = task.judged(run)
    told = {
        test: (outcome, judged[test]) for test, outcome in plain.outcomes.items()
        if (outcome == "passed") != (judged[test] == "")
    }  # fmt: skip
    shown = {
        f"{ASSERTIONS[int(test.split('::')[1].split()[0])]} on {test.split()[-1]}": each for test, each in told.items()
    }
    assert not shown
    assert sum(outcome == "passed" for outcome in plain.outcomes.values()) > len(plain.outcomes) / 10
