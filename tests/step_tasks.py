"""A small state task of two steps of our own, each with its solution."""

from __future__ import annotations

from pathlib import Path

from state_tasks import REQUIREMENTS

DOCUMENT = """\
schema = 1
[task]
id = "parcel-steps"
title = "Sum the parcels, then sort them"
kind = "state"
domain = "Tests"
[repository]
source = "folder:files"
licence = "Apache-2.0"
[state]
work = "/workspace"
places = ["/workspace"]
[environment]
requirements = "environment/requirements.txt"
[grading]
reward = "mean"
[limits]
memory = "512 MB"
seconds = 30
[[steps]]
name = "sum"
min_reward = 1
[steps.tests]
fail_to_pass = ["test_sum.py::test_sum"]
pass_to_pass = ["test_sum.py::test_parcels_are_kept"]
seconds = 20
[[steps]]
name = "sort"
seconds = 20
[steps.tests]
fail_to_pass = ["test.sh::__script__"]
runner = "script"
seconds = 20
"""
SUM_TESTS = """\
from pathlib import Path


def test_parcels_are_kept():
    assert Path("/workspace/data/parcels.txt").read_text() == "3\\n9\\n5\\n"


def test_sum():
    assert int(Path("sum.txt").read_text()) == 17
"""
SORT_TESTS = """\
if [ "$(tr '\\n' ' ' < sorted.txt)" = "3 5 7 9 " ] && grep -q 17 sum.txt; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi
"""
SUM = "awk '{s += $1} END {print s}' data/parcels.txt > sum.txt\n"
SORT = "cat data/parcels.txt data/late/more.txt | sort -n > sorted.txt\n"


def write_steps(folder: Path, **changed: str) -> Path:
    """The task's folder; `changed` has other content by a file's path, with `__` for `/` and without its ending."""
    files = {
        "task.toml": DOCUMENT,
        "environment/requirements.txt": REQUIREMENTS.read_text(),
        "files/workspace/data/parcels.txt": "3\n9\n5\n",
        "steps/sum/instruction.md": "Write the sum of data/parcels.txt to sum.txt.",
        "steps/sum/tests/test_sum.py": SUM_TESTS,
        "steps/sum/solution/solve.sh": SUM,
        "steps/sort/instruction.md": "More have come: write all parcels, sorted, to sorted.txt.",
        "steps/sort/files/workspace/data/late/more.txt": "7\n",
        "steps/sort/tests/test.sh": SORT_TESTS,
        "steps/sort/solution/solve.sh": SORT,
    }
    place = folder / "parcel-steps"
    named = {name: name.rpartition(".")[0].replace("/", "__") for name in files}
    assert set(changed) <= set(named.values()), set(named.values())
    for name, content in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(changed.get(named[name], content))
    return place
