"""What people would merge, beside what tests passed: in reports, comparisons and on the leaderboard."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import pytest
from click.testing import CliRunner

from json_answers import data_of
from repoassay.cli.main import cli
from repoassay.records import RunFolder
from repoassay.review import Item, add_rater, create_study, open_database, study_figures, submit
from repoassay.review.study import HiddenPart
from review.independent import difference_interval, rate_interval, sign_flip
from review.samples import NOW, QUALITY, RUBRIC, answers as rated, study

MakeRun = Callable[..., Path]
PASSED = {"one": ["ppf", "ppp", "pff", "ppp", "fff", "ppp", "pfp", "ppp"],
          "two": ["pff", "ppp", "fff", "pfp", "fff", "ppf", "fff", "ppp"]}  # fmt: skip
MERGED = {"one": ["pff", "ppp", "fff", "ppf", "fff", "pfp", "pfp", "ppp"],
          "two": ["fff", "pff", "fff", "pff", "fff", "fff", "fff", "ppf"]}  # fmt: skip


def call(*arguments: str | Path, code: int = 0) -> str:
    done = CliRunner().invoke(cli, [str(each) for each in arguments], env={"COLUMNS": "220"})
    assert done.exit_code == code, (done.output, done.exception)
    return done.stdout if not code else str(done.exception)


@pytest.fixture
def run(answers: MakeRun) -> Path:
    return answers("run", PASSED)


@pytest.fixture
def reviews(run: Path, tmp_path: Path) -> str:
    """A study of every attempt of the run, rated by one person."""
    place = str(tmp_path / "reviews.sqlite")
    database = open_database(place)
    found = [each.attempt for each in RunFolder(run).finished()]
    items = [
        Item(id=f"s{place}", hidden=HiddenPart(
            task=one.task, system=one.agent, agent=one.agent, attempt=one.id,
            tests=PASSED[one.agent][int(one.task[-2:]) - 1][one.number - 1] == "p",
        ))
        for place, one in enumerate(found)
    ]  # fmt: skip
    create_study(database, study(), RUBRIC, items, at=NOW)
    ana = add_rater(database, "st", "Ana", at=NOW).rater
    for place_, one in enumerate(found):
        good = MERGED[one.agent][int(one.task[-2:]) - 1][one.number - 1] == "p"
        given = rated("ccccc" if good else "pcccc", would_merge=good)
        submit(database, ana, f"s{place_}", given, key=f"the-key-{place_:03d}", now=NOW)
    database.close()
    return place


def shares(marks: Mapping[str, Sequence[str]], agent: str) -> list[list[bool]]:
    return [[mark == "p" for mark in task] for task in marks[agent]]


def test_two_agents_are_compared_as_an_independent_computation_says(run: Path, reviews: str) -> None:
    told = data_of(call("compare", run, "--reviews", reviews, "--json"))["comparisons"][0]["mergeable"]
    means = [fmean(b) - fmean(a) for a, b in zip(shares(MERGED, "one"), shares(MERGED, "two"), strict=True)]
    assert told["difference"] == pytest.approx(fmean(means)) and told["tasks"] == 8
    assert told["test"]["p_value"] == pytest.approx(sign_flip(means)) == told["p_adjusted"]
    ends = told["interval"]["low"], told["interval"]["high"]
    assert ends == pytest.approx(difference_interval(means, 24), abs=1e-6)
    for place, agent in enumerate(("one", "two")):
        known = told["rates"][place]
        assert (known["successes"], known["n"]) == (sum(map(sum, shares(MERGED, agent))), 24)
        for rate, marks in ((known, MERGED), (known["tests"], PASSED)):
            ends = rate["interval"]["low"], rate["interval"]["high"]
            assert ends == pytest.approx(rate_interval(shares(marks, agent)), abs=1e-9)
    text = call("compare", run, "--reviews", reviews)
    assert "Difference in mergeable -37.5 points" in text and "tests passed on the same attempts: 17/24" in text
    assert call("compare", run, "--reviews", reviews, "--format", "md").count("Mergeable") == 3


def test_a_report_says_what_the_figures_of_the_study_say(run: Path, reviews: str, tmp_path: Path) -> None:
    database = open_database(reviews)
    figures = study_figures(database, "st")
    database.close()
    told = data_of(call("report", run, "--reviews", reviews, "--json"))["reviews"]
    for found, agent in zip(figures.systems, told["agents"], strict=True):
        assert (agent["name"], agent["reviewed"], agent["tasks"]) == (found.name, 24, 8)
        for key, ends in (("mergeable", found.gap.people_interval), ("tests", found.gap.tests_interval)):
            assert (agent[key]["low"], agent[key]["high"]) == (ends.low, ends.high)
    [pair], [expected] = told["differences"], figures.differences
    assert pair["value"] == expected.mergeable.difference and pair["p_value"] == expected.mergeable.test.p_value
    assert told["plan_hash"] == figures.plan_hash
    page = (run / "report.html").read_text()
    assert re.search(r"<abbr[^>]*>Mergeable</abbr>", page) and "of 24 reviewed; tests 70.8%" in page
    assert "Mergeable beside tests" in call("report", run, "--reviews", reviews, "--no-html")
    call("report", run, "--reviews", reviews, "--out", tmp_path / "out", "--format", "csv,md,json")
    table = (tmp_path / "out" / "tables" / "mergeable.csv").read_text().splitlines()
    assert table[0].startswith("agent,tasks,n,tests_percent,tests_low") and table[1].startswith("one,8,24,70.8")
    assert "Mergeable" in (tmp_path / "out" / "index.html").read_text()


def test_the_leaderboard_has_both_rates_with_their_intervals(run: Path, reviews: str, tmp_path: Path) -> None:
    page = Path(call("leaderboard", "build", run, "--out", tmp_path / "site", "--reviews", reviews).strip())
    low, high = (100 * end for end in rate_interval(shares(MERGED, "one")))
    assert f"[{low:.1f}, {high:.1f}]" in page.read_text()
    rows = json.loads((tmp_path / "site" / "leaderboard.json").read_text())
    assert [row["reviews"]["agents"][0]["mergeable"]["successes"] for row in rows] == [13, 4]


def test_what_cannot_be_compared_is_one_sentence(run: Path, reviews: str, tmp_path: Path) -> None:
    assert "is not a file" in call("report", run, "--reviews", tmp_path / "none", code=1)
    assert "There is no study" in call("compare", run, "--reviews", reviews, "--study", "other", code=1)
    database = open_database(reviews)
    create_study(database, study(name="again"), RUBRIC, [Item(id="x", hidden=HiddenPart(task="t"))], at=NOW)
    database.close()
    assert "Name one with --study" in call("report", run, "--reviews", reviews, code=1)
    assert "none of its attempts here was reviewed" in call("compare", run, "--reviews", reviews, "--study", "again")
    other = str(tmp_path / "other.sqlite")
    database = open_database(other)
    create_study(database, study(QUALITY), QUALITY, [Item(id="x", hidden=HiddenPart(task="t"))], at=NOW)
    database.close()
    assert "asks whether to merge" in call("compare", run, "--reviews", other, code=1)
