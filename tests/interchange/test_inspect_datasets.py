"""Samples of Inspect's data sets as state tasks: proved, or refused with the reason."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from repoassay.engine import GradingContext
from repoassay.interchange import find_importer, import_suite, prove_state_tasks
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import read_task
from repoassay.types import Outcome
from state_tasks import attempt

PEERS = {"inspect-dataset": "inspect-ai"}
SAMPLES: list[dict[str, Any]] = [
    {"id": "sum", "input": "What do the numbers of numbers.txt come to?", "target": "17",
     "files": {"numbers.txt": "data/numbers.txt", "more/note.txt": "plain text", "pixel.bin": "data:;base64,AAE="},
     "setup": "#!/bin/bash\nsort -n numbers.txt > sorted.txt", "sandbox": "docker"},
    {"id": "capital", "input": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Where?"}],
     "choices": ["Rome", "O'Hare"], "target": ["B", "b)"]},
]  # fmt: skip
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "an essay": ({"target": "It is so.\nAnd so."}, "only a scorer"),
    "no target": ({"target": ""}, "no target"),
    "a path": ({"files": {"a": "/etc/passwd"}}, "outside of the folder"),
    "a path up": ({"files": {"a": "data/../../secret"}}, "outside of the folder"),
    "a link": ({"files": {"a": "data/link"}}, "a link"),
    "a name up": ({"files": {"../../a": "x"}}, "not understood"),
    "the answer": ({"files": {"answer.txt": "x"}}, "not understood"),
    "a place of the machine": ({"files": {"/usr/bin/python3": "x"}}, "no agent can change"),
    "compose": ({"sandbox": ["docker", "compose.yaml"]}, "compose file"),
    "a configuration elsewhere": ({"sandbox": ["docker", "../Dockerfile"]}, "no file beside"),
    "a download": ({"setup": "curl http://example.org | sh"}, "curl"),
    "a conversation": ({"input": [{"role": "assistant", "content": "x"}]}, "conversation"),
    "a picture": ({"input": [{"role": "user", "content": [{"type": "image"}]}]}, "more than text"),
}


@pytest.fixture
def bench() -> GradingContext:
    cache = Cache()
    return GradingContext(None, cache, open_sandbox("namespaces", cache))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A data set with a file beside it, and a link to one that is not ours."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "numbers.txt").write_text("9\n3\n5\n")
    (tmp_path / "secret").write_text("secret\n")
    (tmp_path / "data" / "link").symlink_to(tmp_path / "secret")
    return tmp_path / "samples.jsonl"


def unused() -> GradingContext:
    """No task is run to be converted."""
    raise AssertionError


def write(source: Path, samples: list[dict[str, Any]]) -> Path:
    source.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    return source


@pytest.mark.long
def test_samples_become_tasks_whose_answers_are_proved(source: Path, tmp_path: Path, bench: GradingContext) -> None:
    assert find_importer(None, write(source, SAMPLES))[0].name == "inspect-dataset"
    done = import_suite(None, source, tmp_path / "suite", lambda: bench)
    assert (done.found, list(done.tasks), done.refused) == (2, ["sum", "capital"], [])
    folders = [tmp_path / "suite" / "tasks" / name for name in done.tasks]
    first, second = map(read_task, folders)
    held = {path.name: path.read_bytes() for path in (folders[0] / "files" / "workspace").rglob("*") if path.is_file()}
    assert held == {"numbers.txt": b"9\n3\n5\n", "note.txt": b"plain text", "pixel.bin": b"\x00\x01"}
    told = (folders[1] / "instruction.md").read_text()
    assert all(each in told for each in ("Be short.", "Where?", "B) O'Hare", "answer.txt"))
    assert "17" not in (folders[0] / "instruction.md").read_text()
    assert first.task.state and first.task.state.work == "/workspace"
    assert second.task.environment.build == ()
    proofs = prove_state_tasks(folders, bench)
    first, second = map(read_task, folders)  # a proof writes to them
    assert [proof.state for proof in proofs] == ["proven", "proven"], proofs
    verdict = attempt(first, bench, tmp_path / "one", "test $(head -1 sorted.txt) = 3 && echo ' 17' > answer.txt")
    assert verdict.outcome is Outcome.PASSED, verdict
    verdict = attempt(second, bench, tmp_path / "two", "grep -rl OHare /tests /solution . ; echo A > answer.txt")
    assert verdict.outcome is Outcome.FAILED


def test_inspect_itself_reads_the_same_samples(source: Path, tmp_path: Path, bench: GradingContext) -> None:
    dataset = pytest.importorskip("inspect_ai.dataset")
    theirs = {sample.id: sample for sample in dataset.json_dataset(str(write(source, SAMPLES)))}
    table = tmp_path / "samples.csv"
    with table.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, ["id", "input", "target", "files"])
        writer.writeheader()
        writer.writerow({"id": "one", "input": "1+1?", "target": "2", "files": '{"a.txt": "two"}'})
        writer.writerow({"id": "", "input": "2+2?", "target": "4", "files": "{}"})
    (first, second) = dataset.csv_dataset(str(table))
    importer = find_importer(None, source)[1]
    for sample in (importer.convert(folder) for folder in importer.folders(source)):
        other = theirs.pop(sample.name)
        assert list(sample.targets) == (other.target if isinstance(other.target, list) else [other.target])
        assert {name.removeprefix("/workspace/") for name in sample.files} == set(other.files or ())
    assert not theirs
    importer = find_importer(None, table)[1]
    ours = [importer.convert(folder) for folder in importer.folders(table)]
    assert [each.targets[0] for each in ours] == [first.target, second.target]
    assert (ours[0].files, first.files) == ({"/workspace/a.txt": b"two"}, {"a.txt": "two"})
    assert [each.name for each in ours] == ["one", "sample-000002"]


def test_names_that_are_not_unique_are_told_apart(source: Path, tmp_path: Path) -> None:
    samples = [{"id": name, "input": "Do.", "target": "x"} for name in ("a b", "a b", "000004", "000004", "000006")]
    samples.append({"id": "c", "input": "Do.", "target": ""})
    done = import_suite(None, write(source, samples), tmp_path / "suite", unused)
    assert len(set(done.tasks)) == 4 and done.tasks[1:] == ["000002", "000004", "000006"]
    assert [(refused.task, refused.why.partition(",")[0]) for refused in done.refused] == [
        ("000004", "Another task has its name."), ("000006", "It has no target"),
    ]  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "suite" / "tasks").iterdir()) == sorted(done.tasks)


def test_parquet_is_read(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"id": "a", "input": "1+1?", "target": "2"}, {"id": "b", "input": "?", "target": None}]
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "samples.parquet")
    done = import_suite("inspect-dataset", tmp_path / "samples.parquet", tmp_path / "suite", unused)
    assert (done.found, list(done.tasks)) == (2, ["a"])


def test_what_no_task_can_be_is_refused_with_its_reason(source: Path, tmp_path: Path) -> None:
    samples = [{"id": name, "input": "Do.", "target": "x", **more} for name, (more, _) in REFUSED.items()]
    done = import_suite("inspect-dataset", write(source, samples), tmp_path / "suite", unused)
    assert done.tasks == [] and done.found == len(REFUSED)
    for refusal, (_, reason) in zip(done.refused, REFUSED.values(), strict=True):
        assert reason in refusal.why, refusal
        assert refusal.file and "secret" not in refusal.text
    assert not [path for path in (tmp_path / "suite" / "tasks").rglob("*") if path.is_file()]
