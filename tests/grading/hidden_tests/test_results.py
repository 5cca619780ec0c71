"""Lines of the private channel, as the runner writes them and as code that found its key might."""

from __future__ import annotations

import hashlib
import hmac
import json
from types import SimpleNamespace
from typing import Any

import pytest

from repoassay.grading.hidden_tests.results import read_channel
from repoassay.grading.in_place.program import LONGEST, ResultSink

KEY = b"k" * 32
GOOD = {"id": "t.py::a", "outcome": "passed", "seconds": 0.1, "message": ""}


def signed(body: bytes) -> bytes:
    return hmac.new(KEY, body, hashlib.sha256).hexdigest().encode() + b" " + body + b"\n"


def lines(*bodies: dict[str, Any]) -> bytes:
    return b"".join(signed(json.dumps({**body, "n": number}).encode()) for number, body in enumerate(bodies))


def test_a_whole_run() -> None:
    told = read_channel(lines({"ready": True}, GOOD, {"end": 0, "changed": []}), KEY, ["t.py::a"])
    assert told.passed and told.ready and told.complete
    assert not read_channel(lines({"ready": True}, GOOD), KEY, ["t.py::a"]).passed


def test_results_are_told_in_the_order_of_the_run_too() -> None:
    ran = [{**GOOD, "id": f"t.py::{name}"} for name in "cab"]
    told = read_channel(lines(*ran, {"end": 0}), KEY, ["t.py::a", "t.py::z"])
    assert [test.id for test in told.tests] == ["t.py::a", "t.py::z"]
    assert [test.id for test in told.reported] == ["t.py::c", "t.py::a", "t.py::b"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"id": "t.py::a"},
        {**GOOD, "outcome": "won"},
        {**GOOD, "outcome": 1},
        {**GOOD, "seconds": "long"},
        {**GOOD, "seconds": float("nan")},
        {**GOOD, "seconds": -1},
        {**GOOD, "seconds": None},
    ],
)
def test_a_signed_line_of_another_shape_is_a_sign(body: dict[str, Any]) -> None:
    told = read_channel(lines({"ready": True}, body, {"end": 0}), KEY, ["t.py::a"])
    assert told.signs and not told.passed


@pytest.mark.parametrize("body", [b"[" * 100_000, b"null", b"{", b"\xff", b'{"n": 0, "id": ' + b"[" * 100_000])
def test_a_signed_line_that_is_no_document_is_a_sign(body: bytes) -> None:
    assert read_channel(signed(body), KEY, ["t.py::a"]).signs


def test_odd_texts_are_kept_in_bounds() -> None:
    odd = {**GOOD, "message": "\ud800" * 9000, "id": "x" * 9000}
    told = read_channel(lines(odd, {"collect": "t.py"}, {"end": 0, "changed": ["y" * 9000] * 900}), KEY, ["t.py::a"])
    assert len(told.signs) <= 20 and all(len(sign) < 300 for sign in told.signs)
    assert [test.outcome for test in told.tests] == ["missing"]


def test_a_flood_is_not_read_to_its_end() -> None:
    told = read_channel(b"x\n" * 4_000_000 + lines(GOOD, {"end": 0}), KEY, ["t.py::a"])
    assert told.signs and not told.complete


@pytest.mark.parametrize("rest", [b"", b"x"])
def test_a_last_line_that_is_cut_accuses_nobody_before_the_end(rest: bytes) -> None:
    told = read_channel(lines({"ready": True}, GOOD, GOOD | {"id": "t.py::b"})[:-9] + rest, KEY, ["t.py::a", "t.py::b"])
    assert told.signs == [] and not told.complete and not told.passed
    assert [test.outcome for test in told.tests] == ["passed", "missing"]
    assert read_channel(lines({"ready": True}, GOOD, {"end": 0}) + b"x", KEY, ["t.py::a"]).signs


def test_tests_named_by_parameters_of_megabytes_have_names_that_the_channel_holds() -> None:
    sent: list[dict[str, Any]] = []
    channel: Any = SimpleNamespace(send=lambda **fields: sent.append(fields))
    sink = ResultSink(channel, SimpleNamespace(seen=[]), "/")
    long = "t.py::a[" + "rn" * 2**20
    for name in (long + "1]", long + "2]", long + "2]", "t.py::a[1]"):
        sink.tell(name, "passed", 0.1, "")
    assert [len(each["id"]) for each in sent] == [LONGEST, LONGEST, len("t.py::a[1]")]
    assert read_channel(lines(*sent, {"end": 0}), KEY, [each["id"] for each in sent]).passed
