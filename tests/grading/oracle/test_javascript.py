"""What the rewriter makes of JavaScript tests: what leaves the file, what stays, and where."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from repoassay.grading.oracle.javascript import rewrite
from repoassay.grading.oracle.sites import SiteMode

HEAD = "const assert = require('node:assert'); const { test } = require('node:test'); const lib = require('..');\n"


def body(statements: str) -> str:
    return f"{HEAD}test('t', async (t) => {{\n{statements}\n}});\n"


def inside(statements: str) -> str:
    """What a test's body becomes."""
    changed = rewrite(body(statements)).source
    return changed[changed.index("=> {\n") + 5 : changed.rindex("\n});")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("assert.equal(lib.f(1), 5); // five", "__repoassay.seen(0, lib.f(1));  "),
        ("assert.equal(lib.f(\n  1,\n), // one\n5, 'five');", "__repoassay.seen(0, lib.f(\n  1,\n))\n;"),
        ("assert.throws(() => lib.f(), /no/);", "__repoassay.threw(0, () => lib.f());"),
        ("await assert.rejects(lib.f(), { code: 'E' });", "await __repoassay.rejected(0, lib.f());"),
        ("assert.equal(lib.f(), lib.g(), 'why');", "__repoassay.observed(0, 2, assert.equal, lib.f(), lib.g());"),
        ("assert(lib.f() < lib.g());", "__repoassay.compared(0, (_0, _1) => _0 < _1, lib.f(), lib.g());"),
        ("assert.throws(() => lib.f(), lib.E);", "__repoassay.observedThrow(0, assert.throws, () => lib.f(), lib.E);"),
        ("assert.equal(...lib.f());", "assert.equal(...lib.f());"),
        ("assert.equal(1, 1);", "__repoassay.seen(0);"),
        ("assert.equal(lib.f(), 1, await lib.g());", "assert.equal(lib.f(), 1, await lib.g());"),
        ("try { assert.ok(lib.f()); } catch { lib.g(); }", "try { assert.ok(lib.f()); } catch { lib.g(); }"),
        (
            "assert.throws(() => { assert.ok(lib.f()); });", "__repoassay.threw(0, () => { assert.ok(lib.f()); });",
        ),
        (
            "const want = { a: 1 };\nassert.deepEqual(lib.f(), want);",
            "const want = undefined;\n__repoassay.seen(0, lib.f());",
        ),
        (
            "const given = { a: 1 };\nassert.deepEqual(lib.f(given), given);",
            "const given = { a: 1 };\n__repoassay.observed(0, 2, assert.deepEqual, lib.f(given), given);",
        ),
        ("const n = 3;\nassert.equal(lib.f(n), n);", "const n = 3;\n__repoassay.seen(0, lib.f(n));"),
        ("const got = lib.f();\nassert.ok(true, got);", "const got = lib.f();\n__repoassay.seen(0);"),
        ("assert.fail();", "__repoassay.observed(0, 0, assert.fail);"),
        ("try { assert.fail('no'); } catch {}", "try { __repoassay.observed(0, 0, assert.fail, 'no'); } catch {}"),
        (
            "for (const [a, b] of [['x', 1], ['y', 2]]) assert.equal(lib.f(a), b);",
            "for (const [a, b] of [['x', 0], ['y', 1]]) __repoassay.seen(0, b, lib.f(a));",
        ),
        (
            "for (const [a, b] of [['x', 1], ['y', 2]]) assert.equal(lib.f(a, b), b);",
            "for (const [a, b] of [['x', 1], ['y', 2]]) __repoassay.observed(0, 2, assert.equal, lib.f(a, b), b);",
        ),
        (
            "[{ a: 1, b: /x/ }].forEach(({ a, b: c }) => { assert.match(lib.f(a), c); });",
            "[{ a: 1, b: 0 }].forEach(({ a, b: c }) => { __repoassay.seen(0, c, lib.f(a)); });",
        ),
        ("{ const assert = lib.own; assert.ok(lib.f()); }", "{ const assert = lib.own; assert.ok(lib.f()); }"),
    ],
)  # fmt: skip
def test_what_is_expected_leaves_the_file(before: str, after: str) -> None:
    assert inside(before) == after


def test_names_of_tests_and_what_is_always_reached() -> None:
    source = f"""{HEAD}
const {"{ describe, it }"} = require('node:test');
const same = (a) => assert.equal(a, 1);
describe('s', () => {{
  it('a', () => {{ assert.equal(lib.f(), 1); if (lib.g()) assert.equal(lib.f(), 2); return assert.ok(lib.f()); }});
  it('b', () => assert.equal(lib.f(), 3));
  it('c', () => {{ if (lib.f()) return; assert.equal(lib.f(), 4); }});
  it(`d ${{lib.x}}`, () => {{ assert.equal(lib.f(), 5); }});
}});
test('e', async (t) => {{ await t.test('f', () => {{ assert.equal(lib.f(), 6); }}); }});
"""
    sites = rewrite(source).sites
    assert [(site.test, site.always) for site in sites] == [
        ("", False), ("s::a", True), ("s::a", False), ("s::a", True), ("s::b", True), ("s::c", False), ("", False),
        ("e::f", True),
    ]  # fmt: skip
    assert [site.line for site in sites] == [4, 6, 6, 6, 7, 8, 9, 11]


def test_a_script_is_one_test() -> None:
    source = "import assert from 'node:assert/strict';\nimport lib from './x.js';\nassert.equal(lib(), 1);\n" \
        "function more() { assert.deepEqual(lib(), [1]); }\nmore();\n"  # fmt: skip
    found = rewrite(source, script=True)
    assert [(site.test, site.always, site.mode) for site in found.sites] == [
        ("__script__", True, SiteMode.WITHHELD), ("__script__", False, SiteMode.WITHHELD),
    ]  # fmt: skip
    assert "deepStrictEqual" in found.sites[1].check
    assert rewrite(source).sites[0].mode is SiteMode.LEFT  # in a file of tests nothing waits for it


def test_what_is_left_stays_with_all_it_needs_and_the_numbers_too() -> None:
    source = body(
        "const want = [1];\nassert.deepEqual(lib.f(), want);\nassert.deepEqual(lib.g(), want);\nassert.ok(lib.h());"
    )
    whole, part = rewrite(source), rewrite(source, left=[1])
    assert "want = undefined" in whole.source
    assert "want = [1]" in part.source
    assert "assert.deepEqual(lib.g(), want)" in part.source
    assert [site.number for site in whole.sites] == [site.number for site in part.sites] == [0, 1, 2]
    assert part.sites[1].mode is SiteMode.LEFT
    assert rewrite(source, left=range(3)).source == source


@pytest.mark.parametrize(
    "imported",
    [
        "import assert from 'node:assert';", "import * as assert from 'assert';",
        "import { strict as assert } from 'assert';",
        "import { default as assert } from 'assert';", "const assert = require('assert').strict;",
        "const { strict: assert } = require('node:assert');", "const assert = require('assert/strict');",
        "var assert = require('assert');", "let { ok: assert } = require('assert');",
    ],
)  # fmt: skip
def test_the_library_under_any_name(imported: str) -> None:
    found = rewrite(f"{imported}\ntest('t', () => {{ assert(lib.f() === 4); }});")
    assert [site.mode for site in found.sites] == [SiteMode.WITHHELD]
    assert found.definitions.startswith("const assert = require")


@pytest.mark.parametrize("source", ["", "assert.equal(", "#!/usr/bin/env node\n", "x" * (2**20 + 1), "'\ud800'"])
def test_what_cannot_be_read_comes_back(source: str) -> None:
    assert rewrite(source).source == source
    assert rewrite(source).sites == ()


@given(st.text(alphabet="assertequal(){}[]'`$;,.=>!/ \n01x_é", max_size=80))
def test_nothing_breaks_it(text: str) -> None:
    source = body(text)
    found = rewrite(source)
    assert found.source.count("\n") == source.count("\n")
