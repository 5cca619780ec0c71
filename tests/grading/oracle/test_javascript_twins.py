"""Twins of JavaScript tests: exactly those tests fail that must."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from javascript_runs import Task
from repoassay.errors import Unavailable
from repoassay.grading.oracle.javascript import rewrite
from repoassay.grading.oracle.javascript_twins import twins
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.programs import node_program
from repoassay.sandbox.sandbox import open_sandbox

try:
    node_program()
except Unavailable:
    pytestmark = pytest.mark.skip("node is not installed")

SOURCE = """\
const assert = require('node:assert/strict');
const { test } = require('node:test');
class Mine extends Error {}
const f = (x) => { if (x < 0) throw new Mine('low'); return [x]; };
test('same', () => { assert.deepEqual(f(1), f(1)); });
test('other', () => { assert.notStrictEqual(f(1), f(1)); });
test('throws', () => { assert.throws(() => f(-1), Mine); });
test('rejects', async () => { await assert.rejects(async () => f(-1), Mine); });
test('outside', () => { assert.deepEqual(f(3), [3]); if (f(1)) assert.deepEqual(f(2), f(2)); });
"""


@pytest.mark.long
def test_exactly_those_fail_that_must(tmp_path: Path) -> None:
    names = ("same", "other", "throws", "rejects", "outside")
    task = Task(tmp_path, {"x.test.cjs": SOURCE}, [f"x.test.cjs::{name}" for name in names],
                open_sandbox("namespaces", Cache()))  # fmt: skip
    found = twins(rewrite(SOURCE), random.Random(3), 6)
    assert found == twins(rewrite(SOURCE), random.Random(3), 6)
    assert set().union(*(twin.failing for twin in found)) == set(names) - {"outside"}
    for twin in found:
        outcomes = replace(task, tests={"x.test.cjs": twin.source}).run({}, plain=True).outcomes
        assert {name.partition("::")[2] for name, outcome in outcomes.items() if outcome == "failed"} == twin.failing
