"""Verdicts per second now, at an earlier commit, and by the published RES-Q package, in turns, on the same rows.

    python measurements/against.py [--before CHECKOUT] [--published CHECKOUT --published-python PYTHON] [--rounds N]

CHECKOUT is a working tree of this repository at the commit to compare with, or of the published package; PYTHON has
the packages that it needs (pydantic, datasets, aiofiles, tqdm). The rows are the demonstration set. For the published
package each script ends as its data set's do, repositories are local, and `conda run` is an `exec` of the same
environment's interpreter, which flatters it. Wall seconds and CPU seconds of the whole process tree are printed.

What is done once a task is printed apart: the first round, which warms everything up, and what it took to record the
base traces by which useless patches are answered (in the cache from an earlier measurement, perhaps). `--run-always`
measures without them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "examples" / "resq-demo"
USELESS = """diff --git a/unrelated_note.txt b/unrelated_note.txt
new file mode 100644
--- /dev/null
+++ b/unrelated_note.txt
@@ -0,0 +1 @@
+nothing of use
"""
TREE = """
import json, os, sys, time
from pathlib import Path
def tree():
    kids, tick = {}, os.sysconf("SC_CLK_TCK")
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        kids.setdefault(int(fields[1]), []).append((int(place.parent.name), sum(map(int, fields[11:15])) / tick))
    total, pending = 0.0, [os.getpid()]
    while pending:
        for pid, spent in kids.get(pending.pop(), []):
            total += spent
            pending.append(pid)
    return total + sum(os.times()[:4])
def serve(grade, set_up=lambda: 0.0):
    for line in sys.stdin:
        pairs = json.loads(line)
        began, cpu = time.monotonic(), tree()
        words = grade(pairs)
        told = {"words": words, "wall": time.monotonic() - began, "cpu": tree() - cpu, "set_up": set_up()}
        print(json.dumps(told), flush=True)
"""
OURS = """
from repoassay.resq import tasks_of
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.answer import word
from repoassay.engine.submit import SubmissionEngine
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
cache = Cache()
more = {"run_always": True} if "--run-always" in sys.argv else {}
with SubmissionEngine(tasks_of(Path(sys.argv[1]), Path(sys.argv[2])), GradingContext(None, cache, open_sandbox("namespaces", cache)), int(sys.argv[3]), **more) as engine:
    traces = getattr(engine, "traces", None)
    serve(lambda pairs: [word(answer.verdict) for answer in engine.grade_many(pairs)], lambda: sum(each.seconds for each in traces.recorded.values()) if traces else 0.0)
"""  # noqa: E501
THEIRS = """
import logging
logging.disable(logging.CRITICAL)
from resq.dataset import RESQDataset
from resq.models import Submission
from resq.submission import SubmissionEnv
env = SubmissionEnv(RESQDataset.from_json(sys.argv[1]), temp_dir=sys.argv[2], timeout=120, persist=True)
def grade(pairs):
    results = env.step_batch([Submission(id=name, patch=patch) for name, patch in pairs], n_workers=int(sys.argv[3]))
    found = {}
    for result in results:
        found.setdefault(result.id, []).append(result.message)
    return [found[name].pop(0) for name, _ in pairs]
serve(grade)
"""
CONDA = """#!/bin/sh
[ "$1" = run ] || exit 0
env=$3
shift 4
exec "$env/bin/python" "$@"
"""
GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "HOME": "/", "PATH": os.environ["PATH"]}


def worker(python: str, program: str, path: str, rows: Path, place: Path, more: str = "",
           options: tuple[str, ...] = ()) -> subprocess.Popen[str]:  # fmt: skip
    """A process that grades what it is given, line by line."""
    place.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "PYTHONPATH": path, "PATH": f"{more}{os.environ['PATH']}"}
    return subprocess.Popen(
        [python, "-c", TREE + program, rows, place, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=env,
    )


def published_rows(rows: list[dict[str, object]], place: Path) -> Path:
    """The rows as the published package takes them: local repositories, scripts that leave with their exit code."""
    from repoassay.resq import tasks_of
    from repoassay.sandbox.cache import Cache
    from repoassay.sandbox.sandbox import open_sandbox
    from repoassay.workspace.preparation import lay_out

    (place / "given.json").write_text(json.dumps(rows))
    tasks = tasks_of(place / "given.json", place / "tasks")
    cache = Cache()
    sandbox = open_sandbox("namespaces", cache)
    made, environments = [], {}
    for row in rows:
        layout = lay_out(tasks[str(row["id"])], None, cache, sandbox)
        mirror = place / "mirrors" / str(row["id"])
        subprocess.run(["cp", "-r", layout.base, mirror], check=True)
        subprocess.run(["rm", "-rf", mirror / ".git"], check=True)
        who = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")
        for command in (("init", "-q"), ("add", "-A", "-f"), (*who, "commit", "-q", "-m", "base")):
            subprocess.run(["git", *command], cwd=mirror, env=GIT, check=True)
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=mirror, env=GIT, check=True, capture_output=True,
                              text=True).stdout.strip()  # fmt: skip
        environments[str(row["id"])] = str(layout.environment)
        ends = script(str(row["test_script"]))
        made.append({**row, "repo_url": str(mirror), "base_commit": head, "test_script": ends, "modified_files": []})
    workspace = place / "published" / "workspace"
    workspace.mkdir(parents=True)
    (workspace / "conda_envs.json").write_text(json.dumps(environments))
    (place / "published.json").write_text(json.dumps(made))
    return place / "published.json"


def script(text: str) -> str:
    """A test script that prints its own verdict by its exit code."""
    if "unittest.main()" in text:
        return text.replace(
            "    unittest.main()",
            "    import sys\n    exit_code = not unittest.main(exit=False).result.wasSuccessful()\n"
            "    sys.exit(exit_code)",
        )
    return (
        f'{text}\n\nif __name__ == "__main__":\n    import sys\n    import pytest\n'
        '    exit_code = int(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))\n    sys.exit(exit_code)\n'
    )


def main() -> None:
    """Print rates and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--published", type=Path)
    parser.add_argument("--published-python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--times", type=int, default=4, help="how often a round has each row (4)")
    parser.add_argument("--workers", type=int, default=2, help="submissions at a time, for everybody (2)")
    parser.add_argument("--run-always", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="against-") as scratch:
        place = Path(scratch)
        (place / "mirrors").mkdir()
        subprocess.run([sys.executable, DEMO / "build.py", "--out", place / "demo.jsonl"], check=True)
        text = (place / "demo.jsonl").read_text(encoding="utf-8")
        rows = json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
        rows = [row for row in rows if row.get("language", "python").lower() == "python"]
        (place / "rows.json").write_text(json.dumps(rows))
        count = str(given.workers)
        options = (count, "--run-always") if given.run_always else (count,)
        workers = {"now": worker(sys.executable, OURS, str(ROOT / "src"), place / "rows.json", place / "now",
                                 options=options)}  # fmt: skip
        if given.before:
            path = str(given.before.absolute() / "src")
            workers["before"] = worker(sys.executable, OURS, path, place / "rows.json", place / "before",
                                       options=(count,))  # fmt: skip
        if given.published:
            (place / "bin").mkdir()
            (place / "bin" / "conda").write_text(CONDA)
            (place / "bin" / "conda").chmod(0o755)
            theirs = published_rows(rows, place)
            workers["published"] = worker(given.published_python, THEIRS, str(given.published.absolute()), theirs,
                                          place / "published", f"{place / 'bin'}:", (count,))  # fmt: skip
        compare(workers, rows, given.rounds, given.times)


def compare(workers: dict[str, subprocess.Popen[str]], rows: list[dict[str, object]], rounds: int,
            times: int) -> None:  # fmt: skip
    """Have everybody grade the same submissions in turns."""
    solutions = [(row["id"], row["solution_patch"], "unittest.main()" in str(row["test_script"])) for row in rows]
    kinds: dict[str, tuple[list[tuple[object, object]], str]] = {
        "solutions, scripts that start pytest": ([(name, patch) for name, patch, own in solutions if not own], "PASS"),
        "solutions, scripts in unittest form": ([(name, patch) for name, patch, own in solutions if own], "PASS"),
        "useless patches": ([(row["id"], USELESS) for row in rows], "FAIL"),
    }
    spent: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for number in range(rounds + 1):
        for kind, (pairs, expected) in kinds.items():
            for name, process in workers.items():
                assert process.stdin and process.stdout
                process.stdin.write(json.dumps(pairs * (times if number else 1)) + "\n")
                process.stdin.flush()
                told = json.loads(process.stdout.readline())
                wrong = [word for word in told["words"] if word != expected]
                if wrong:
                    print(f"  {name}, {kind}: {len(wrong)} answers other than {expected}: {sorted(set(wrong))}")
                if number:  # the first is warming up
                    spent[kind, name].append((told["wall"], told["cpu"]))
                else:
                    recorded = f", base traces took {told['set_up']:.1f} s to record" if told["set_up"] else ""
                    print(f"first round, {kind}: {name} {told['wall']:.1f} s, {told['cpu']:.1f} s CPU{recorded}")
    for kind in kinds:
        for name in workers:
            count = times * len(kinds[kind][0])
            wall, cpu = (statistics.median(each) / count for each in zip(*spent[kind, name], strict=True))
            line = f"{kind:<36} {name:<10} {1 / wall:7.2f}/s  {1000 * cpu:7.1f} ms CPU each"
            if name != "now":
                ratios = [(other[0] / own[0], other[1] / max(own[1], 0.01))
                          for own, other in zip(spent[kind, "now"], spent[kind, name], strict=True)]  # fmt: skip
                by_wall, by_cpu = (sorted(each) for each in zip(*ratios, strict=True))
                line += f"   now is {statistics.median(by_wall):.1f}x by wall ({by_wall[0]:.1f}..{by_wall[-1]:.1f})"
                line += f", {statistics.median(by_cpu):.1f}x by CPU"
            print(line)
    for process in workers.values():
        assert process.stdin
        process.stdin.close()
        process.wait(60)


if __name__ == "__main__":
    main()
