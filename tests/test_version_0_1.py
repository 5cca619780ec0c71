"""Files that version 0.1.0 wrote are read as it read them: every figure, through the command line and from Python.

`assets/v0.1` was written by version 0.1.0; `golden/v0.1` is what that version read in it. Neither is ever made anew:
when a test here fails, the reader is wrong. Only keys may come to what is answered.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from goldens import FROZEN, assert_covers, assert_text
from json_answers import data_of
from repoassay.cli.main import cli
from repoassay.records import RunFolder
from repoassay.records.verdicts import VerdictCache, verdict_key

STORE = Path(__file__).parent / "assets" / "v0.1"
RUNS = sorted(path.name for path in (STORE / "recorded").iterdir())
SYSTEMS = {
    "baselines": ("baselines",),
    "matrix": ("scripted-matrix",),
    "edits": ("reference-domains", "nothing-edits", "command-edit-fails"),
    "attempts": ("mini-two-agents",),
}
"""Comparison -> runs below `runs` whose agents are compared."""
INTERVALS = r"pass_at_(1|k\[\d+\])\.(low|high|method)$"
"""Ends of intervals of pass@k, which are wider since they go by t: with z they covered 87 % of the time
with five tasks."""
REASONS = r"\$\.(attempts\[\d\]|diagnosis)\.diagnosis\.reason$"
"""Why attempts have no class: since then it also says how many tests did not pass."""
SEVERAL = {
    "command-edit-fails", "command-solves", "interrupted", "killed", "mini-reference", "mini-two-agents",
    "reference-twice", "resumed", "scripted-run-budget",
}  # fmt: skip
"""Runs of several attempts a task: the ends of their intervals take tasks as the sample now, no longer attempts."""
ENDS = r"\$.+\.(low|high|method|note)$"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy that may be written to, with the runs where they are looked for, and no caches of this machine."""
    shutil.copytree(STORE, tmp_path, dirs_exist_ok=True)
    (tmp_path / "recorded").rename(tmp_path / "runs")
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(*arguments: str | Path, code: int = 0) -> str:
    """Call the command line; return what it prints."""
    done = CliRunner().invoke(cli, [str(each) for each in arguments])
    assert done.exit_code == code, (done.output, done.exception)
    return done.stdout


def answered(*arguments: str | Path, code: int = 0) -> Any:
    return data_of(printed(*arguments, "--json", code=code))


def finished(run: str) -> list[str]:
    """The ids of the attempts that count, by the journal alone."""
    lines = [json.loads(line) for line in (STORE / "recorded" / run / "journal.jsonl").read_text().splitlines()]
    return [line["attempt"] for line in lines if line["event"] == "finished"]


def test_there_are_thirty_runs_and_nothing_of_the_machine_that_made_them() -> None:
    assert len(RUNS) >= 30
    for path in STORE.rglob("*"):
        if path.is_file():
            assert not re.search(rb"/(root|home|work|tmp/pytest)/", path.read_bytes()), path


@pytest.mark.by_day(8)
@pytest.mark.parametrize("run", RUNS)
def test_a_run_is_reported_diagnosed_and_shown(store: Path, run: str) -> None:
    ends = ENDS if run in SEVERAL else ""
    assert_covers(FROZEN / "report" / f"{run}.json", answered("report", f"runs/{run}", "--no-html"), ends)
    reasons = REASONS if run == "command-edit-fails" else ""
    assert_covers(FROZEN / "diagnose" / f"{run}.json", answered("diagnose", f"runs/{run}"), reasons)
    stories = {attempt: f"runs/{run}/attempts/{attempt}" for attempt in finished(run)}
    last = finished(run)[-1]
    assert_covers(FROZEN / "show" / f"{run}.json", answered("show", stories[last]), reasons)
    assert all(attempt in printed("show", story) for attempt, story in stories.items())


def test_every_attempt_is_read_from_python() -> None:
    told = {}
    for name in RUNS:
        run = RunFolder(STORE / "recorded" / name)
        told[name] = [
            {
                "attempt": json.loads(one.attempt.model_dump_json()),
                "outcome": one.verdict.outcome.value,
                "process": one.verdict.process,
                "result": one.verdict.result,
                "folder": one.folder.name,
            }
            for one in run.finished()
        ]
    assert_covers(FROZEN / "attempts.json", told)


@pytest.mark.parametrize("name", SYSTEMS)
def test_systems_are_compared(store: Path, name: str) -> None:
    systems = [f"runs/{run}" for run in SYSTEMS[name]]
    told = printed("compare", *systems, "--json").replace(str(store), "STORE")
    ends = r"\$\.comparisons\[\d\]\.interval\.(low|high|method|note)$" if name in {"edits", "attempts"} else ""
    assert_covers(FROZEN / "compare" / f"{name}.json", data_of(told), ends)


def test_runs_are_reported_together(store: Path) -> None:
    runs = [f"runs/{run}" for run in ("scripted-matrix", "mini-reference", "reference-domains")]
    told = printed("report", *runs, "--json").replace(str(store), "STORE")
    # Beside the ends of intervals two notes that say how they are made, and why there was none.
    ends = r"\$\.tables\[(\d+)\]\.(rows\[\d+\]\.\w+(\[\d+\])?\.(low|high|method|undefined)|notes\[\d\])$"
    assert_covers(FROZEN / "tables.json", data_of(told), ends)


def test_labels_and_signals_are_read(store: Path) -> None:
    assert_covers(FROZEN / "labels.json", answered("diagnose", "labels", "runs/scripted-failing-ways"))
    assert_covers(FROZEN / "signals.json", [
        json.loads(path.read_text()) for path in sorted(store.glob("runs/*/attempts/*/signals.json"))
    ])  # fmt: skip


@pytest.mark.exhaustive
def test_an_interrupted_run_is_resumed(store: Path) -> None:
    """Four of its six attempts are left to be made; the two that are there stay as they are."""
    before = (store / "runs/interrupted/journal.jsonl").read_bytes()
    printed("resume", "runs/interrupted", "--suite", Path(__file__).parent / "assets/suites/mini", "--yes")
    assert (store / "runs/interrupted/journal.jsonl").read_bytes().startswith(before)
    assert [one.verdict.outcome for one in RunFolder(store / "runs/interrupted").finished()] == ["passed"] * 6


def test_leaderboard_submissions_are_valid_and_shown(store: Path) -> None:
    for pack in ("reference", "solver"):
        assert_covers(FROZEN / "leaderboard" / f"{pack}.json", answered("leaderboard", "validate", f"packs/{pack}"))
    printed("leaderboard", "build", "packs/reference", "packs/solver", "runs/mini-two-agents", "--out", "site")
    rows = json.loads((store / "site" / "leaderboard.json").read_text())
    assert_covers(FROZEN / "leaderboard" / "rows.json", rows, ENDS)


def test_result_lines_are_not_graded_again_and_counted(store: Path) -> None:
    before = (store / "submit/results.jsonl").read_bytes()
    told = printed("submit", "--suite", "starter", "--submissions", "submit/patches.jsonl", "--results",
                   "submit/results.jsonl", "--no-cache")  # fmt: skip
    assert_text(FROZEN / "submit.txt", told)
    assert (store / "submit/results.jsonl").read_bytes() == before
    for name in ("results", "repeated"):
        figures = answered("stats", "results", f"submit/{name}.jsonl", "--k", "1,2,4")
        assert_covers(FROZEN / "stats" / f"{name}.json", figures, rf"\$\..+{INTERVALS}")


def test_kept_verdicts_are_found_by_the_keys_they_had(store: Path) -> None:
    with sqlite3.connect(STORE / "cache/verdicts.sqlite") as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM verdicts ORDER BY key")]
    cache = VerdictCache(store / "cache/verdicts.sqlite")
    assert len(cache) == len(keys)
    kept = {key: cache.get(key) for key in keys}
    assert_covers(
        FROZEN / "verdicts.json",
        {key: json.loads(one.model_dump_json()) if one else None for key, one in kept.items()},
    )
    assert_text(FROZEN / "key.txt", verdict_key("ab" * 32, b"--- a/x\n", "environment", "repoassay/0.1.0"))


@pytest.mark.exhaustive
def test_a_queue_is_served_and_what_waits_in_it_is_judged(store: Path) -> None:
    import httpx

    from server.serving import Process

    with (
        Process("--database", str(store / "queue/queue.sqlite"), "--feedback", "full") as server,
        httpx.Client(base_url=server.url, timeout=90) as client,
    ):
        lines = [json.loads(line) for line in client.get("/v1/results?whole=true").text.splitlines() if line]
        listed = client.get("/v1/submissions?limit=1000").json()["submissions"]
        late = [each for each in listed if (each["key"] or "").startswith("late-")]
        words = [client.get(f"/v1/submissions/{each['submission']}?wait=60").json()["status"] for each in late]
    assert_covers(FROZEN / "queue.json", sorted(lines, key=lambda line: line["cursor"])[:12])
    assert words == ["done"] * 4


@pytest.fixture
def lead(store: Path) -> Iterator[Any]:
    """The owner of the recorded review database, before its pages."""
    from server.review.samples import Person, Process

    server = Process(str(store / "review/reviews.sqlite"))
    person = Person(server.url, server.link)
    yield person
    person.http.close()
    server.stop()


@pytest.mark.exhaustive
def test_ratings_are_exported_and_figures_are_the_same(lead: Any) -> None:
    for kind in ("jsonl", "csv"):
        assert_text(FROZEN / "review" / f"ratings.{kind}", lead.get(f"/studies/st/export.{kind}").text)
    figures = lead.get("/studies/st/figures").text
    text = re.sub(r"<(script|style|nav|header|footer)\b.*?</\1>|<[^>]*>", " ", figures, flags=re.DOTALL)
    numbers = re.findall(r"(?<![\w#])-?\d+(?:\.\d+)?", text)
    recorded = Counter(json.loads((FROZEN / "review" / "numbers.json").read_text()))
    gone = (recorded - Counter(numbers)).elements()
    # Counts and rates are the same. Intervals draw tasks now, and those of agreement are not given for so few.
    assert [each for each in gone if "." not in each] == []


def test_the_review_database_is_read_from_python(store: Path) -> None:
    from repoassay.review.database import open_database
    from repoassay.review.rater_accounts import raters_of
    from repoassay.review.studies import items_of, study_of

    database = open_database(store / "review/reviews.sqlite")
    assert_covers(FROZEN / "review" / "study.json", {
        "study": json.loads(study_of(database, "st").model_dump_json()),
        "raters": [[each.id, each.name, each.role] for each in raters_of(database, "st")],
        "items": [json.loads(each.model_dump_json()) for each in items_of(database, "st")],
    })  # fmt: skip
    database.close()


def test_a_judge_is_calibrated_on_what_it_said(store: Path) -> None:
    told = answered("judge", "calibrate", "review/reviews.sqlite", "--study", "st")
    assert_covers(FROZEN / "review" / "calibration.json", told)
