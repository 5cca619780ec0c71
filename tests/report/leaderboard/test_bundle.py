"""What is packed, what stays behind, and what is not packed at all."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from repoassay.errors import BadInput
from repoassay.records import RunFolder
from repoassay.report.leaderboard import Declarations, pack, validate
from repoassay.report.leaderboard.manifest import digest
from repoassay.types import Plan, Submission, SubmittedFile

MakeRun = Callable[..., RunFolder]
NOW = datetime(2026, 2, 1, 12, 0, tzinfo=UTC)
DECLARED = Declarations(no_test_knowledge=True, every_attempt=True, no_human_help=True, one_attempt=True)


def packed(run: RunFolder, out: Path, **options: object) -> Path:
    given: dict[str, object] = {"contact": "me@example.org", "declared": DECLARED, "now": NOW, **options}
    pack(run, out, **given)  # type: ignore[arg-type]  # options of several types
    return out


def test_transcripts_logs_and_places_stay_behind(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run()
    for folder in (run.path / "attempts").iterdir():
        (folder / "log.txt").write_text("secret words")
        (folder / "transcript").mkdir()
        (folder / "transcript" / "a.jsonl").write_text("secret words")
        (folder / "usage.bodies").mkdir()
        (folder / "usage.bodies" / "1.request.gz").write_text("secret words")
    out = packed(run, tmp_path / "out")
    names = {path.name for path in out.rglob("*") if path.is_file()}
    assert names == {
        "submission.toml", "manifest.json", "figures.json", "run.json", "journal.jsonl", "attempt.json",
        "verdict.json", "usage.jsonl",
    }  # fmt: skip
    plan = Plan.model_validate_json((out / "run" / "run.json").read_bytes())
    assert plan.suite_folder == "mini"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".pack")]


def test_a_hostile_name_survives_in_toml(make_run: MakeRun, tmp_path: Path) -> None:
    system = 'x"\\\n[declarations]\x7f\u202eé </script>'
    out = packed(make_run(system=system), tmp_path / "out", organisation='O"\n')
    assert tomllib.loads((out / "submission.toml").read_text())["system"] == system
    assert validate(out, NOW).sound


@pytest.mark.parametrize("secret", ["sk-" + "a1" * 20, "ghp_" + "a" * 36, "hunter2-is-my-word"])
def test_secrets_are_not_handed_in(
    make_run: MakeRun, tmp_path: Path, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_VENDOR_KEY", "hunter2-is-my-word")
    run = make_run()
    (folder, *_) = sorted((run.path / "attempts").iterdir())
    verdict = json.loads((folder / "verdict.json").read_text())
    (folder / "verdict.json").write_text(json.dumps(verdict | {"comments": [f"said {secret}"]}))
    with pytest.raises(BadInput, match=r"verdict\.json holds what looks like a key") as caught:
        packed(run, tmp_path / "out")
    assert secret not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_files_may_be_handed_in_and_are_those_of_the_attempt(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run()
    (folder, *_) = sorted((run.path / "attempts").iterdir())
    (folder / "submission").mkdir()
    left = folder / "submission" / "out.txt"
    left.write_text("right")
    (folder / "submission" / "link").symlink_to("/etc/passwd")
    attempt = json.loads((folder / "attempt.json").read_text())
    file = SubmittedFile(path="out.txt", size=5, sha256=digest(left))
    exit_of = attempt["submission"]["exit"]
    attempt["submission"] = Submission(files=(file,)).model_dump() | {"exit": exit_of}
    (folder / "attempt.json").write_text(json.dumps(attempt))
    assert len(list(packed(run, tmp_path / "bare").rglob("out.txt"))) == 0
    out = packed(run, tmp_path / "whole", with_files=True)
    assert [path.read_text() for path in out.rglob("submission/*")] == ["right"]
    left.write_text("wrong")
    with pytest.raises(BadInput, match="it is not the file that the attempt names: another sha256"):
        packed(run, tmp_path / "changed", with_files=True)


def test_what_is_not_finished_is_not_handed_in(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run()
    lines = run.journal.path.read_text().splitlines(keepends=True)
    run.journal.path.write_text("".join(lines[:-1]))
    with pytest.raises(BadInput, match=r"cannot be handed in: .*is planned and has no finished attempt|does not say"):
        packed(run, tmp_path / "out")


def test_wrong_wishes_are_sentences(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")
    for options, words in (
        ({"agent": "nobody"}, "has no agent 'nobody'"),
        ({"contact": ""}, "cannot be described"),
        ({"declared": DECLARED.model_copy(update={"every_attempt": False})}, "every_attempt is not declared"),
    ):
        with pytest.raises(BadInput, match=words):
            packed(run, tmp_path / "out", **options)
    with pytest.raises(BadInput, match="already exists and is not empty"):
        packed(run, tmp_path / "full")
