"""The judge of JavaScript values: a stranger's values meet the test author's expressions, in a sandbox."""

from __future__ import annotations

import pytest

from repoassay.errors import Unavailable
from repoassay.grading.oracle.language import decide_javascript
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.programs import node_program
from repoassay.sandbox.protocol import Sandbox
from repoassay.sandbox.sandbox import open_sandbox

try:
    node_program()
except Unavailable:
    pytestmark = pytest.mark.skip("node is not installed")

EQUAL = '(require("node:assert").deepStrictEqual(_0, { a: 3 }), true)'
OBJECT = ["object", ["Object"], [["a", 3]]]


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return open_sandbox("namespaces", Cache())


def test_holds_fails_and_what_cannot_be_asked(sandbox: Sandbox) -> None:
    checks: list[tuple[str, list[object]]] = [
        (EQUAL, [OBJECT]), (EQUAL, [["object", ["class Object", "Object"], [["a", 3]]]]), (EQUAL, [3]),
        (EQUAL, [["object", ["Object"], [["__proto__", OBJECT]]]]), ("Boolean(_0.includes('a'))", [None]),
        ("Boolean(own(_0))", ["a"]), ("throw 1", []),
    ]  # fmt: skip
    answers = decide_javascript("const own = (x) => x === 'a';", checks, sandbox)
    assert answers[:4] == ["holds", "fails", "fails", "fails"]
    assert answers[4].startswith("error: Cannot read")
    assert answers[5] == "holds"
    assert answers[6].startswith("error: ")
    assert decide_javascript("", [], sandbox) == []


@pytest.mark.parametrize(
    "value",
    [
        ["process.exit(0)"], ["constructor"], ["__proto__", 1], [], [[]], ["object", "x", 3], ["cycle", 9],
        ["regexp", "(", "g", 0],
        ["bytes", "Function", "00"], ["bigint", "x"], ["object", ["__proto__", "Object"], []], ["date"], ["more"],
    ],
)  # fmt: skip
def test_values_that_are_none_decide_nothing_and_harm_nobody(sandbox: Sandbox, value: object) -> None:
    wrong, right = decide_javascript("", [(EQUAL, [value]), (EQUAL, [OBJECT])], sandbox)
    assert wrong == "fails" or wrong.startswith("error: ")
    assert right == "holds"


@pytest.mark.long
def test_neither_depth_nor_time_is_had(sandbox: Sandbox) -> None:
    deep: object = 1
    for _ in range(900):
        deep = ["array", [deep]]
    slow = ("/^(a+)+$/.test(_0)", ["a" * 40 + "b"])
    answers = decide_javascript("", [slow, (EQUAL, [deep]), (EQUAL, [OBJECT])], sandbox)
    assert "timed out" in answers[0]
    assert answers[1] == "fails" or answers[1].startswith("error: ")
    assert answers[2] == "holds"


@pytest.mark.exhaustive
def test_nor_is_memory(sandbox: Sandbox) -> None:
    large = decide_javascript(
        "", [("new Array(2e8).fill(_0).map((x) => [x]).length > 0", [1]), (EQUAL, [OBJECT])], sandbox
    )
    assert all(answer.startswith("error: ") for answer in large)
