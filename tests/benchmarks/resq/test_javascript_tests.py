"""Tests of scripts for node, as listed without running them, against what the runner itself reports."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from repoassay.benchmarks.resq.javascript_tests import javascript_tests, script_name
from repoassay.benchmarks.resq.parametrized_tests import Unlisted

START = "const { test, it, describe, suite } = require('node:test');\n"
SCRIPT = ("__script__",)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("test('one', () => {});\ntest(\"two\", async () => {});\n", ("one", "two")),
        ("describe('a', () => { it('b', ok); describe('c', () => { it('d', () => {}); }); });", ("a::b", "a::c::d")),
        ("suite('a', function () { test('b', (t, done) => done()); })", ("a::b",)),
        ("test(`back`, () => {});", ("back",)),
        (r"test('it\'s \u0061 \x62\u{63}', () => {});", ("it's a bc",)),
        ("test(function named() {});", ("named",)),
        ("test('a', { timeout: 5 }, () => {});", ("a",)),
        ("test('a', { skip: true }, () => {}); test('b', { todo: 'soon' }, () => {}); test('c', () => {});", ("c",)),
        ("test('a', { skip: false }, () => {});", ("a",)),
        ("test.skip('a', () => {}); it.todo('b'); test.only('c', () => {}); test('d');", ("c",)),
        ("describe.skip('a', () => { it('b', () => {}); }); test('c', () => {});", ("c",)),
        ("test.describe('a', () => { test.it('b', () => {}); });", ("a::b",)),
        ("await test('a', () => {});", ("a",)),
        ("const x = 1\ntest('a', check)\n", ("a",)),
        ("test('a', (t) => { t.test('inside', () => {}); /test('x'/.test('y'); });", ("a",)),
        ("// test('no', () => {})\nconst s = \"test('no', () => {})\";", SCRIPT),
        ("test.skip('a', () => {});", SCRIPT),
    ],
)  # fmt: skip
def test_lists_what_there_is(source: str, names: tuple[str, ...]) -> None:
    assert javascript_tests(START + source) == names


def test_modules_too() -> None:
    source = "import test, { describe } from 'node:test';\ndescribe('a', () => { test('b', () => {}); });\n"
    assert javascript_tests(source) == ("a::b",)
    assert script_name(source) == "test_script.mjs"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("for (const x of [1, 2]) test('a', () => {});", "loops or functions"),
        ("for (const x of [1, 2]) { test('a', () => {}); }", "loops or functions"),
        ("[1, 2].forEach(() => test('a', () => {}));", "loops or functions"),
        ("if (x) test('a', () => {});", "loops or functions"),
        ("if (x) test('a', () => {}); else test('b', () => {});", "loops or functions"),
        ("test(`a ${1}`, () => {});", "known only by running"),
        ("test('a' + b, () => {});", "no plain text"),
        ("test(name, () => {});", "no plain text"),
        ("test();", "without a name"),
        ("test('  ', () => {});", "empty name"),
        ("test('a', () => {}); test('a', () => {});", "two tests named a"),
        ("test('a', { skip: process.platform }, () => {});", "on a condition"),
        ("test.each([1])('a', () => {});", "test.each"),
        ("describe('a', cases);", "function's name"),
        ("test('a', () => {);", "do not match"),
        (r"test('\ud83d', () => {});", "surrogate"),
        ("test('a', () => { test('b', () => {}); });", "loops or functions"),
    ],
)
def test_refuses_what_only_running_it_would_tell(source: str, said: str) -> None:
    with pytest.raises(Unlisted, match=said):
        javascript_tests(START + source)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "is empty"),
        ("// nothing\n", "is empty"),
        ("describe('a', () => { it('b', () => {}); });", "without importing it"),
        ("import { test } from 'vitest';\ntest('a', () => {});", "written for vitest"),
        ("const { it } = require('mocha');\nit('a', () => {});", "written for mocha"),
        ("import { test as check } from 'node:test';\ncheck('a', () => {});", "other names"),
        ("import runner from 'node:test';\nrunner('a', () => {});", "imports runner"),
        ("const t = require('node:test');\nt('a', () => {});", "imports t from"),
        ("require('./x');\nprocess.exit(0);", "ends itself"),
        ("main().then(() => process.exit());", "ends itself"),
        ("x" * (2**20 + 1), "longer than"),
    ],
)
def test_refuses_other_runners_and_ends(source: str, said: str) -> None:
    with pytest.raises(Unlisted, match=said):
        javascript_tests(source)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import assert from 'node:assert';", "test_script.mjs"),
        ("import './x.js';", "test_script.mjs"),
        ("export const x = 1;", "test_script.mjs"),
        ("await import('./x.js');", "test_script.mjs"),
        ("console.log(import.meta.url);", "test_script.mjs"),
        ("const x = require('x');", "test_script.cjs"),
        ("module.exports = 1;", "test_script.cjs"),
        ("console.log(__dirname);", "test_script.cjs"),
        ("(async () => { await import('./x.mjs'); })();", "test_script.js"),
        ("const s = \"import x from 'y'\"; // require('z')", "test_script.js"),
        ("const x = require('x'); const y = { import: 1, export: 2 };", "test_script.cjs"),
        ("", "test_script.js"),
    ],
)  # fmt: skip
def test_a_script_is_called_by_what_it_is(source: str, name: str) -> None:
    assert script_name(source) == name


@pytest.mark.by_day(3)
@pytest.mark.parametrize("piece", ["f(", "describe('a', () => {", "test('a', ok);", "'\\", "/[", "/*", "`\\", "test("])
def test_what_is_large_is_refused_soon(piece: str) -> None:
    with pytest.raises(Unlisted):
        javascript_tests(START + piece * (200_000 // len(piece)))


@given(st.text(alphabet="test(){}[]'\"`;,.=>\\ /\nit$awx", max_size=60))
def test_nothing_breaks_it(source: str) -> None:
    script_name(source)
    try:
        names = javascript_tests(START + source)
    except Unlisted:
        return
    assert names and all(names)
