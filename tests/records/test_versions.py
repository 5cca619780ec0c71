"""Versions of records: absent, known, a newer minor and a newer major, wherever the key stands."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from repoassay.records.versions import NewerRecord, check_version, parse, parse_object, to_json, with_version
from repoassay.types import (
    Call,
    Outcome,
    Plan,
    Record,
    SkippedFile,
    StepCall,
    Trajectory,
    TrajectoryStep,
    Verdict,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
VERDICT = Verdict(
    task="t", task_digest="d", outcome=Outcome.PASSED, process=True, result=True, grader="g", graded_at=NOW
)
BARE = VERDICT.model_dump(mode="json")


class Inner(Record):
    known: int = 0


class Outer(Record):
    inner: tuple[Inner, ...] = ()
    either: int | Inner = 0


@pytest.mark.parametrize("indent", [None, 1, 2])
def test_what_is_written_begins_with_its_version_and_is_read_back(indent: int | None) -> None:
    content = to_json(VERDICT, indent=indent)
    assert json.loads(content) == {"schema_version": 1, **BARE}
    assert next(iter(json.loads(content))) == "schema_version"
    if indent:
        assert content.decode() == json.dumps(json.loads(content), indent=indent)
    assert parse(Verdict, content) == VERDICT


@pytest.mark.parametrize("indent", [None, 1])
def test_halves_of_surrogate_pairs_are_written_as_what_can_be_read(indent: int | None) -> None:
    """An agent's own transcript may hold them; its attempt is to be judged all the same."""
    skipped = SkippedFile(path="a\ud800b", reason="\udc80")
    data = to_json(skipped, indent=indent)
    assert parse(SkippedFile, data) == SkippedFile(path="a?b", reason="?")
    assert data.startswith(to_json(SkippedFile(path="", reason=""), indent=indent)[: 3 + (indent or 0)])
    step = TrajectoryStep(
        index=1,
        time=NOW,
        source="agent",
        dollars=Decimal("0.1"),
        calls=(StepCall(name="\udc80", arguments={"\ud800": [{"\ud801": 1}]}),),
    )
    read = parse(Trajectory, to_json(Trajectory(agent="a", steps=(step,)), indent=indent, exclude_defaults=True))
    assert read.steps == (step.model_copy(update={"calls": (StepCall(name="?", arguments={"?": [{"?": 1}]}),)}),)


def test_a_record_without_fields_and_one_with_the_key_of_its_own() -> None:
    assert to_json(Outer(), exclude_defaults=True) == b'{"schema_version":1}'
    assert parse(Outer, b'{"schema_version":1}') == Outer()
    plan = Plan(
        id="R", created=NOW, suite="s", suite_version="1", suite_folder="/s", tasks=(), agents={}, isolation="none"
    )
    assert to_json(plan).count(b"schema_version") == 1
    assert parse(Plan, to_json(plan)) == plan


def test_a_record_of_repoassay_0_1_has_no_version() -> None:
    assert parse(Verdict, json.dumps(BARE).encode()) == VERDICT
    assert parse(Call, b'{"attempt":"A","seq":1,"at":"2026-01-01T00:00:00Z"}').seq == 1


@pytest.mark.parametrize("version", [1, "1", "1.0"], ids=repr)
@pytest.mark.parametrize("first", [True, False])
def test_versions_that_are_known(version: object, first: bool) -> None:
    document = {"schema_version": version, **BARE} if first else {**BARE, "schema_version": version}
    assert parse(Verdict, json.dumps(document).encode()) == VERDICT
    assert parse_object(json.dumps(document).encode()) == BARE


@pytest.mark.parametrize("version", [2, "2", "2.0", "3.7", 999_999], ids=repr)
@pytest.mark.parametrize("first", [True, False])
def test_a_newer_major_version_is_one_sentence(version: object, first: bool) -> None:
    document = {"schema_version": version, **BARE} if first else {**BARE, "schema_version": version}
    for read in (
        lambda data: parse(Verdict, data, "/x/verdict.json"),
        lambda data: parse_object(data, "/x/verdict.json"),
    ):
        with pytest.raises(NewerRecord) as caught:
            read(json.dumps(document).encode())
        assert str(caught.value).startswith("/x/verdict.json was written by a newer RepoAssay")
        assert str(caught.value).endswith("Upgrade RepoAssay.")


@pytest.mark.parametrize("version", ["soon", None, True, 1.5, [1], {}, -1, "1.", "1.2.3", 10**7], ids=repr)
@pytest.mark.parametrize("first", [True, False])
def test_what_is_no_version_is_an_error(version: object, first: bool) -> None:
    document = {"schema_version": version, **BARE} if first else {**BARE, "schema_version": version}
    with pytest.raises(ValidationError, match="schema_version"):
        parse(Verdict, json.dumps(document).encode())
    with pytest.raises(ValueError, match="schema_version"):
        parse_object(json.dumps(document).encode())


def test_unknown_keys_of_a_newer_minor_version_are_left_out_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    data = b'{"schema_version":"1.41","inner":[{"known":1,"x":{}},{"y":2}],"z":3}'
    with caplog.at_level(logging.WARNING, "repoassay"):
        for _ in range(3):
            assert parse(Outer, data) == Outer(inner=(Inner(known=1), Inner()))
    assert len(caplog.records) == 1
    assert "1.41, newer than 1.0" in caplog.text


@pytest.mark.parametrize(
    "data",
    [
        b'{"inner":[{"x":1}]}',
        b'{"schema_version":1,"inner":[{"x":1}]}',
        b'{"schema_version":"1.2","inner":[{"known":"one","x":1}]}',
        b'{"schema_version":"1.2","inner":[{"known":1,"x":1}]',
        b'{"schema_version":"1.2","either":{"x":1}}',  # a place inside a union cannot be told from its members
    ],
)
def test_other_errors_stay_errors(data: bytes) -> None:
    with pytest.raises(ValidationError):
        parse(Outer, data)


@given(st.binary(max_size=60) | st.builds(lambda tail: b'{"schema_version":' + tail, st.binary(max_size=30)))
def test_any_bytes_end_in_an_object_or_a_known_error(data: bytes) -> None:
    for read in (lambda: parse(Outer, data), lambda: parse_object(data)):
        try:
            read()
        except (ValueError, NewerRecord):
            continue


def test_a_value_of_another_format_is_checked_too() -> None:
    check_version(1)
    check_version("nonsense")
    with pytest.raises(NewerRecord, match=r"submission\.toml"):
        check_version(2, "submission.toml")


def test_a_document_gets_its_version_in_front() -> None:
    assert list(with_version({"a": 1})) == ["schema_version", "a"]


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": "\\ud800"}', b'{"a": 1, "a": 2, "b": [1.5, -0, 1e400, NaN, -Infinity]}',
        b' {"a": "x\x7f"} \n',
        '{"a": "wide"}'.encode("utf-16"), b'\xef\xbb\xbf{"a": 1}', b'{"a": "\xff"}',
        b'{"a": "\xed\xa0\x80"}', b'{"a": 1}{',
        b'{"a": "line\nbreak"}', b'{"a": ' + b"9" * 400 + b"}", b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": 01}', b"{'a': 1}",
        b'{"a": 1,}', b'{"a": ' + b"[" * 500 + b"]" * 500 + b"}", b'{"a": 0.1e1, "b": 123456789.123456789}',
        b"[1]", b"",
    ],
    ids=range(18),
)  # fmt: skip
def test_objects_are_what_pythons_json_reads(data: bytes) -> None:
    """A quicker reader is tried first, and nothing is read in another way than before."""
    try:
        wanted = json.loads(data)
    except ValueError:
        wanted = None
    if isinstance(wanted, dict):
        found = parse_object(data)
        assert repr(found) == repr(wanted)
    else:
        with pytest.raises(ValueError):
            parse_object(data)
