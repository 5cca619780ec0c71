"""`repoassay leaderboard` on a run made by the product: built, packed, validated, graded again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import repoassay
from json_answers import data_of
from repoassay.report.leaderboard import figures_of
from repoassay.report.leaderboard.manifest import manifest_of
from repoassay.report.results import read_rows

PACK = ("--contact", "me@example.org", "--declare-all", "--with-files")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`runs/` with one run of two agents, on two tasks, two attempts each."""
    folder = tmp_path_factory.mktemp("leaderboard")
    done = repoassay(
        "run", "starter", "--agent", "reference", "--agent", "nothing", "--attempts", "2",
        "--task", "sensor-log-daily", "--task", "edit-parse-replace", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.long
def test_a_site_of_a_run(tmp_path: Path) -> None:
    agents = ("--agent", "reference", "--agent", "nothing")
    done = repoassay("run", "starter", *agents, "--task", "sensor-log-daily", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = repoassay("leaderboard", "latest", "--out", "site", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "site" / "leaderboard.json").read_text())
    assert [(row["system"], row["figures"]["result"]["over_all"]["value"]) for row in rows] == [
        ("reference", 1.0), ("nothing", 0.0),
    ]  # fmt: skip
    assert (tmp_path / "site" / rows[0]["evidence"]).is_file()


@pytest.mark.exhaustive
def test_packed_validated_graded_again_and_shown(folder: Path) -> None:
    several = repoassay("leaderboard", "pack", "latest", "--out", "in", *PACK, cwd=folder)
    assert several.returncode == 2
    assert several.stderr == "repoassay: The run has several agents: reference, nothing. Name one with --agent.\n"
    done = repoassay("leaderboard", "pack", "latest", "--agent", "reference", "--out", "in", *PACK, cwd=folder)
    assert done.returncode == 0, done.stderr
    checked = repoassay("leaderboard", "validate", "in", "--regrade", cwd=folder)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "in is sound: every figure follows from its 4 attempts." in checked.stdout
    shown = repoassay("leaderboard", "in", "--out", "from-others", cwd=folder)
    assert shown.returncode == 0, shown.stderr
    assert "validated" in (folder / "from-others" / "index.html").read_text()


@pytest.mark.exhaustive
def test_a_forgery_that_follows_is_found_by_grading_again(folder: Path) -> None:
    """Nothing was done, and everything in the folder says it passed: sound, and not true."""
    done = repoassay("leaderboard", "pack", "latest", "--agent", "nothing", "--out", "forged", *PACK, cwd=folder)
    assert done.returncode == 0, done.stderr
    run = folder / "forged" / "run"
    for path in run.glob("attempts/*/verdict.json"):
        verdict = json.loads(path.read_text())
        verdict |= {"outcome": "passed", "process": True, "result": True, "criteria": []}
        path.write_text(json.dumps(verdict | {"tests": [{"id": "test_x.py::test_y", "outcome": "passed"}]}))
    journal = run / "journal.jsonl"
    journal.write_text(journal.read_text().replace('"no_output"', '"passed"'))
    (folder / "forged" / "figures.json").write_text(json.dumps(figures_of(read_rows([run]))))
    (folder / "forged" / "manifest.json").write_bytes(manifest_of(folder / "forged"))
    assert repoassay("leaderboard", "validate", "forged", cwd=folder).returncode == 0
    found = repoassay("leaderboard", "validate", "forged", "--regrade", "--json", cwd=folder)
    assert found.returncode == 1, found.stderr
    refusals = data_of(found.stdout)["refusals"]
    assert len(refusals) == 4
    assert all("is passed, and graded again it is no_output" in one["what"] for one in refusals)


@pytest.mark.long
def test_a_refusal_is_exit_code_1_and_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = repoassay("leaderboard", "validate", "empty", cwd=tmp_path)
    assert done.returncode == 1
    assert "refused: submission.toml: it is missing." in done.stdout
    assert repoassay("leaderboard", "validate", "nowhere", cwd=tmp_path).returncode == 2
