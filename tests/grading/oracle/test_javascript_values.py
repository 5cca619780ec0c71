"""Values of JavaScript on their way out: as they were once decoded, and told apart from all others."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from repoassay.errors import Unavailable
from repoassay.grading import oracle
from repoassay.grading.oracle.javascript_values import same_javascript_value, tells
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.programs import node_program
from repoassay.sandbox.protocol import Command
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.types.files import FileEdit

try:
    node_program()
except Unavailable:
    pytestmark = pytest.mark.skip("node is not installed")

HERE = Path(oracle.__file__).parent
VALUES = """\
class Point { constructor() { this.x = 1; } get far() { throw new Error('asked'); } }
class Deep extends Map {}
class Broken extends RangeError { constructor(m) { super(m, { cause: new Error('why') }); this.code = 7; } }
const cyclic = { list: [] }; cyclic.list.push(cyclic);
const values = [
  undefined, null, true, false, 1, '1', 1n, -0, 0, NaN, Infinity, -Infinity, 1e21, '', 'a"\\ud800', Symbol('x'),
  Symbol.for('x'),
  Symbol.iterator, [], [undefined], [,], [1, 2], [2, 1], Object.assign([1, 2], { more: 1 }), {}, { a: 1 },
  { a: undefined },
  Object.create(null), JSON.parse('{"__proto__": 1}'), new Point(), { x: 1 }, new Map(), new Map([[1, 2]]),
  new Deep([[1, 2]]),
  new Set([1]), new Set(['1']), new Date(0), new Date(NaN), /a/, /a/g, new Uint8Array([1]), new Int8Array([1]),
  Buffer.from([1]),
  new ArrayBuffer(1), new Error('a'), new TypeError('a'), new Broken('a'), Object.assign(new Error('a'), { code: 'E' }),
  new AggregateError([1], 'a'), Object(1), Object('1'), (function () { return arguments; })(1), function f() {},
  class G {},
  new URL('http://a/b'), cyclic, { [Symbol.for('k')]: 1 }, new Float64Array([0.1]), new DataView(new ArrayBuffer(2)),
];
"""
LOOK = (
    VALUES
    + """
const { encode } = require('./javascript_encode.cjs');
const { decode, decoder } = require('./javascript_decode.cjs');
let asked = 0;
const odd = {
  proxy: new Proxy({}, { get() { asked++; }, ownKeys() { asked++; return []; },
    getPrototypeOf() { asked++; return null; } }),
  getter: { get a() { asked++; return 1; } }, promise: Promise.resolve(1), long: 'x'.repeat(2 ** 21),
  wide: Array(60000).fill(1), deep: JSON.parse('['.repeat(40) + ']'.repeat(40)),
  generator: (function* () { asked++; })(),
  json: { toJSON() { asked++; } }, tagged: { get [Symbol.toStringTag]() { asked++; } },
};
const texts = values.map(encode);
const again = texts.map((text) => encode(decode(JSON.parse(text), decoder())));
Object.prototype.toJSON = () => 'changed';
Array.prototype.push = () => 0;
JSON.stringify = () => 'changed';
const later = values.map(encode);
delete Object.prototype.toJSON;
const told = Object.entries(odd).map(([name, value]) => '"' + name + '":' + encode(value)).join(',');
process.stdout.write(`{"texts":[${texts}],"again":[${again}],"later":[${later}],"odd":{${told}},"asked":${asked}}`);
"""
)


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """What node makes of them."""
    parts = {f"/run/javascript_{part}.cjs": FileEdit((HERE / f"javascript_{part}.cjs").read_bytes())
             for part in ("encode", "decode")}  # fmt: skip
    parts["/run/look.cjs"] = FileEdit(LOOK.encode())
    done = open_sandbox("namespaces", Cache()).run(Command(argv=(node_program(), "/run/look.cjs"), edits=parts))
    assert not done.stderr, done.stderr.decode()
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_every_value_comes_back_as_it_was_whatever_is_patched(told: dict[str, Any]) -> None:
    assert len(told["texts"]) > 50
    assert told["again"] == told["texts"] == told["later"]


def test_no_two_values_are_the_same(told: dict[str, Any]) -> None:
    assert all(same_javascript_value(each, each) for each in told["texts"])
    assert not [(one, other) for one, other in combinations(told["texts"], 2) if same_javascript_value(one, other)]


def test_nothing_of_theirs_is_run_and_all_is_bounded(told: dict[str, Any]) -> None:
    odd = told["odd"]
    assert told["asked"] == 0
    assert odd["proxy"] == ["opaque", "Proxy"]
    assert odd["getter"] == ["object", ["Object"], [["a", ["accessor"]]]]
    assert odd["promise"] == ["opaque", "Promise"]
    assert odd["long"][0] == "digest"
    assert len(json.dumps(odd["wide"])) < 250_000
    assert "deeper" in json.dumps(odd["deep"])
    assert not any(tells(odd[name]) for name in ("proxy", "getter", "promise", "wide", "deep", "generator"))


def test_order_is_no_difference_where_it_is_none() -> None:
    one = ["object", ["Object"], [["a", 1], ["b", ["set", [1, 2]]]]]
    other = ["object", ["Object"], [["b", ["set", [2, 1]]], ["a", 1]]]
    assert same_javascript_value(one, other)
    assert not same_javascript_value(["array", [1, 2]], ["array", [2, 1]])
    assert not same_javascript_value(1, True)
    nested: object = 1
    for _ in range(5000):
        nested = [nested]
    assert not same_javascript_value(nested, nested)
