"""Where tests of JavaScript runners can be altered so that they must fail."""

from __future__ import annotations

import re

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
    ("t.equal(f(x), 'a \\n' + x.name + '\\'b');", 2),
    ("t.equal(f(x), `a\\n\nb`);\nt.equal(g(x), `a ${x}`);", 2),
    ("argv.should.deep.equal({_: ['--num2'], one: 1})", 2),
    ("f(x)[0].name.should.equal('one');\nargv.should.have.property('a').and.equal(2)", 1),
    ("await expect(f()).resolves.toEqual('abc');", 1),
    ("same(f(), {a: 1});\nstrictEqual(g(), 'x');", 2),
    ("request(app)\n.get('/a')\n.expect('Content-Type', 'text')\n.expect(200, '{}', done);", 3),
    ("return request(app).get('/').expect({a: 'b'}).expect(/x/)", 1),
    ("await agent.post('/').send({a: 1}).expect(201)\nconst x = 1", 1),
    ("request(app).get('/').expect(200).end(done)", 1),
    ("var cb = after(2, done)\nrequest(app).get('/').expect(201, cb)\nrequest(app).get('/').expect(201, other)", 1),
    ("const x = 'one'\nexpect(x).toBe('two')\nlet y = z[1]\nequal(y, 1)\nconst v = y\nassert.equal(v, 2)", 3),
    ("try {\nconst x = f()\nexpect(x).toBe(1)\n} finally {\nclean()\n}", 1),
])  # fmt: skip
def test_literals_of_equalities_are_altered(body: str, count: int) -> None:
    assert len(changed(body)) == count


@pytest.mark.parametrize(("body", "inverted"), [
    ("t.true(f());", "t.false(f());"),
    ("t['throws'](f, RangeError);", "t['doesNotThrow'](f, RangeError);"),
    ("t.deepEqual(f(), g());", "t.notDeepEqual(f(), g());"),
    ("assert.deepEqual(f(), g());", "assert.notDeepEqual(f(), g());"),
    ("assert.isTrue(f());", "assert.isNotTrue(f());"),
    ("assert.isUndefined(f());", "assert.isDefined(f());"),
    ("assert.ok(a < b, 'why');", "assert.ok(!(a < b), 'why');"),
    ("assert(a);", "assert(!(a));"),
    ("expect(() => f()).toThrow(/x/);", "expect(() => f()).not.toThrow(/x/);"),
    ("expect(f()).not.toContain(3);", "expect(f()).toContain(3);"),
    ("await expect(f()).rejects.toThrow('x');", "await expect(f()).rejects.not.toThrow('x');"),
    ("expect(f()).to.be.true;", "expect(f()).not.to.be.true;"),
    ("argv.one.should.be.true", "argv.one.should.not.be.true"),
    ("argv.should.not.have.property('x')", "argv.should.have.property('x')"),
])  # fmt: skip
def test_other_assertions_are_inverted(body: str, inverted: str) -> None:
    assert changed(body) == [inverted]


@pytest.mark.parametrize("body", [
    "if (x)\n\tt.is(f(), 1);", "if (x) {\n\tt.is(f(), 1);\n}", "return x || t.is(f(), 1);", "run(() => t.is(f(), 1));",
    "request(app).get('/').expect(200);", "return request(app).expect(200) || t.is(f(), 1);",
    "request(app).get('/').expect(200).end(() => done());", "// t.is(f(), 1);",
    "const s = `t.is(f(), 1);`;", "x = t.is(f(), 1);", "t.is(f(), 1",
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


SHOP = """\
import {total} from './shop';
const ROWS = [[1, 2], [3, 4]];
const macro = async (t, value) => { t.is(await total(value), value); };
test('by macro', macro, 1);
test('by macro too', macro, 2);
const called = t => { t.is(total(1), 1); };
test('also called', called);
test('calls', t => { called(t); });
for (const [value, wanted] of ROWS) { test(`row ${value}`, t => { t.is(total(value), wanted); }); }
it.each(ROWS)('each %s', value => { expect(total(value)).toBe(7); });
function checks(name, wanted) { describe(name, () => {
    it('is right', () => { expect(total(name)).toBe(wanted); });
}); }
"""


def test_a_body_of_many_tests_is_altered_for_one_of_them() -> None:
    assert [*find_alterables(SHOP)] == ["calls"]
    found = find_alterables(
        SHOP, {"by macro", "by macro too", "row 1", "row 3", "each 1", "each 3", "a::is right", "calls"}
    )
    (own,) = found.pop("calls")
    altered = alter(SHOP, {own: 1})
    assert "const called = t => { t.is(total(1), 1); };\ntest('also called', called);" in altered
    assert re.search(
        r"const (called\w+) = t => \{ t.is\(total\(1\), [^1]\); \};.*t => \{ \1\(t\); \}", altered, re.DOTALL
    )
    assert sorted(found) == ["a::is right", "by macro", "each 1", "row 1"]
    assert {alter(SHOP, {places[0]: 1}) for places in found.values()} == {
        SHOP.replace("t.is(await", "t.not(await"), SHOP.replace("t.is(total(value), w", "t.not(total(value), w"),
        SHOP.replace("toBe(7", f"toBe({found['each 1'][0].options[1][0]}"),
        SHOP.replace("expect(total(name)).toBe", "expect(total(name)).not.toBe"),
    }  # fmt: skip


HELPERS = """\
function equals(a: any): void { expect(a).toBe('one'); }
const waits = async (v) => { await v; assert.ok(v); };
describe('s', () => {
    const equals = (a) => { expect(a).toBe('two'); };
    it('nearer', () => { equals(1); });
    it('waits', async () => { await waits(1); });
    it('does not wait', () => { waits(1); });
    it('is given one', (equals) => { equals(1); });
});
it('farther', () => equals(1));
let other = (a) => { expect(a).toBe('three'); };
it('may be another', () => { other(1); });
"""


def test_a_call_of_a_helper_that_asserts_is_altered_in_a_copy_of_it_for_this_call() -> None:
    found = find_alterables(HELPERS)
    assert [*found] == ["s::nearer", "s::waits", "farther"]
    assert {name: places[0].telling for name, places in found.items()} == {
        "s::nearer": True, "s::waits": False, "farther": True,
    }  # fmt: skip
    real = alter(HELPERS, {place: 0 for places in found.values() for place in places})
    assert [real.count(f"toBe('{word}')") for word in ("one", "two", "three")] == [2, 2, 1]
    altered = alter(HELPERS, {found["farther"][0]: 1})
    assert [altered.count(f"toBe('{word}')") for word in ("one", "two", "three")] == [1, 1, 1]


@pytest.mark.parametrize(("end", "count"), [
    ("s.close(done);", 1),
    ("s.close(() => { equal(g(), 2); s.close(1, done); });", 2),
    ("done();", 1),
    ("s.on('error', done); s.close(done);", 1),
    ("s.on('error', () => { done(new Error('x')); }); s.close(done);", 1),
    ("g().then(() => { equal(g(), 2); done(); }).catch(done);", 2),
    ("g().then(() => { done(); }, done);", 1),
    ("s.on('error', done);", 0),
    ("s.close(done); s.end(done);", 0),
    ("s.close(() => done);", 1),
])  # fmt: skip
def test_a_test_that_hands_its_end_over_is_altered_up_to_there(end: str, count: int) -> None:
    source = f"it('a', (done) => {{\nconst s = run(() => {{\nequal(f(), 1);\n{end}\n}});\n}});\n"
    assert sum(map(len, find_alterables(source).values())) == count


def test_what_a_helper_of_the_tests_is_given_as_expected_is_altered() -> None:
    calls = """
it('own', () => { check({ input: 'a', expected: {'a': 'b'}, wants: 'c' }); });
it('of another file', () => { near({ args: [1], expect: 'b', count: 2 }); });
it('of a package', () => { far({ expect: 'b' }); });
it('lists', () => { near({ valid: ['a', 'b'], invalid: ['c'] }); near({ valid: [] }); });
"""
    head = "import near from './near';\nimport far from 'far';\nfunction check(o) { for (const x in o) run(x); }"
    found = find_alterables(head + calls)
    assert {name: len(places) for name, places in found.items()} == {"own": 1, "of another file": 1, "lists": 1}
    assert all(word in alter(head + calls, {found["lists"][0]: 1}) for word in ("invalid: ['a'", "{ valid: ['c']"[2:]))
    assert "expected: {'a': 'b'}" not in alter(head + calls, {found["own"][0]: 1})


@pytest.mark.parametrize(("function", "count"), [
    ("() => expect(f()).toBe(1)", 1),
    ("async t => await t.is(f(), 1)", 1),
    ("() =>\n\texpect(f())\n\t\t.toBe('a'), 100", 1),
    ("() => x ? expect(f()).toBe(1) : g()", 0),
    ("() => { return expect(f()).toBe(1); }", 1),
    ("() => f().then((res) => { expect(res).toBe(1); g(res); assert(x); })", 2),
    ("() => { return f().then(res => expect(res).toBe(1)).then(() => { t.is(x, 2); }); }", 2),
    ("async () => { await f(1).then(function (res) { expect(res).toBe(1); }); }", 1),
    ("() => { f().then((res) => { expect(res).toBe(1); }); }", 0),
    ("() => f().then((res) => { expect(res).toBe(1); }).catch(done)", 0),
    ("() => f().then((res) => { expect(res).toBe(1); }, done)", 0),
    ("() => f().catch((error) => { expect(error).toBe(1); })", 0),
])  # fmt: skip
def test_what_a_test_returns_or_waits_for_is_altered(function: str, count: int) -> None:
    assert sum(map(len, find_alterables(f"it('a', {function});\n").values())) == count


def test_a_name_that_two_declarations_may_have_tells_of_neither() -> None:
    rows = "for (const [name, wanted] of rows) { test(%s, t => { t.is(f(name), wanted); }); }\n"
    assert find_alterables(rows % "name" + rows % "`of ${name}`", {"of one"}) == {}
    assert sorted(find_alterables(rows % "name" + rows % "`of ${name}`", {"of one", "two"})) == ["two"]
    assert find_alterables(rows % "name" + "test('one', imported);\n", {"one"}) == {}


@pytest.mark.parametrize(("body", "count"), [
    ("const rows = [[1, 2]];\nrows.forEach(([a, b]) => { t.equal(f(a), b); t.equal(g(a), 'x'); });", 2),
    ("for (const [a, b] of [[1, 2]]) {\n\tt.equal(f(a), b);\n}", 1),
    ("t.test('b', t => { t.same(f(), g()); });\ntest('c', t => { t.ok(f()); });", 2),
    ("for (let i = 0; i < 10; i += 5) {\n\tt.equal(f(i), 2);\n}", 1),
    ("for (let i = 3; i < 3; i++) {\n\tt.equal(f(i), 2);\n}", 0),
    ("for (let i = 0; i < n; i++) {\n\tt.equal(f(i), 2);\n}", 0),
    ("for (const [a, b] of rows()) {\n\tt.equal(f(a), b);\n}", 0),
    ("for (const [a, b] of []) {\n\tt.equal(f(a), b);\n}", 0),
    ("const rows = [];\nrows.forEach(([a, b]) => { t.equal(f(a), b); });", 0),
    ("const rows = [[1, 2]];\nrows.pop();\nrows.forEach(([a, b]) => { t.equal(f(a), b); });", 0),
    ("for (const [a, b] of [[1, 2]]) {\n\tif (a) continue;\n\tt.equal(f(a), b);\n}", 0),
    ("run()\n[[1, 2]].forEach(([a, b]) => { t.equal(f(a), b); });", 0),
])  # fmt: skip
def test_loops_over_rows_that_are_there_and_tests_within_belong_to_the_test(body: str, count: int) -> None:
    assert len(changed(body)) == count


def test_tests_of_tap_are_told() -> None:
    source = (
        "t.test('a', t => { t.equal(f(), 1); t.test('b', t => { t.end(); }); });\ntap.test('c', t => { t.ok(f()); });"
    )
    assert sorted(find_alterables(source)) == ["a", "c"]
    assert count_tests(source) == 3


def test_tests_with_fixtures_of_their_own_are_told() -> None:
    source = "const local = test.extend({shop: []});\n"
    source += "describe('x', () => { local('a', ({shop}) => { expect(f(shop)).toBe(1); }); });"
    imported = "import {localTest} from './utils';\nlocalTest('a', ({shop}) => { expect(f(shop)).toBe(1); });"
    for text, name in ((source, "x::a"), (imported, "a")):
        assert sorted(find_alterables(text)) == [name]
        assert count_tests(text) == 1


READ = "read(a, x => {\nequal(x, 2)\ndone()\n})"


@pytest.mark.parametrize(("parameter", "body", "count"), [
    ("done", "remove(files, (err, errors) => {\nassert.ifError(err)\nassert.equal(errors.length, 0)\ndone()\n})", 1),
    ("done", "f(function (e) {\nif (e) return done(e)\nequal(e, 1)\nread(b, x => {\nequal(x, 2); done(x) })\n})", 2),
    ("done", "read(a, x => {\nif (x) { equal(x, 2)\ndone() }\n})", 0),
    ("done", f"{READ}\nother(() => done())", 0),
    ("done", f"{READ}\nother(done)", 0),
    ("done", READ, 1),
    ("done", "read(a, x => {\ndone()\nequal(x, 2)\n})", 0),
    ("done", "read(a, x => {\nequal(x, 2)\n})\ndone()", 0),
    ("done", "try {\nequal(x, 2)\ndone() } catch (e) { other(e) }", 0),
    ("st", "st.equal(f(), 1);\nread(x => {\nst.equal(x, 2);\nst.end();\n});", 2),
    ("st", "st.equal(f(), 1);\nst.ok(1);", 0),
    ("st", "st.plan(2);\nst.equal(f(), 1);", 1),
    ("st", "read(x => {\nst.equal(x, 2);\nst.end();\n});\nreturn later();", 0),
    ("st", "read(x => {\nst.equal(x, 2);\nst.end();\n});\nhelp(st);", 0),
])  # fmt: skip
def test_assertions_in_the_callback_that_ends_a_test_are_altered(parameter: str, body: str, count: int) -> None:
    for head in (f"function ({parameter}) {{", f"({parameter}) => {{", f"{parameter} => {{"):
        source = f"test('a', {head}\n{body}\n}});\n"
        assert len(find_alterables(source).get("a", [])) == count, source
    if ".end" in body:
        found = find_alterables(f"test('a', async ({parameter}) => {{\n{body}\n}})").get("a", [])
        assert len(found) == body.count("f()")


def test_tests_within_tests_that_have_results_of_their_own_are_altered_apart() -> None:
    inner = "st['throws'](f, RangeError);\nst.end();"
    source = f"test('a', t => {{\nt.equal(f(), 1);\nt.test('b', function (st) {{\n{inner}\n}});\nt.end();\n}});\n"
    counts = [
        {name: len(places) for name, places in find_alterables(source, tests).items()}
        for tests in (None, {"a"}, {"a", "b"})
    ]
    assert counts == [{"a": 2}, {"a": 2}, {"a": 1, "b": 1}]


def test_a_name_to_which_a_helper_adds_is_known_by_the_one_declaration_that_it_holds() -> None:
    source = """matrix('all', ({it, describe}) => {
    describe('paths', () => {
        it('keeps a query', async () => { expect(f()).toBe(1); });
        it('keeps', async () => { expect(f()).toBe(2); });
        it('drops a slash', async () => { expect(f()).toBe(3); });
    });
});
"""
    whole = {
        f"all::{each}::paths::{title} ({each})"
        for each in ("node", "web")
        for title in ("keeps a query", "drops a slash")
    }
    found = find_alterables(source, whole)
    assert sorted(set(found) & whole) == ["all::node::paths::drops a slash (node)"]
    assert not set(find_alterables(source, {"all::node::other::drops a slash (node)"})) & whole


def test_what_a_helper_of_the_file_compares_is_altered() -> None:
    source = """const same = (actual, expected) => {
  assert.deepStrictEqual(actual.map(each => each.name), expected);
};
test('a', () => {
  const expected = [['bos', ''], ['text', 'x']];
  same(parse('one'), expected);
});
test('b', () => { same(parse('two'), ['three']); });
test('c', () => { const other = ['four']; same(parse(other), other); });
test('d', () => { same(parse('five')); });
"""
    found = find_alterables(source)
    assert {name: len(places) for name, places in found.items()} == {"a": 4, "b": 1}
    assert not find_alterables("const last = (x)")
    altered = [alter(source, {place: 1}) for places in found.values() for place in places]
    assert all("'one'" in each and "'two'" in each for each in altered)


def test_tests_and_assertions_of_uvu_are_known() -> None:
    source = """import { suite, test } from 'uvu';
import { is, equal } from 'uvu/assert';
const Paths = suite('paths');
Paths('joins', () => { is(join(x), y); });
Paths.run();
test('joins', () => { equal(join(x), [1]); assert.equal(x, y); });
"""
    found = find_alterables(source)
    assert set(found) == {"paths::joins", "joins"}
    altered = [alter(source, {place: 0}) + alter(source, {place: 1}) for each in found.values() for place in each]
    assert [word for word in ("is.not(join", "assert.not.equal(x", "[1]") if any(word in each for each in altered)]


def test_escapes_stay_where_a_text_is_altered() -> None:
    for text in (r"'\n'", r"'\x41'", r"'a\u0041'", r"`\u{1F600} b`", r"'it\'s'"):
        (found,) = changed(f"t.is(f(), {text});")
        assert all(escape in found for escape in re.findall(r"\\(?:u\{\w+\}|u\w{4}|x\w\w|.)", text)), found


def test_how_many_assertions_there_are_to_be_is_not_altered() -> None:
    """It fails in whatever way assertions are judged: tap with `fail` made to pass was believed so."""
    assert changed("t.plan(3);\nf(x => { t.equal(x, 1); });") == []
    assert changed("expect.assertions(2);") == []


@pytest.mark.parametrize(("head", "count"), [
    ("var forEach = require('for-each');", 1), ("import {forEach} from 'x';", 1), ("import forEach from './x.js';", 0),
    ("const forEach = (rows, each) => {};", 0),
])  # fmt: skip
def test_rows_that_a_function_of_a_package_goes_through_are_altered(head: str, count: int) -> None:
    source = (
        f"{head}\ntest('a', t => {{ forEach(['x', 'y'], function (tag) {{ t.equal(f(tag), 'is ' + tag); }}); }});\n"
    )
    assert sum(map(len, find_alterables(source).values())) == count


def test_names_with_quotes_are_known() -> None:
    names = r"""test("f(\"s\") of \'a\'", () => { assert.equal(f(), 1); });"""
    source = f"{names}\n" + r'test("b\n", () => { assert.equal(f(), 1); });'
    assert [*find_alterables(source)] == ["f(\"s\") of 'a'"]
