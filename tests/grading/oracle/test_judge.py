"""The judge: authors' expressions decide, and what an attacker sends stays a value in a box of its own."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from repoassay.grading.oracle.judge import OracleJudge, WithheldCheck
from repoassay.grading.oracle.observer import describe_exception, encode
from repoassay.sandbox.cache import Cache


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OracleJudge]:
    with OracleJudge(Cache(tmp_path_factory.mktemp("cache"))) as judge:
        yield judge


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OracleJudge]:
    with OracleJudge(Cache(tmp_path_factory.mktemp("cache")), seconds=1) as judge:
        yield judge


def ask(judge: OracleJudge, expression: str, *values: Any, definitions: str = "") -> str:
    return judge.decide(definitions, [WithheldCheck(expression, [encode(value) for value in values])])[0]


def test_checks_are_decided_in_order(judge: OracleJudge) -> None:
    definitions = (
        "import datetime\nfrom pytest import approx as near\nfrom decimal import Decimal\nWANTED = {'a': [1, 2]}"
    )
    checks: list[tuple[str, list[Any], str]] = [
        ("_0 == WANTED", [{"a": [1, 2]}], "holds"), ("_0 == WANTED", [{"a": [2, 1]}], "fails"),
        ("_0 == near(0.3)", [0.1 + 0.2], "holds"), ("_0 == pytest.approx([1, 2])", [[1, 2.1]], "fails"),
        ("_0 in WANTED and _1 not in WANTED", ["a", "b"], "holds"), ("almost(_0, 1, places=2)", [1.001], "holds"),
        ("count_equal(_0, [1, 2])", [(2, 1)], "holds"), ("_0 == Decimal('1.5')", [1.5], "holds"),
        ("all(item in WANTED['a'] for item in _0)", [[1]], "holds"), ("", [], "error: SyntaxError: "),
        ("_0 < 3", ["a"], "error: TypeError: "), ("missing", [], "error: NameError: "), ("_0", [[]], "fails"),
    ]  # fmt: skip
    answers = judge.decide(
        definitions, [WithheldCheck(text, [encode(value) for value in values]) for text, values, _ in checks]
    )
    for answer, (text, _, wanted) in zip(answers, checks, strict=True):
        assert answer.startswith(wanted) if wanted.startswith("error") else answer == wanted, text
    assert judge.decide("", []) == []


def test_exceptions_are_decided_by_class_and_text(judge: OracleJudge) -> None:
    node = describe_exception(KeyError("abc"))
    checks = ["raised(_0, ['builtins.LookupError'], 'a.c')", "raised(_0, 'builtins.KeyError', '^abc')"]
    assert judge.decide("", [WithheldCheck(text, [node]) for text in checks]) == ["holds", "fails"]


@pytest.mark.parametrize("name", ["socket", "subprocess", "ctypes", "repository_package", "multiprocessing"])
def test_definitions_import_the_standard_library_of_values_alone(judge: OracleJudge, name: str) -> None:
    assert ask(judge, "True", definitions=f"import {name}").startswith("error: definitions: ImportError")
    assert ask(judge, f"__import__({name!r})").startswith("error: ImportError")


def test_definitions_may_import_what_values_need(judge: OracleJudge) -> None:
    assert ask(judge, "re.escape(_0) and Path(_0) and OrderedDict()is not None", "a",
               definitions="import re, json, os.path, urllib.parse\nfrom pathlib import Path\n"
                           "from collections import OrderedDict\nfrom __future__ import annotations"
               ).startswith("error: definitions: SyntaxError")  # fmt: skip
    assert ask(judge, "re.escape(_0) and Path(_0)", "a", definitions="import re\nfrom pathlib import Path") == "holds"


TAKING_OVER = [
    ["datetime", "__import__('os')._exit(0)", 1, 1, 0, 0, 0, 0, 0, None, None],
    ["datetime", 2024, 1, 1, 0, 0, 0, 0, 0, 0, "__import__('os')._exit(0)"],
    "__import__('os')._exit(0)", ["object", "builtins.int", "__eq__", ["function", "operator", "truth"]],
    ["sub", "builtins.str", False, "a"], ["sub", "evil.str", True, "b"], ["enum", "evil.Any", "ANY", True, 0],
    ["object", "unittest.mock._ANY"], ["function", "os", "_exit"], ["type", "builtins.object"], ["?", "builtins.str"],
    ["NotImplemented"], ["..."], ["float", "nan"], ["dict"], ["digest", "builtins.str", "00"], ["up", 1],
    ["exc", "builtins.str", ["builtins.str"], ["tuple", "a"], "a"], ["view", "a", True, ["set"]], True, None, 1,
    {"a": 1}, ["list", {}], [["list"]], ["list"] * 3, 1.5,
]  # fmt: skip


def test_no_forged_node_equals_a_text(judge: OracleJudge) -> None:
    """Whatever claims to be equal to everything is equal to nothing, either way round."""
    checks = [WithheldCheck(text, [node]) for node in TAKING_OVER for text in ("_0 == 'a'", "'a' == _0", "_0 in ['a']")]
    answers = judge.decide("", checks)
    assert "holds" not in answers
    assert all(answer == "fails" or answer.startswith("error: ValueError") for answer in answers)


@pytest.mark.long
def test_what_does_not_end_costs_one_answer(hasty: OracleJudge) -> None:
    checks = [
        WithheldCheck("_0 == 1", [1]),
        WithheldCheck("re.match('(a+)+b$', _0) is None", ["a" * 60]),
        WithheldCheck("_0 == 2", [2]),
        WithheldCheck("'x' * _0", [10**12]),
        WithheldCheck("[0] * _0 == 1", [10**15]),
        WithheldCheck("_0 == 3", [3]),
    ]
    answers = hasty.decide("import re", checks)
    assert answers == ["holds", "error: time", "holds", "error: memory", "error: memory", "holds"]


def test_after_three_the_rest_is_not_tried(judge: OracleJudge) -> None:
    ending = "import os\ndef end():\n    os._exit(3)"
    answers = judge.decide(ending, [WithheldCheck("end()", []) for _ in range(5)] + [WithheldCheck("True", [])])
    assert answers[:3] == ["error: the judge ended (exited, 3)"] * 3
    assert answers[3:] == ["error: time"] * 3


@pytest.mark.long
def test_equal_hashes_cost_no_more_than_the_limit(hasty: OracleJudge) -> None:
    keys = ["dict", *(part for number in range(1, 100_000) for part in (number * (2**61 - 1), None))]
    assert hasty.decide("", [WithheldCheck("_0 == {}", [keys]), WithheldCheck("True", [])])[1] == "holds"


INSIDE = """
import os
from pathlib import Path
def reach(what):
    try:
        what()
    except (OSError, ImportError):
        return False
    return True
"""


def test_it_reaches_neither_network_nor_files_of_the_host(judge: OracleJudge, tmp_path: Any) -> None:
    """The author's code is trusted; were an attacker to take it over, this is what they would find."""
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    home = os.path.expanduser("~/.ssh")  # noqa: PTH111
    expressions = {
        f"Path({str(secret)!r}).exists()": "fails",
        f"Path({home!r}).exists()": "fails",
        "reach(lambda: Path('/tmp/x').write_text('x'))": "fails",
        "reach(lambda: Path('/usr/x').write_text('x'))": "fails",
        "reach(os.fork)": "fails",
        "len(os.listdir('/checkouts')) + len(os.listdir('/bytecode'))": "fails",
        "os.getuid() == 0 and reach(lambda: os.chroot('/'))": "fails",
        "[line for line in Path('/proc/net/dev').read_text().splitlines()[2:] if 'lo:' not in line]": "fails",
        "Path('/proc/self/status').read_text().count('NoNewPrivs:\\t1')": "holds",
        "'TOKEN_OF_THE_HOST' in os.environ": "fails",
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOKEN_OF_THE_HOST", "1")
        answers = judge.decide(INSIDE, [WithheldCheck(text, []) for text in expressions])
    assert dict(zip(expressions, answers, strict=True)) == expressions


def test_jobs_share_nothing(judge: OracleJudge) -> None:
    assert ask(judge, "vars(math).update(pi=3) is None and math.pi == 3", definitions="import math") == "holds"
    assert ask(judge, "math.pi == 3", definitions="import math") == "fails"


def test_it_is_started_again_when_it_died(tmp_path: Any) -> None:
    with OracleJudge(Cache(tmp_path)) as judge:
        assert ask(judge, "_0 == 1", 1) == "holds"
        parent = judge._parent
        assert parent is not None
        parent._process.kill()
        parent._process.wait()
        assert ask(judge, "_0 == 1", 1) == "holds"
        assert judge._parent is not parent
    assert judge._parent is None
    assert ask(judge, "_0 == 1", 2) == "fails"
    judge.close()


def test_threads_share_it(judge: OracleJudge) -> None:
    found: dict[int, str] = {}

    def one(number: int) -> None:
        found[number] = ask(judge, f"_0 == {number // 2 * 2}", number)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    with contextlib.ExitStack() as stack:
        for thread in threads:
            thread.start()
            stack.callback(thread.join)
    assert found == {number: "fails" if number % 2 else "holds" for number in range(8)}
