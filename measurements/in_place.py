"""Do rows of others work here? Each task of a suite: its environment, its proof, its gold patch and an empty change.

    python measurements/in_place.py SUITE --out FILE [--only GLOB]... [--cache FOLDER] [--table]

SUITE is what `repoassay tasks import` wrote. A line of JSON a task goes to FILE, and tasks that have one already are
passed over, so that it can be stopped at any time. `--table` prints what FILE holds as Markdown, one line a repository:
tasks, gold patches that pass, harmless changes that fail, the share of the stated tests that behave here as stated,
seconds and size of an environment, and why the rest is unproven.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import statistics
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from repoassay.engine import GradingContext
from repoassay.errors import RepoAssayError
from repoassay.grading import grade_edit
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import TaskFolder, find_suite
from repoassay.workspace import lay_out

NOTHING = b"""diff --git a/NOTE.rst b/NOTE.rst
new file mode 100644
--- /dev/null
+++ b/NOTE.rst
@@ -0,0 +1 @@
+A note that changes nothing.
"""


def own_bytes(*trees: Path) -> int:
    """Bytes of files that no other entry of the cache shares."""
    found = (
        entry.lstat()
        for tree in trees
        for folder, _, names in os.walk(tree)
        for entry in map(Path(folder).joinpath, names)
    )
    return sum(each.st_blocks * 512 for each in found if each.st_nlink == 1)


def measure(folder: TaskFolder, bench: GradingContext) -> dict[str, Any]:
    """Everything about one task."""
    tests = folder.task.grading.tests
    assert tests is not None
    counts = {"fail_to_pass": len(tests.fail_to_pass), "pass_to_pass": len(tests.pass_to_pass)}
    row: dict[str, Any] = {"id": folder.task.id, "repository": folder.task.repository.homepage, **counts}
    began = time.monotonic()
    try:
        layout = lay_out(folder, bench.repositories, bench.cache, bench.sandbox)
        row |= {
            "environment_s": round(time.monotonic() - began, 1),
            "bytes": own_bytes(layout.base, layout.environment),
        }
        began = time.monotonic()
        proof = bench.oracle.proof(folder, layout.base, layout.environment)
        row |= {"proof_s": round(time.monotonic() - began, 1), "run_s": proof.seconds, "excluded": proof.excluded,
                "base_passes": proof.base_passes}  # fmt: skip
        gold = (folder.solution / "changes.diff").read_bytes()
        for name, diff in (("gold", gold), ("nothing", NOTHING)):
            began = time.monotonic()
            verdict = grade_edit(
                folder, diff, bench.sandbox, base=layout.base, environment=layout.environment, oracle=bench.oracle
            )
            row |= {name: verdict.outcome.value, f"{name}_s": round(time.monotonic() - began, 1),
                    f"{name}_says": verdict.comments[:3]}  # fmt: skip
            if verdict.assurance:
                row |= {"grade": verdict.assurance.grade, "bits": verdict.assurance.bits}
    except RepoAssayError as error:
        row["error"] = str(error)[:2000]
    return row


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    groups: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["repository"]].append(row)
    head = ("repository", "rows", "gold passes", "harmless change fails", "FAIL_TO_PASS as stated",
            "PASS_TO_PASS as stated", "attested", "environment, s", "MB", "run, s")  # fmt: skip
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for name, group in [*sorted(groups.items()), ("all", rows)]:
        proven = [row for row in group if "gold" in row]
        fail = sum(row["fail_to_pass"] for row in group)
        keep = sum(row["pass_to_pass"] for row in group)
        good_fail = sum(row["fail_to_pass"] - len(row["base_passes"]) for row in proven)
        good_keep = sum(row["pass_to_pass"] - len(row["excluded"]) for row in proven)
        cells = [
            name, len(group), sum(row["gold"] == "passed" for row in proven),
            sum(row["nothing"] == "failed" for row in proven), f"{good_fail}/{fail}", f"{good_keep}/{keep}",
            sum(row.get("grade") == "attested" for row in proven), _middle(group, "environment_s"),
            _middle([{**row, "mb": row["bytes"] / 1e6} for row in group if "bytes" in row], "mb"),
            _middle(proven, "run_s"),
        ]  # fmt: skip
        lines.append(f"| {' | '.join(map(str, cells))} |")
    reasons = Counter(row["error"].replace(row["id"], "ID")[:160] for row in rows if "error" in row)
    lines += ["", *(f"* {count}: {reason}" for reason, count in reasons.most_common())]
    lines += ["", *(f"* {row['id']}: {row['error'][:300]}" for row in rows if "error" in row)]
    return "\n".join(lines)


def _middle(rows: list[dict[str, Any]], key: str) -> str:
    values = [row[key] for row in rows if key in row]
    return f"{statistics.median(values):.0f}" if values else ""


def main() -> None:
    """Measure, or print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    known = [json.loads(line) for line in asked.out.read_text().splitlines()] if asked.out.exists() else []
    if asked.table:
        print(table(known))
        return
    cache = Cache(asked.cache)
    bench = GradingContext(None, cache, open_sandbox("namespaces", cache))
    done = {row["id"] for row in known}
    for folder in find_suite(str(asked.suite)).tasks:
        wanted = not asked.only or any(fnmatch.fnmatch(folder.task.id, each) for each in asked.only)
        if wanted and folder.task.id not in done:
            row = measure(folder, bench)
            with asked.out.open("a") as stream:
                stream.write(json.dumps(row) + "\n")
            print(row["id"], row.get("gold", ""), row.get("nothing", ""), row.get("error", "")[:300], flush=True)


if __name__ == "__main__":
    main()
