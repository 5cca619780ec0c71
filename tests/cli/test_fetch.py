"""`repoassay fetch`, as typed."""

from __future__ import annotations

from pathlib import Path

from command_line import repoassay
from json_answers import data_of
from shared_data import SHARED, needs_shared


@needs_shared
def test_all_that_is_there_is_taken_checked_and_counted(tmp_path: Path) -> None:
    done = repoassay(
        "fetch", "gittaskbench", "--from", SHARED / "data", cwd=tmp_path, env={"REPOASSAY_DATA": str(tmp_path)}
    )
    assert done.returncode == 0, done.stderr
    assert "119 of 133 files are here, 119 checked by sha256; 14 missing, 0 changed" in done.stdout
    assert "missing  groundtruth/SpeechBrain_01/infer_boy.wav" in done.stdout
    spoiled = tmp_path / "gittaskbench/groundtruth/Stegano_02/gt.txt"
    spoiled.write_text("watermark")
    lint = repoassay("tasks", "lint", "gittaskbench", cwd=tmp_path, env={"REPOASSAY_DATA": str(tmp_path)})
    assert lint.returncode == 2
    assert "groundtruth/Stegano_02/gt.txt: is not the file its sha256 names." in lint.stdout
    again = repoassay(
        "fetch", "gittaskbench", "--from", SHARED, "--json", cwd=tmp_path, env={"REPOASSAY_DATA": str(tmp_path)}
    )
    assert data_of(again.stdout)["changed"] == []
    assert spoiled.read_text().strip() == "stegano"


def test_what_cannot_be_used_is_one_sentence(tmp_path: Path) -> None:
    for arguments, words in (
        (("fetch", "starter"), "brings all its data along"),
        (("fetch", "gittaskbench", "--from", "nowhere"), "does not exist"),
        (("fetch", "gittaskbench", "--from", "."), "holds no file of the suite's data"),
        (("grade", "gittaskbench", "--outputs", "."), "Run `repoassay fetch gittaskbench`"),
        (("run", "gittaskbench", "--agent", "nothing"), "Run `repoassay fetch gittaskbench`"),
    ):
        done = repoassay(*arguments, cwd=tmp_path, env={"REPOASSAY_DATA": str(tmp_path)})
        assert done.returncode == 2, (arguments, done.stderr)
        assert words in done.stderr
        assert "Traceback" not in done.stderr
