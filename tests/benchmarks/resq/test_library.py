"""The library face of RES-Q: a script for the published package runs when only its imports are changed."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from demo_set import build_demo
from repoassay.resq import RESQDataset, Submission, SubmissionEnv

WANTED = ("inflection-rules-module", "parse-result-get", "toolz-keyrename")

# As the published package's documentation and evaluation script use it, but for the three imports.
SCRIPT = """
import asyncio
import json
import sys

from repoassay.resq import RESQDataset
from repoassay.resq import Submission, SubmissionEnv, SubmissionResult

dataset = RESQDataset.from_json("dataset.json")
env = SubmissionEnv(dataset, temp_dir="temp/", persist=True)

first = dataset["toolz-keyrename"]
result = env.step(Submission(id=first.id, patch=first.solution_patch))
assert isinstance(result, SubmissionResult)
assert result.success and result.message == "PASS", result

with open("submissions.json") as f:
    submissions = [Submission(**submission) for submission in json.load(f)]
results = env.step_batch(submissions=submissions, n_workers=2, pbar=True)
again = asyncio.run(env.astep_batch(submissions, n_workers=2, pbar=False))
print(json.dumps([r.model_dump() for r in results]))
assert [r.message for r in again] == [r.message for r in results]
passed = sum(r.success for r in results)
print(f"pass@1: {passed / len(dataset):.2f}", file=sys.stderr)
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    out = build_demo(tmp_path_factory.mktemp("rows") / "demo.jsonl")
    found = [json.loads(line) for line in out.read_text().splitlines()]
    return [row for row in found if row["id"] in WANTED]


@pytest.mark.exhaustive
def test_a_published_script_runs_with_its_imports_changed(tmp_path: Path, rows: list[dict[str, str]]) -> None:
    (tmp_path / "dataset.json").write_text(json.dumps(rows))
    submissions = [{"id": row["id"], "patch": patch} for row in rows for patch in (row["solution_patch"], "", "oops")]
    (tmp_path / "submissions.json").write_text(json.dumps(submissions))
    (tmp_path / "script.py").write_text(SCRIPT)
    for _ in range(2):  # the second time, everything it needs is there already
        done = subprocess.run(
            [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False
        )
        assert done.returncode == 0, done.stderr
        results = json.loads(done.stdout)
        assert [result["id"] for result in results] == [submission["id"] for submission in submissions]
        assert [result["message"] for result in results] == ["PASS", "PATCH FAILED", "PATCH FAILED"] * len(rows)
        assert "pass@1: 1.00" in done.stderr


@pytest.mark.long
def test_steps_can_be_awaited_together_and_nothing_stays(tmp_path: Path, rows: list[dict[str, str]]) -> None:
    dataset = RESQDataset(rows)
    assert len(dataset) == len(WANTED)
    assert {row.id for row in dataset} == set(WANTED)
    with pytest.raises(ValueError, match="does not exist"):
        dataset["nothing"]

    async def both(env: SubmissionEnv) -> list[str]:
        steps = (env.astep(Submission(id=row.id, patch=row.solution_patch)) for row in dataset)
        return [result.message for result in await asyncio.gather(*steps)]

    with SubmissionEnv(dataset, temp_dir=tmp_path / "temp") as env:
        assert asyncio.run(both(env)) == ["PASS"] * len(WANTED)
        late = env.step(Submission(id="toolz-keyrename", patch=None))
        assert (late.success, late.message) == (False, "PATCH FAILED")
    assert not (tmp_path / "temp/workspace").exists()
