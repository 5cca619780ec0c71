"""Who stands where, and the sentence that says so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repoassay.report.answer import answer_of, plain_answer
from repoassay.report.charts.drawing import short_labels
from repoassay.report.results import ResultRow
from repoassay.report.standings import standings, standings_by_suite
from repoassay.types import Outcome
from report.made_rows import entry, info, row, task

GOOD, BAD = Outcome.PASSED, Outcome.FAILED


def of(name: str, passed: int, tasks: int = 24, dollars: str | None = None, **more: str) -> list[ResultRow]:
    """An agent that passes the first tasks; it asks no model where nothing is said of its dollars."""
    spent = {"dollars": dollars or "0", "tokens": 1000 if dollars else None}
    return [
        row(GOOD if number < passed else BAD, by=entry(name, "p/m" if dollars else "", **more),
            of=task(f"t{number:02d}"), **spent)  # type: ignore[arg-type] # as keywords
        for number in range(tasks)
    ]  # fmt: skip


def told(*groups: list[ResultRow]) -> list[str]:
    answer = answer_of(standings([one for group in groups for one in group]))
    return ["".join(part.text for part in line) for line in (answer.first, *answer.more)]


def ranks(*groups: list[ResultRow]) -> dict[str, tuple[int | None, bool]]:
    found = standings([one for group in groups for one in group])
    return {one.agent: (one.rank, one.shares_rank) for one in found.systems}


def test_the_best_is_named_with_its_lead_and_the_test() -> None:
    first, test, price = told(of("hare", 20), of("snail", 2), of("mole", 1))
    assert first == "hare is best: it passed 20 of 24 tasks, 75 points ahead of snail (significant, p < 0.0001)."
    assert test.startswith(
        "The difference is significant (p < 0.0001, McNemar test on 24 tasks, Holm's correction for 3"
    )
    assert price == "No model was asked, so nothing was paid."


def test_a_lead_that_may_be_chance_is_no_lead() -> None:
    first, test, price, common = told(of("hare", 14, dollars="0.50"), of("snail", 12, dollars="0.10"))
    said = "hare passed most, 14 of 24 tasks at $0.5000 an attempt, but not significantly more than snail"
    assert first == f"{said} (12 of 24 tasks)."
    assert test.startswith("The difference may well be chance (p = 0.5, McNemar test")
    assert price == "The cheapest is snail with $0.1000 an attempt."
    assert common == "All have p/m in common."
    tied = told(of("hare", 5), of("snail", 5), of("mole", 4))[0]
    assert tied == "hare and snail passed most, 5 of 24 tasks each, but not significantly more than the other one."
    assert told(of("hare", 3), of("snail", 3))[0] == "hare and snail both passed 3 of 24 tasks: none of them is better."


def test_ranks_are_one_more_than_the_systems_that_are_better() -> None:
    found = ranks(of("a", 24), of("b", 23), of("c", 4), of("d", 3))
    assert found == {"a": (1, True), "b": (1, True), "c": (3, True), "d": (3, True)}


def test_a_part_of_the_suite_has_no_rank_however_good_it_is() -> None:
    assert ranks(of("part", 1, tasks=1), of("whole", 1)) == {"whole": (1, False), "part": (None, False)}
    known = {f"t{number:02d}": "d" for number in range(24)}
    (only,) = standings(of("part", 2, tasks=2), known).systems
    assert only.rank is None and only.covered == 2
    other = dict.fromkeys(known, "another version")
    assert standings(of("old", 24), other).systems[0].rank is None


def test_one_system_is_told_with_its_interval_and_one_attempt_without() -> None:
    assert told(of("hare", 12)) == [
        "hare passed 12 of 24 tasks, 50.0%.", "The 95% interval is 31 to 69%.",
        "No model was asked, so nothing was paid.",
    ]  # fmt: skip
    assert told(of("hare", 1, tasks=1)) == ["hare passed t00.", "It took 2.00 s and asked no model."]
    unknown = [row(Outcome.INFRA_FAULT, by=entry("hare", ""), tokens=None)]
    assert told(unknown)[0] == (
        "Whether hare passes t1 is not known: a fault that is not the agent's doing spoiled the attempt."
    )
    paid = [row(BAD, by=entry("hare", "p/m"), dollars="0.25", tokens=9)]
    assert told(paid) == ["hare @ p/m did not pass t1: what it left does not pass the checks.",
                          "It took 2.00 s and cost $0.2500."]  # fmt: skip
    assert told(of("hare", 12, dollars="0.5"))[0] == "hare @ p/m passed 12 of 24 tasks, 50.0%, at $0.5000 an attempt."


@pytest.mark.parametrize("outcome", [one for one in Outcome if one not in (Outcome.NOT_GRADABLE, Outcome.INFRA_FAULT)])
def test_every_ending_of_a_single_attempt_is_a_sentence(outcome: Outcome) -> None:
    made = replace(row(GOOD, by=entry("hare", ""), tokens=None), outcome=outcome, result=outcome is Outcome.PASSED)
    first = told([made])[0]
    assert first.startswith("hare passed t1." if outcome is Outcome.PASSED else "hare did not pass t1: ")
    assert first.endswith(".") and "failed" not in first


def test_a_rank_is_never_ahead_of_a_higher_rate_s() -> None:
    """`a` is significantly better than `b` (7 tasks to none) but not than `c` (10 to 2), which passes fewer."""
    passing = {"a": set(range(10)), "b": {7, 8, 9}, "c": {20, 21}}
    found = standings([
        row(GOOD if number in good else BAD, by=entry(name, ""), of=task(f"t{number:02d}"), tokens=None)
        for name, good in passing.items() for number in range(40)
    ])  # fmt: skip
    tested = {key: one.significant for key, one in found.tests.items()}
    assert tested == {frozenset("ab"): True, frozenset("ac"): False, frozenset("bc"): False}
    assert [(one.agent, one.rank, one.shares_rank) for one in found.systems] == [
        ("a", 1, False), ("b", 2, True), ("c", 2, True),
    ]  # fmt: skip


def test_many_that_cannot_be_told_apart_are_counted_and_not_listed() -> None:
    first = told(*(of(f"agent-{number}", 10 + (number == 3)) for number in range(8)))[0]
    assert first == "agent-3 passed most, 11 of 24 tasks, but not significantly more than any of the 7 others."


def test_systems_on_other_tasks_are_not_compared() -> None:
    one = [row(GOOD, by=entry("one", ""), of=task(f"a{number}"), tokens=None) for number in range(4)]
    two = [row(BAD, by=entry("two", ""), of=task(f"b{number}"), tokens=None) for number in range(4)]
    assert told(one, two)[0] == "one passed 4 of 4 tasks; no system ran on all 8 tasks."
    assert told(one, one[:2], [row(BAD, by=entry("two", ""), of=task("a0"), tokens=None)])[-1] == (
        "1 system ran on a part of the 4 tasks and has no rank."
    )


def test_nothing_finished_and_a_price_not_known_are_said() -> None:
    assert told([row(None), row(None, of=task("t2"))]) == ["No attempt is finished yet: 0 of 2."]
    assert "at a price not known" in " ".join(told([row(GOOD, dollars=None), row(GOOD, of=task("t2"), dollars="1")]))


def test_names_leave_out_what_all_have_in_common() -> None:
    rows = of("hare", 3, dollars="1", timeout="60", max_iterations="5") + of(
        "hare", 2, dollars="1", timeout="60", max_iterations="9"
    )
    found = standings(rows)
    assert [one.short for one in found.systems] == ["max_iterations=5", "max_iterations=9"]
    assert found.common == "hare @ p/m, timeout=60"
    same = of("hare", 3) + [
        row(GOOD, run=info("again"), by=entry("hare", ""), of=task(f"t{n:02d}"), tokens=None) for n in range(24)
    ]
    assert sorted(one.short for one in standings(same).systems) == ["hare (again)", "hare (run)"]


def test_suites_and_versions_are_not_mixed() -> None:
    rows = [row(run=info("a", "one")), row(run=info("b", "two"))]
    assert [found.suite for found in standings_by_suite(rows)] == ["one", "two"]
    assert plain_answer(standings_by_suite(rows)[0]).endswith("passed t1.")


@pytest.mark.parametrize("tail", [", max_iterations=1", ", max_iterations=5", ", limit=1"])
def test_labels_of_plots_are_never_cut_to_sameness(tail: str) -> None:
    names = [f"command @ mine/tiny-1|scripted/x{tail}{end}, timeout=600" for end in ("", "5", "0")]
    assert len(set(short_labels(names, 26))) == 3
    assert short_labels(["a" * 60], 26)[0].startswith("aaa") and len(short_labels(["a" * 60], 26)[0]) == 26
