"""Changed copies of hidden JavaScript tests: what is changed must fail, and nothing else is touched."""

from __future__ import annotations

import random

import pytest

from repoassay.grading.hidden_tests.canary import MutationPoint
from repoassay.grading.hidden_tests.javascript import mutate, sites

SOURCE = """\
'use strict';
const assert = require('node:assert');
const { describe, it, test } = require('node:test');
// test('not this', () => { assert.equal(1, 1); });
const pattern = /test\\('nor this', [{(]/;

test('plain', () => {
  assert.strictEqual(add(1, 2), 3);
  assert.equal(name('a/b'), 'seven');
});

describe('outer', () => {
  it('inner', async () => {
    const half = 4 / 2;
    if (half > 5) {
      assert.equal(half, 3);
    }
    assert.deepStrictEqual(await rows(), [{ id: 1, name: 'x' }, -2.5], 'message 9');
  });
  it('without', () => {
    assert.ok(add(1, 2) === 3);
    assert.equal(add(1, 2), add(2, 1));
    assert.throws(() => add(1), { message: 'bad' });
  });
});

test(`template`, () => { assert.equal(1, 1); });
test('escaped \\' name', () => { assert.equal(1, 1); });
"""


def test_sites_are_equalities_at_the_top_of_a_body_with_a_literal() -> None:
    assert sites(SOURCE, "plain") == [MutationPoint("plain", 8, "altered"), MutationPoint("plain", 9, "altered")]
    assert sites(SOURCE, "outer::inner") == [MutationPoint("outer::inner", 18, "altered")]


@pytest.mark.parametrize("name", ["outer::without", "inner", "template", "not this", "nor this", "absent", ""])
def test_what_is_not_certain_is_no_site(name: str) -> None:
    assert sites(SOURCE, name) == []


@pytest.mark.parametrize("seed", range(40))
def test_one_literal_changes_and_nothing_else(seed: int) -> None:
    chance = random.Random(seed)
    site = chance.choice([*sites(SOURCE, "plain"), *sites(SOURCE, "outer::inner")])
    changed = mutate(SOURCE, site, chance)
    before, after = SOURCE.splitlines(), changed.splitlines()
    assert len(before) == len(after)
    assert [number for number, pair in enumerate(zip(before, after, strict=True), 1) if pair[0] != pair[1]] == [
        site.line
    ]
    line = after[site.line - 1]
    assert line.count("'") == before[site.line - 1].count("'")
    assert "id: " in line or site.line != 18  # keys stay
    assert line.endswith("'message 9');") or site.line != 18


@pytest.mark.parametrize(
    "source",
    [
        "test('a', () => { assert.equal(1, 1);",
        "test('a', () => { assert.equal(1, 1; });",
        "test('a', () => assert.equal(1, 1));",
        "test('a'",
        "test('a', () => { x.assert.equal(1, 1); });",
        "test('a', () => { assert.equal(1); });",
        "test('a', () => { const f = () => { assert.equal(1, 2); }; });",
        "test('a', () => { assert.equal(1, 0x10); });",
        "/* test('a', () => { assert.equal(1, 1); }); */",
        "'unterminated\ntest('a', () => { assert.equal(1, 1); });".replace("'a'", '"a'),
        "((((" * 5000,
        "\0\xff",
    ],
)
def test_strange_sources_have_no_sites(source: str) -> None:
    assert sites(source, "a") == []


def test_a_number_never_stays_and_text_keeps_its_quotes() -> None:
    source = "test('a', () => {\n  assert.equal(f(), \"b1\");\n});\ntest('n', () => {\n  assert.equal(f(), 0);\n});\n"
    for seed in range(50):
        text = mutate(source, sites(source, "a")[0], random.Random(seed)).splitlines()[1]
        number = mutate(source, sites(source, "n")[0], random.Random(seed)).splitlines()[4]
        assert text != '  assert.equal(f(), "b1");'
        assert text.count('"') == 2
        assert number != "  assert.equal(f(), 0);"


SCRIPT = """\
const assert = require('node:assert');
assert.equal(add(1, 2), 3);
if (windows) assert.equal(add(1, 3), 4);
for (const x of [])
  assert.equal(add(1, 4), 5);
if (x) { assert.equal(add(1, 5), 6); }
function never() { assert.equal(add(1, 6), 7); }
(async () => {
  assert.equal(await add(1, 7), 8);
})();
(async () => {
  assert.equal(await add(1, 8), 9);
})().catch(() => {});
assert.deepEqual(add(1, 9), [10]);
"""


def test_a_script_is_changed_where_it_is_certain_to_come_by() -> None:
    assert [site.line for site in sites(SCRIPT, "__script__")] == [2, 14, 9]


def test_a_changed_script_differs_in_one_literal() -> None:
    for site in sites(SCRIPT, "__script__"):
        changed = mutate(SCRIPT, site, random.Random(3))
        pairs = zip(SCRIPT.split("\n"), changed.split("\n"), strict=True)
        assert [number for number, (old, new) in enumerate(pairs, 1) if old != new] == [site.line]
