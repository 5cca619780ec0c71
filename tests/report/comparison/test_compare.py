"""Comparisons whose figures were worked out by hand, and inputs that must not be compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from repoassay.errors import BadInput
from repoassay.report.comparison import (
    Comparison,
    Measure,
    OutcomeChange,
    RegressionGate,
    as_markdown,
    as_text,
    compare_sides,
    comparison_document,
    read_sides,
    rule,
)
from repoassay.report.comparison.junit import junit, write_junit

MakeRun = Callable[..., Path]

HOSTILE = "</x>]]>\x1b[31m\u202e|`<script>\x00&\"'\ud800"


def sides_of(*names: str | Path) -> Comparison:
    return compare_sides(read_sides([str(name) for name in names], lambda path: path))


def reasons(comparison: Comparison, gate: RegressionGate | None = None) -> Sequence[str]:
    return [reason for ruling in rule(comparison, gate or RegressionGate()) for reason in ruling.reasons]


def test_mcnemar_by_hand(answers: MakeRun) -> None:
    """One fixed, seven broken: p = 2 (1 + 8) / 2^8 = 0.0703125."""
    before = answers("before", {"a": ["p"] * 7 + ["f"] + ["p", "f"]})
    after = answers("after", {"b": ["f"] * 7 + ["p"] + ["p", "f"]})
    (versus,) = sides_of(before, after).versus
    assert versus.test.p_value == 0.0703125
    assert versus.permutation.p_value == pytest.approx(0.0703125)
    assert versus.difference == pytest.approx(-0.6)
    assert {change: versus.count(change) for change in OutcomeChange} == {
        OutcomeChange.FIXED: 1, OutcomeChange.BROKEN: 7, OutcomeChange.SAME: 2, OutcomeChange.UNKNOWN: 0,
    }  # fmt: skip
    assert versus.interval.low is not None and versus.interval.high is not None
    assert versus.interval.low < -0.6 < versus.interval.high
    assert "Tango" in versus.interval.method


def test_six_broken_are_a_regression_and_five_are_not(answers: MakeRun) -> None:
    """2 / 2^6 = 0.03125 and 2 / 2^5 = 0.0625."""
    for broken, p_value in ((6, 0.03125), (5, 0.0625)):
        before = answers(f"before{broken}", {"a": ["p"] * 8})
        after = answers(f"after{broken}", {"b": ["f"] * broken + ["p"] * (8 - broken)})
        found = sides_of(before, after)
        assert found.versus[0].test.p_value == p_value
        assert bool(reasons(found)) == (p_value < 0.05)
        assert not reasons(sides_of(after, before))
        assert reasons(found, RegressionGate(any_broken=True))
        assert reasons(found, RegressionGate(max_drop=62.4))
    assert not reasons(found, RegressionGate(max_drop=62.5))


def test_identical_systems_do_not_differ(answers: MakeRun) -> None:
    one, two = (answers(name, {"a": list("ppffn?t")}) for name in ("one", "two"))
    (versus,) = sides_of(one, two).versus
    assert versus.test.p_value == 1
    assert versus.difference == 0
    assert versus.interval.low is not None and versus.interval.high is not None
    assert versus.interval.low < 0 < versus.interval.high
    assert versus.count(OutcomeChange.UNKNOWN) == 1
    assert "no difference beyond chance" in as_text(sides_of(one, two))
    assert [side.label for side in sides_of(one, two).sides] == ["one:a", "two:a"]
    assert [side.label for side in sides_of(one, one).sides] == ["one:a (1)", "one:a (2)"]


def test_unknown_is_neither_better_nor_worse(answers: MakeRun) -> None:
    before = answers("before", {"a": list("pppf")})
    after = answers("after", {"b": list("?.p?")})
    found = sides_of(before, after)
    (versus,) = found.versus
    assert versus.count(OutcomeChange.UNKNOWN) == 3 and versus.judged == 1 and versus.difference == 0
    assert not reasons(found, RegressionGate(max_drop=0, any_broken=True))
    skipped = fromstring(junit(found, rule(found, RegressionGate()))).findall(".//skipped")
    assert len(skipped) == 3


def test_nothing_judged_is_no_pass(answers: MakeRun) -> None:
    found = sides_of(answers("before", {"a": ["p", "p"]}), answers("after", {"b": ["?", "."]}))
    assert reasons(found) == ["No task has an answer on both sides, so nothing can be said of a regression."]
    assert "no difference to tell" in as_text(found) and comparison_document(found)


def test_process_may_be_compared_instead(answers: MakeRun) -> None:
    paths = [answers("before", {"a": ["f", "f"]}), answers("after", {"b": ["n", "f"]})]
    sides = read_sides([str(path) for path in paths], lambda path: path)
    assert compare_sides(sides, Measure.RESULT).versus[0].difference == 0
    assert compare_sides(sides, Measure.PROCESS).versus[0].difference == -0.5


def test_several_attempts_are_compared_by_task(answers: MakeRun) -> None:
    """Differences 1, 1/2, 1/2, 0 of the tasks: of 2^3 signs, two reach the sum of 2; p = 1/4."""
    before = answers("before", {"a": ["ff", "fp", "ff", "pp"]})
    after = answers("after", {"b": ["pp", "pp", "pf", "pp"]})
    (versus,) = sides_of(before, after).versus
    assert versus.test.p_value == 0.25
    assert versus.difference == 0.5
    assert "task-clustered" in versus.interval.method
    assert [rate.successes for rate in versus.rates] == [3, 7]


def test_identical_systems_of_several_attempts_have_an_interval_too(answers: MakeRun) -> None:
    one, two = (answers(name, {"a": ["pf", "ff", "pp", "pf"]}) for name in ("one", "two"))
    (versus,) = sides_of(one, two).versus
    assert versus.test.p_value == 1 and versus.difference == 0
    assert versus.interval.low is not None and versus.interval.high is not None
    assert versus.interval.low < 0 < versus.interval.high
    assert "8 runs of 4 tasks are worth 4.0 independent ones" in as_text(sides_of(one, two))


def test_an_unknown_attempt_leaves_the_others(answers: MakeRun) -> None:
    (versus,) = sides_of(answers("before", {"a": ["p?", "pf"]}), answers("after", {"b": ["pp", "f."]})).versus
    assert [pair.difference for pair in versus.pairs] == [0, -0.5]


def test_costs_are_paired_and_unknown_ones_left_out(answers: MakeRun) -> None:
    before = answers("before", {"a": ["p"] * 4}, spent={"a": [(100, "1"), (200, "2"), (300, "3"), (1, None)]})
    after = answers("after", {"b": ["p"] * 4}, spent={"b": [(150, "1.5"), (220, "2.5"), (330, "3.8"), (1, "9")]})
    tokens, dollars, seconds = sides_of(before, after).versus[0].costs
    assert tokens.mean == 25 and tokens.unknown == 0
    assert dollars.mean == pytest.approx(0.6) and dollars.unknown == 1 and dollars.interval.n == 3
    assert dollars.interval.low is not None and dollars.interval.low >= 0.5
    assert seconds.mean == 0 and seconds.interval.low is None


def test_disjoint_tasks_are_refused_with_a_sentence(answers: MakeRun) -> None:
    paths = [answers("before", {"a": ["p"]}, names=["x"]), answers("after", {"b": ["p"]}, names=["y"])]
    with pytest.raises(BadInput, match=r"^a and b have no task in common\. Compare runs of the same suite\.$"):
        sides_of(*paths)


def test_another_version_of_a_task_is_named_and_left_out(answers: MakeRun) -> None:
    before = answers("before", {"a": ["p", "p"]}, digests=["1" * 64, "2" * 64])
    after = answers("after", {"b": ["f", "p"]}, digests=["3" * 64, "2" * 64])
    sides = read_sides([str(before), str(after)], lambda path: path)
    (versus,) = compare_sides(sides).versus
    assert [(item.task, item.reason) for item in versus.left_out] == [
        ("task-01", "two versions, 111111111111 and 333333333333")
    ]
    assert len(compare_sides(sides, across_versions=True).versus[0].pairs) == 2
    other = answers("other", {"b": ["f", "p"]}, digests=["4" * 64, "5" * 64])
    with pytest.raises(BadInput, match="no task of the same version in common: task-01, task-02 differ"):
        sides_of(before, other)


def test_tasks_only_one_has_are_named(answers: MakeRun) -> None:
    before = answers("before", {"a": ["p", "p"]})
    after = answers("after", {"b": ["p", "p", "p"]})
    (versus,) = sides_of(before, after).versus
    assert [(item.task, item.reason) for item in versus.left_out] == [("task-03", "only b has it")]


def test_of_several_systems_p_values_are_holms(answers: MakeRun) -> None:
    """0.03125 and 0.0625, the smaller times two."""
    run = answers("run", {"a": ["p"] * 8, "b": ["f"] * 6 + ["p"] * 2, "c": ["f"] * 5 + ["p"] * 3})
    found = sides_of(run)
    assert [one.adjusted for one in found.versus] == [0.0625, 0.0625]
    assert not reasons(found)
    sides = read_sides([f"{run}:c", f"{run}:b"], lambda path: path)
    assert [side.label for side in sides] == ["c", "b"]
    assert len(compare_sides(read_sides([str(run)], lambda path: path), every_pair=True).versus) == 3


def test_systems_are_found_despite_colons(answers: MakeRun) -> None:
    run = answers("with:colon", {"x:y": ["p"], "z": ["f"]})
    assert [side.agent for side in read_sides([f"{run}:x:y", f"{run}:z"], lambda path: path)] == ["x:y", "z"]
    for names, wanted in (
        ([f"{run}:q", f"{run}:z"], "has no agent 'q'. It has x:y, z."),
        ([str(run), f"{run}:z"], "has several agents: x:y, z. Name one: with:colon:x:y"),
        ([f"{run}:z"], "needs two systems"),
        (["/nowhere", str(run)], "/nowhere is not a run folder"),
    ):
        with pytest.raises(BadInput, match=wanted):
            read_sides(names, lambda path: path)


def test_hostile_names_do_no_harm(answers: MakeRun, tmp_path: Path) -> None:
    name = HOSTILE.replace("\ud800", "")
    before = answers("before", {name: ["p", "?"]}, names=[name, "two"], comment=name)
    after = answers("after", {"b" + name: ["f", "p"]}, names=[name, "two"], comment=name)
    found = sides_of(before, after)
    rulings = rule(found, RegressionGate(any_broken=True))
    root = fromstring(junit(found, rulings))
    assert root.get("failures") == "2" and root.get("tests") == "3" and root.get("skipped") == "1"
    assert json.loads(json.dumps(comparison_document(found, rulings)))["comparisons"][0]["first"] == name
    for text in (as_text(found, rulings), as_markdown(found, rulings)):
        assert not {"\x1b", "\u202e", "\x00"} & set(text)
    rows = [line for line in as_markdown(found, rulings).splitlines() if line.startswith("|")]
    assert all(line.replace("\\|", "").count("|") == 4 for line in rows)
    assert "<script" not in as_markdown(found, rulings)
    write_junit(tmp_path / "out.xml", found, rulings)
    assert fromstring((tmp_path / "out.xml").read_bytes()).tag == "testsuites"
    with pytest.raises(BadInput, match="cannot be written"):
        write_junit(tmp_path / "nowhere" / "out.xml", found, rulings)


def test_what_could_be_seen_is_said(answers: MakeRun) -> None:
    few = sides_of(answers("a", {"a": list("pp")}), answers("b", {"b": list("ff")}))
    assert "2 tasks, 2 of them different, are too few: it takes 6" in as_text(few)
    many = sides_of(answers("c", {"a": ["p"] * 60}), answers("d", {"b": ["p"] * 50 + ["f"] * 10}))
    visible = many.versus[0].visible.value
    assert visible is not None and 0.1 < visible < 0.17
    assert f"could see a difference of {100 * visible:.1f} points" in as_text(many)
