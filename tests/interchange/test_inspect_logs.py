"""Evaluation logs of Inspect as runs."""

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

from repoassay.agents import read_transcript
from repoassay.errors import BadInput
from repoassay.interchange import find_importer, import_run
from repoassay.report import read_trajectory
from repoassay.types import Outcome

HEADER = {
    "version": 2, "status": "success",
    "eval": {"eval_id": "e", "task": "fix", "model": "openai/m", "packages": {"inspect_ai": "0.3.285"}},
}  # fmt: skip


def sample(name: str, value: Any, epoch: int = 1) -> dict[str, Any]:
    """A sample that asked for one command."""
    call = {"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}}
    return {
        "id": name, "epoch": epoch,
        "messages": [
            {"role": "user", "content": "Fix it."},
            {"role": "assistant", "id": "m1", "content": "I look.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
        ],
        "scores": {} if value is None else {"hidden_tests": {"value": value, "explanation": "as told"}},
        "model_usage": {"openai/m": {"input_tokens": 10, "output_tokens": 3, "total_tokens": 13}},
        "started_at": "2026-01-01T10:00:00+00:00", "completed_at": "2026-01-01T10:02:00+00:00",
    }  # fmt: skip


def write_eval(path: Path, samples: list[dict[str, Any]]) -> Path:
    """A log as Inspect lays it out."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(HEADER))
        for one in samples:
            archive.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
    return path


def packed(path: Path) -> Path:
    """The same file with every member packed by Zstandard, which `zipfile` writes from Python 3.14 on only."""
    zstandard = pytest.importorskip("zstandard")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sizes = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(name, zstandard.compress(content))
            sizes[name] = len(content)
    data = bytearray(path.read_bytes())
    for name, size in sizes.items():
        coded = name.encode()
        for mark, method, length, text in ((b"PK\x03\x04", 8, 22, 30), (b"PK\x01\x02", 10, 24, 46)):
            at = data.find(mark)
            while data[at + text : at + text + len(coded)] != coded:
                at = data.find(mark, at + 1)
            struct.pack_into("<H", data, at + method, 93)
            struct.pack_into("<I", data, at + length, size)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("form", ["zip", "zstandard", "json"])
def test_each_sample_and_epoch_is_an_attempt(form: str, tmp_path: Path) -> None:
    samples = [sample("a", "C"), sample("a", "I", 2), sample("b", 0.5), sample("c", None)]
    log = write_eval(tmp_path / "log.eval", samples)
    if form == "zstandard":
        packed(log)
    elif form == "json":
        log = tmp_path / "log.json"
        log.write_text(json.dumps({**HEADER, "samples": samples}))
    assert find_importer(None, log)[0].name == "inspect"
    found = list(import_run(None, log, tmp_path / "run").run.finished())
    told = [(one.attempt.task, one.attempt.number, one.verdict.outcome) for one in found]
    assert told == [
        ("a", 1, Outcome.PASSED), ("a", 2, Outcome.FAILED), ("b", 1, Outcome.FAILED), ("c", 1, Outcome.NOT_GRADABLE),
    ]  # fmt: skip
    first = found[0]
    assert first.verdict.grader == "inspect_ai 0.3.285 (hidden_tests) (reported)"
    assert first.attempt.agent == "fix @ openai/m" and (first.attempt.ended - first.attempt.started).seconds == 120
    assert first.attempt.spent and first.attempt.spent.usage.total == 13
    trajectory = read_trajectory(first.folder)
    assert trajectory and trajectory.steps[1].calls[0].arguments == {"cmd": "ls"}
    assert trajectory.steps[1].observations[0].text == "a.py"


def test_a_solution_of_the_data_set_is_never_taken_for_a_submission(tmp_path: Path) -> None:
    gold = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    theirs = {**sample("a", "C"), "metadata": {"patch": gold}}
    own = {**sample("b", "C"), "store": {"model_patch": gold.replace("+b", "+c")}}
    found = list(import_run("inspect", write_eval(tmp_path / "l.eval", [theirs, own]), tmp_path / "run").run.finished())
    assert not found[0].attempt.submission.files
    assert b"+c" in (found[1].folder / "submission" / "changes.diff").read_bytes()


@pytest.mark.parametrize("damage", ["cut", "member", "nothing"])
def test_a_damaged_log_is_a_sentence(damage: str, tmp_path: Path) -> None:
    log = write_eval(tmp_path / "log.eval", [sample("a", "C")])
    if damage == "member":
        packed(log)
        data = bytearray(log.read_bytes())
        at = data.find(b"\x28\xb5\x2f\xfd")  # where Zstandard's data begin
        data[at : at + 4] = b"abcd"
        log.write_bytes(data)
    else:
        log.write_bytes(log.read_bytes()[:50] if damage == "cut" else b"")
    with pytest.raises(BadInput):
        import_run("inspect", log, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_sample_that_cannot_be_read_is_an_attempt_that_says_so(tmp_path: Path) -> None:
    log = write_eval(tmp_path / "log.eval", [sample("a", "C")])
    with zipfile.ZipFile(log, "a") as archive:
        archive.writestr("samples/b_epoch_1.json", "[" * 100_000)
    found = {one.attempt.task: one.verdict for one in import_run("inspect", log, tmp_path / "run").run.finished()}
    assert found["b"].outcome is Outcome.NOT_GRADABLE and any("no JSON object" in line for line in found["b"].comments)


@pytest.mark.parametrize("damage", ["encrypted", "deflated", "lzma", "name"])
def test_a_member_that_cannot_be_unpacked_is_a_sentence(tmp_path: Path, damage: str) -> None:
    log = write_eval(tmp_path / "log.eval", [sample("a", "C")])
    if damage == "lzma":
        with zipfile.ZipFile(log, "a", zipfile.ZIP_LZMA) as archive:
            archive.writestr("samples/b_epoch_1.json", json.dumps(sample("b", "C")))
    content = bytearray(log.read_bytes())
    entry = content.rfind(b"PK\x01\x02")
    packed_at = content.rfind(b"_epoch_1.json", 0, entry) + len(b"_epoch_1.json")
    if damage == "encrypted":
        content[entry + 8] |= 1
    elif damage == "name":
        content[entry + 9] |= 8
        content[entry + 46] = 0xFF
    else:
        content[packed_at + 4 : packed_at + 12] = b"\xff" * 8
    log.write_bytes(content)
    with pytest.raises(BadInput, match="cannot be read"):
        import_run("inspect", log, tmp_path / "run")
    (tmp_path / "files").mkdir()
    log.rename(tmp_path / "files" / "log.eval")
    assert "not a whole .eval file" in read_transcript("inspect", tmp_path, agent="x").problems[0]


def test_what_was_not_scored_is_no_failure(tmp_path: Path) -> None:
    log = write_eval(tmp_path / "log.eval", [sample("a", float("nan"))])
    (found,) = import_run("inspect", log, tmp_path / "run").run.finished()
    assert found.verdict.outcome is Outcome.NOT_GRADABLE and found.verdict.result is None


def test_epochs_are_numbered_in_their_order(tmp_path: Path) -> None:
    samples = [sample("a", "C" if epoch == 10 else "I", epoch) for epoch in (1, 2, 10, 11)]
    found = import_run("inspect", write_eval(tmp_path / "log.eval", samples), tmp_path / "run").run.finished()
    assert [one.verdict.outcome is Outcome.PASSED for one in found] == [False, False, True, False]


@pytest.mark.long
def test_a_log_whose_members_overlap_is_not_unpacked_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few kilobytes name the same packed bytes a thousand times."""
    monkeypatch.setattr("repoassay.agents.transcripts.eval_file._SURE", 2**16)
    log = write_eval(tmp_path / "log.eval", [{"id": "one", "epoch": 1, "more": "x" * 2**16}])
    with zipfile.ZipFile(log, "a") as archive:
        one = archive.getinfo("samples/one_epoch_1.json")
        archive.filelist += [one] * 1000
        archive._didModify = True  # type: ignore[attr-defined]  # writes the directory anew
    with pytest.raises(BadInput, match=r"unpacks to more than its size allows|Overlapped entries"):
        import_run("inspect", log, tmp_path / "run")
