"""Plug-ins: the loader, and the example package through the command line, a kind at a time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import repoassay
from json_answers import data_of
from plugin_packages import install_example
from repoassay import plugins
from repoassay.errors import BadInput, Unavailable

WRAPPING = ("run", "example-wrapping", "--agent", "wrapper")

SWE_BENCH = ("swe-bench", "swe-bench-leaderboard", "swe-bench-report")
OTHERS = ("croissant", "every-eval-ever", "harbor", "inspect", "inspect-logs", "junit", "mlflow", "otel", "wandb")


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the example package is installed to."""
    return install_example(tmp_path_factory.mktemp("example") / "site")


@pytest.mark.long
def test_doctor_lists_every_kind_with_its_distribution(example: Path, tmp_path: Path) -> None:
    done = repoassay("doctor", "--json", cwd=tmp_path, path=(example,))
    assert done.returncode == 0, done.stderr
    lines = [item for item in data_of(done.stdout) if item["name"] == "plug-in"]
    assert [item for item in lines if item["state"] != "ok"] == []
    for kind in plugins.GROUPS.values():
        assert any(item["detail"].startswith(f"{kind} '") for item in lines), kind
    assert all("of repoassay-example 0.1.0 (repoassay_example" in item["detail"] for item in lines)


def test_a_command_is_offered_beside_the_verbs(example: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\nthree\n")
    done = repoassay("longest-line", "a.txt", cwd=tmp_path, path=(example,))
    assert (done.returncode, done.stdout) == (0, "5\n"), done.stderr
    assert "longest-line" in repoassay("--help", cwd=tmp_path, path=(example,)).stdout


@pytest.fixture(scope="session")
def finished(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of the example's agent on the example's suite, in the example's sandbox."""
    place = tmp_path_factory.mktemp("finished")
    done = repoassay(*WRAPPING, "--isolation", "one-minute", cwd=place, path=(example,))
    assert done.returncode == 0, done.stderr
    assert "how well it isolates is not verified, and no verdict in it is attested" in done.stderr
    assert "1 passed" in done.stdout and "isolation one-minute" in done.stdout
    return place


def test_agent_suite_metric_and_sandbox_work_together(finished: Path) -> None:
    (folder,) = (finished / "runs").glob("2*")
    plan = json.loads((folder / "run.json").read_text())
    assert plan["isolation"] == "one-minute"
    assert plan["agents"]["wrapper"]["version"] == "repoassay-example 0.1.0"
    (verdict,) = folder.glob("attempts/*/verdict.json")
    results = {item["metric"]: item for item in json.loads(verdict.read_text())["criteria"]}
    assert results["wrapped_share"]["value"] == 1.0 and results["wrapped_share"]["unit"] == "ratio"


def test_an_exporter_writes_runs_and_suites(example: Path, finished: Path, tmp_path: Path) -> None:
    (folder,) = (finished / "runs").glob("2*")
    for source, text in (
        (str(folder), "- wrap-notes by wrapper: passed\n"),
        ("example-wrapping", "- wrap-notes: Wrap the lines of a text\n"),
    ):
        done = repoassay("export", source, "--as", "markdown", "--out", "out.md", cwd=tmp_path, path=(example,))
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "out.md").read_text() == text
    listed = repoassay("export", "--list", "--json", cwd=tmp_path, path=(example,))
    assert set(data_of(listed.stdout)) == {"atif", "csv", "jsonl", "markdown", *SWE_BENCH, *OTHERS}


@pytest.mark.long
def test_an_importer_reads_what_somebody_else_keeps(example: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("Notes\n\n# demo__x-1 by Ada: passed\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
    done = repoassay("import", "notes.md", "--out", "theirs", cwd=tmp_path, path=(example,))
    assert done.returncode == 0 and "1 of 1 attempts" in done.stdout, done.stderr
    report = repoassay("report", "theirs", cwd=tmp_path)
    assert "Ada" in report.stdout and "1/1 100.0%" in report.stdout and "Imported from notes.md" in report.stdout


@pytest.mark.long
def test_a_table_stands_in_the_report(example: Path, finished: Path, tmp_path: Path) -> None:
    (folder,) = (finished / "runs").glob("2*")
    done = repoassay("report", str(folder), "--out", "report", "--format", "json", cwd=tmp_path, path=(example,))
    assert done.returncode == 0, done.stderr
    table = json.loads((tmp_path / "report/tables/comments.json").read_text())
    assert "What verdicts say" in json.dumps(table)


@pytest.mark.long
def test_a_metric_is_listed_and_its_suite_is_validated(example: Path, tmp_path: Path) -> None:
    done = repoassay("metrics", "wrapped_share", cwd=tmp_path, path=(example,))
    assert "Share of the lines of a text" in done.stdout
    assert "wrapped_share" in repoassay("metrics", cwd=tmp_path, path=(example,)).stdout
    listed = repoassay("tasks", "list", "--json", cwd=tmp_path, path=(example,))
    assert {"suite": "example-wrapping", "id": "wrap-notes"}.items() <= data_of(listed.stdout)[-1].items()
    proofs = repoassay("tasks", "validate", "example-wrapping", cwd=tmp_path, path=(example,))
    assert proofs.returncode == 0, proofs.stdout


@pytest.mark.long
def test_a_reader_reads_what_an_agent_printed(example: Path, tmp_path: Path) -> None:
    (tmp_path / "talker.toml").write_text("""\
schema = 1
name = "talker"
dialect = "chat"
[run]
command = ["/bin/sh", "-c", "echo first; echo second"]
prompt = "stdin"
[transcript]
parser = "plain-lines"
""")
    (tmp_path / "dialogue.jsonl").write_text('{"kind": "turn", "text": "Done."}\n')
    run = ("run", "example-wrapping", "--agent", "talker.toml", "--model", "scripted/x", "--dialogue", "dialogue.jsonl")
    done = repoassay(*run, cwd=tmp_path, path=(example,))
    assert done.returncode == 0, done.stderr
    (trajectory,) = tmp_path.glob("runs/2*/attempts/*/trajectory.json")
    assert [step["text"] for step in json.loads(trajectory.read_text())["steps"]] == ["first", "second"]
    exported = repoassay("export", "latest", "--as", "atif", "--out", "t.jsonl", cwd=tmp_path)
    assert exported.returncode == 0, exported.stderr
    assert json.loads((tmp_path / "t.jsonl").read_text())["schema_version"] == "ATIF-v1.8"
    refused = repoassay(*run, cwd=tmp_path)
    assert refused.returncode == 2 and "is wrong at transcript.parser: is 'plain-lines'" in refused.stderr


def test_rows_of_another_format_are_read(example: Path, tmp_path: Path) -> None:
    row = {
        "task": "a-1", "git": "https://host.invalid/a.git", "commit": "0" * 40, "ask": "Do it.",
        "check": "def test_a():\n    assert True\n", "answer": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
    }  # fmt: skip
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    done = repoassay("stats", "dataset", "rows.jsonl", "--json", cwd=tmp_path, path=(example,))
    assert done.returncode == 0, done.stderr
    assert "a-1" in done.stdout
    refused = repoassay("stats", "dataset", "rows.jsonl", cwd=tmp_path)
    assert refused.returncode == 2 and "is of no known format" in refused.stderr


def test_a_folder_with_the_name_of_an_installed_suite_is_not_guessed_at(example: Path, tmp_path: Path) -> None:
    (tmp_path / "example-wrapping").mkdir()
    done = repoassay("tasks", "list", "example-wrapping", cwd=tmp_path, path=(example,))
    assert done.returncode == 2
    assert "is both a folder here and a suite of repoassay-example 0.1.0. Write ./example-wrapping" in done.stderr


@pytest.mark.parametrize("group", plugins.GROUPS)
def test_everything_bundled_can_be_imported(group: str) -> None:
    names = plugins.bundled_plugins(group)
    assert names
    for name in names:
        assert plugins.load(group, name) is not None


def test_without_a_source_tree_the_installed_metadata_says_what_is_bundled(monkeypatch: pytest.MonkeyPatch) -> None:
    known = plugins._bundled()
    monkeypatch.setattr(plugins, "_source_tables", lambda: None)
    assert plugins._bundled.__wrapped__() == known
    monkeypatch.setattr(plugins, "_SELF", "a-package-nobody-installed")
    with pytest.raises(Unavailable, match="lies here without its metadata"):
        plugins._bundled.__wrapped__()


def test_nothing_is_imported_to_look_a_name_up() -> None:
    code = """\
import sys
from repoassay import plugins
from repoassay.grading.registry import names
from repoassay.tasks.suite import find_suite
find_suite("starter", metrics=names())
assert plugins._installed.cache_info().currsize == 0, "installed distributions were looked at"
metrics = ("repoassay.grading.metrics.", "repoassay.benchmarks.gittaskbench.original_criteria.")
print(*[name for name in sys.modules if name.startswith(metrics)])
"""
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True, timeout=60)
    assert done.stdout.strip() == ""


def test_a_dotted_path_counts_only_where_the_caller_allows_it() -> None:
    assert plugins.load("repoassay.agents", "repoassay.agents.reference:ReferenceAgent", dotted=True)
    with pytest.raises(BadInput, match="There is no agent called"):
        plugins.load("repoassay.agents", "repoassay.agents.reference:ReferenceAgent")
    with pytest.raises(BadInput, match="Did you mean nothing"):
        plugins.load("repoassay.agents", "nothin", dotted=True)
