"""Memory and time as submissions and attempts grow: `submit` and its repetition, `resume` and `report`.

    python measurements/growth.py submissions [10000,100000,1000000] [--graded 100,1000] [--mixed 10000,100000]
    python measurements/growth.py attempts [100000] [--keep FOLDER]

Each command runs as a process of its own; its CPU seconds and peak memory (its own and that of the children it waited
for) are those of the kernel. Slopes are bytes of peak memory a submission between the smallest and the largest set.
A run of many attempts is made of one real run: every attempt is copied, file by file, under new ids and numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from repoassay.tasks import TaskFolder, find_suite
from repoassay.types import TaskKind

REPOASSAY = str(Path(sys.executable).with_name("repoassay"))
BROKEN = "--- a/nowhere-{0}.py\n+++ b/nowhere-{0}.py\n@@ -1 +1 @@\n-a\n+b\n"
USELESS = "--- /dev/null\n+++ b/note-{0}.txt\n@@ -0,0 +1 @@\n+nothing of use\n"
AGENTS = ("reference", "garbage", "nothing", "empty", "constant", "noise")


@dataclass(frozen=True)
class Taken:
    """What one command took: seconds of CPU and on the clock, and its peak memory in bytes."""

    cpu: float
    wall: float
    peak: int

    def __str__(self) -> str:
        return f"{self.cpu:6.1f} s CPU, {self.wall:6.1f} s, peak {self.peak / 2**20:5.0f} MiB"


def taken(*arguments: str | Path) -> Taken:
    """Run `repoassay` with its output thrown away; it must end with 0."""
    started = time.perf_counter()
    running = subprocess.Popen([REPOASSAY, *map(str, arguments)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(running.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, arguments
    return Taken(usage.ru_utime + usage.ru_stime, time.perf_counter() - started, usage.ru_maxrss * 1024)


def slope(found: dict[int, Taken]) -> str:
    """Bytes of peak memory a submission more."""
    few, many = min(found), max(found)
    return f"{(found[many].peak - found[few].peak) / (many - few):.1f} bytes a submission" if many > few else "-"


def submissions(counts: Sequence[int], patch: Callable[[TaskFolder, int], str], what: str, place: Path) -> None:
    """Grade so many patches, all different; repeat the command, cut its results short by one, and count them."""
    edits = [folder for folder in find_suite("starter").tasks if folder.task.kind is TaskKind.EDIT]
    print(f"submissions that {what}", flush=True)
    steps: dict[str, dict[int, Taken]] = {"graded": {}, "repeated": {}, "one left": {}, "stats": {}}
    for count in counts:
        given, results = place / f"{count}.jsonl", place / f"{count}.results.jsonl"
        with given.open("w") as stream:
            for number in range(count):
                folder = edits[number % len(edits)]
                stream.write(json.dumps({"id": folder.task.id, "patch": patch(folder, number)}) + "\n")
        command = ("submit", "--suite", "starter", "--submissions", given, "--results", results, "--no-cache")
        steps["graded"][count] = taken(*command)
        steps["repeated"][count] = taken(*command)
        with results.open("rb+") as stream:
            stream.seek(-2, os.SEEK_END)  # tears the last line
            stream.truncate()
        steps["one left"][count] = taken(*command)
        steps["stats"][count] = taken("stats", "results", results, "--k", "1,10")
        for name, found in steps.items():
            print(f"  {count:>9,} {name:<9} {found[count]}", flush=True)
        given.unlink()
        results.unlink()
    for name, found in steps.items():
        print(f"  {name:<9} {slope(found)}")


def broken(folder: TaskFolder, number: int) -> str:
    """A patch that does not apply."""
    return BROKEN.format(number)


def useless(folder: TaskFolder, number: int) -> str:
    """A patch that applies and changes nothing that tests look at."""
    return USELESS.format(number)


def mixed(folder: TaskFolder, number: int) -> str:
    """A useless patch, or as every twentieth the task's solution beside it, whose tests really run."""
    solution = (folder.path / "solution" / "changes.diff").read_text() if number % 20 == 0 else ""
    return useless(folder, number) + solution


def many_attempts(count: int, place: Path) -> Path:
    """One real run of the bundled suite by six agents, and of it a run of at least so many attempts."""
    agents = [part for name in AGENTS for part in ("--agent", name)]
    subprocess.run([REPOASSAY, "run", "starter", *agents, "--out", place / "real"], check=True, capture_output=True)
    (real,) = (place / "real").iterdir()
    return multiplied(real, count, place / "run")


def multiplied(real: Path, count: int, made: Path) -> Path:
    """Copy each attempt of a run until there are so many, with the plan and the journal they would have."""
    plan = json.loads((real / "run.json").read_text())
    attempts = sorted((real / "attempts").iterdir())
    times = -(-count // len(attempts))
    (made / "attempts").mkdir(parents=True)
    (made / "run.json").write_text(json.dumps({**plan, "attempts": times}, indent=2))
    parts = [list(_files(folder)) for folder in attempts]
    with (made / "journal.jsonl").open("w") as journal:
        for number in range(1, times + 1):
            for place, (folder, files) in enumerate(zip(attempts, parts, strict=True)):
                name = f"{folder.name[:10]}{number * len(attempts) + place:016d}"
                _copy(made / "attempts" / name, files, {"id": name, "number": number})
                record = json.loads((made / "attempts" / name / "attempt.json").read_text())
                outcome = json.loads((folder / "verdict.json").read_text())["outcome"]
                event = {"at": record["started"], "attempt": name, "task": record["task"], "agent": record["agent"]}
                for more in ({"event": "started"}, {"event": "finished", "outcome": outcome}):
                    line = {"schema_version": 1, **event, "number": number, **more}
                    journal.write(json.dumps(line, separators=(",", ":")) + "\n")
    return made


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield str(path.relative_to(folder)), path.read_bytes()


def _copy(place: Path, files: Sequence[tuple[str, bytes]], changed: dict[str, object]) -> None:
    made: set[Path] = set()
    for name, content in files:
        path = place / name
        if path.parent not in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.add(path.parent)
        whole = json.dumps({**json.loads(content), **changed}, indent=2).encode() if name == "attempt.json" else content
        path.write_bytes(whole)


def attempts(count: int, place: Path) -> None:
    """Resume with nothing to do and report, the first time and again."""
    run = place / "run"
    if not run.is_dir():
        many_attempts(count, place)
    print(f"a run folder of {sum(1 for _ in (run / 'attempts').iterdir()):,} attempts")
    agent = next(iter(json.loads((run / "run.json").read_text())["agents"]))
    for name, command in (
        ("report, first time", ("report", run)), ("report", ("report", run)), ("resume", ("resume", run)),
        ("resume again", ("resume", run)), ("report --json", ("report", run, "--json", "--no-html")),
        ("compare", ("compare", f"{run}:{agent}", f"{run}:nothing")), ("show", ("show", run)),
    ):  # fmt: skip
        print(f"  {name:<18} {taken(*command)}", flush=True)


def numbers(text: str) -> list[int]:
    """Numbers with commas between them."""
    return [int(each) for each in text.split(",")]


def main() -> None:
    """Print what was taken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_subparsers(dest="which", required=True)
    given = which.add_parser("submissions")
    given.add_argument("counts", nargs="?", type=numbers, default=[10_000, 100_000, 1_000_000])
    given.add_argument("--graded", type=numbers, default=[], help="also so many that apply and are useless")
    given.add_argument("--mixed", type=numbers, default=[], help="also so many of which every twentieth is a solution")
    run = which.add_parser("attempts")
    run.add_argument("count", nargs="?", type=int, default=100_000)
    run.add_argument("--keep", type=Path, help="where the run of many attempts is, or is to be kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="repoassay-growth-") as name:
        if options.which == "attempts":
            attempts(options.count, options.keep or Path(name))
            return
        for counts, patch, what in (
            (options.counts, broken, "do not apply"), (options.graded, useless, "apply and fail"),
            (options.mixed, mixed, "are judged, every twentieth by tests that pass"),
        ):  # fmt: skip
            if any(counts):
                submissions([count for count in counts if count], patch, what, Path(name))


if __name__ == "__main__":
    main()
