"""Where tests of JavaScript runners can be altered so that they must fail."""

from __future__ import annotations

import pytest

from repoassay.grading.oracle.alteration import alter
from repoassay.grading.oracle.javascript_alteration import count_tests, find_alterables


def changed(body: str, name: str = "a") -> list[str]:
    """The body of a test with each place altered, one at a time."""
    source = f"test('a', async (t): Promise<void> => {{\n{body}\n}});\n"
    places = find_alterables(source).get(name, [])
    before, after = "test('a', async (t): Promise<void> => {\n", "\n});\n"
    found = [alter(source, {place: 1}).removeprefix(before).removesuffix(after) for place in places]
    assert body not in found
    return found


@pytest.mark.parametrize(("body", "count"), [
    ("t.is(f(1), 42);", 1),
    ("t.deepEqual(await f<string>(x as any), {a: 'one', b: [1, 2]});", 3),
    ("const x: number = 1;\nassert.equal(x, 'é' + y);", 1),
    ("expect(f(1)).toBe(42);", 1),
    ("t.plan(2);", 1),
    ("expect.assertions(2);", 1),
    ("await expect(f()).resolves.toEqual('abc');", 1),
])  # fmt: skip
def test_literals_of_equalities_are_altered(body: str, count: int) -> None:
    assert len(changed(body)) == count


@pytest.mark.parametrize(("body", "inverted"), [
    ("t.true(f());", "t.false(f());"),
    ("t.deepEqual(f(), g());", "t.notDeepEqual(f(), g());"),
    ("assert.deepEqual(f(), g());", "assert.notDeepEqual(f(), g());"),
    ("assert.ok(a < b, 'why');", "assert.ok(!(a < b), 'why');"),
    ("assert(a);", "assert(!(a));"),
    ("expect(() => f()).toThrow(/x/);", "expect(() => f()).not.toThrow(/x/);"),
    ("expect(f()).not.toContain(3);", "expect(f()).toContain(3);"),
    ("await expect(f()).rejects.toThrow('x');", "await expect(f()).rejects.not.toThrow('x');"),
    ("expect(f()).to.be.true;", "expect(f()).not.to.be.true;"),
])  # fmt: skip
def test_other_assertions_are_inverted(body: str, inverted: str) -> None:
    assert changed(body) == [inverted]


@pytest.mark.parametrize("body", [
    "if (x)\n\tt.is(f(), 1);", "if (x) {\n\tt.is(f(), 1);\n}", "return x || t.is(f(), 1);", "run(() => t.is(f(), 1));",
    "// t.is(f(), 1);", "const s = `t.is(f(), 1);`;", "x = t.is(f(), 1);", "t.is(f(), 1",
])  # fmt: skip
def test_what_a_passing_run_may_leave_out_is_no_place(body: str) -> None:
    assert changed(body) == []


def test_tests_are_told_by_their_suites_and_doubled_names_are_passed_over() -> None:
    one = "it('%s', () => { assert.equal(a, 1); });\n"
    source = f"describe('x', () => {{ {one % 'a'} {one % 'b'} {one % 'b'} }});\n{one % 'a'} it.skip('c', () => {{}});"
    source += (
        f"it('with [brackets]', {{timeout: 5}}, function () {{ expect(a).toBe(1); }});\ndescribe(n, () => {{ {one} }});"
    )
    assert sorted(find_alterables(source)) == ["a", "with ", "x::a"]
    assert count_tests(source) == 6


def test_an_altered_literal_is_another_in_every_spelling() -> None:
    (place,) = find_alterables("test('a', t => { t.is(f(), 3); });")["a"]
    assert len(set(place.options)) == len(place.options) == 4
