"""Mutated patches through the whole submission environment: none may crash it, and none may pass that should not.

Solutions of the demonstration set are damaged at random. Where one passes although the files it leaves are not the
solution's, and not the same program either, its tests are run once more in a plain interpreter without any of our
machinery: a pass that those tests do not confirm is false.

    python measurements/patch_fuzz.py [--count 20000] [--seed N] [--workers N]
"""

from __future__ import annotations

import argparse
import ast
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from repoassay.diffs import apply_patch, read_patch
from repoassay.engine.answer import GradedSubmission
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.submit import SubmissionEngine
from repoassay.records.verdicts import VerdictCache
from repoassay.resq import tasks_of
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks import TaskFolder
from repoassay.types import Outcome
from repoassay.types.files import FileEdit
from repoassay.workspace.preparation import lay_out
from submissions import DEMO, Peer

Lines = list[bytes]
_HEADERS = (
    b"old mode 100644\n", b"new mode 100755\n", b"new mode 120000\n", b"deleted file mode 100644\n",
    b"rename from a\n", b"rename to b\n", b"GIT binary patch\nliteral 3\nzcmZ\n\n", b"Binary files a and b differ\n",
    b"\\ No newline at end of file\n", b"--- /dev/null\n", b"+++ ../../etc/passwd\n", b"+++ b/.git/hooks/x\n",
    b"@@ -1,99999999 +1 @@\n", b"@@ -0,0 +1 @@\n", b"+\xff\xfe\n", b"+\x00\n", b"From 0 Mon Sep 17 00:00:00 2001\n",
)  # fmt: skip
_TOKENS = (
    (b"==", b"!="), (b"<", b">"), (b"not ", b""), (b"1", b"2"), (b"0", b"1"), (b"True", b"False"), (b"if ", b"if not "),
    (b"return ", b"return not "), (b" and ", b" or "), (b"+ ", b"- "),
)  # fmt: skip


def _flip(lines: Lines, chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    line = bytearray(lines[at])
    if line:
        line[chance.randrange(len(line))] = chance.randrange(256)
    lines[at] = bytes(line)


def _sign(lines: Lines, chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    lines[at] = chance.choice((b"+", b"-", b" ", b"")) + lines[at][1:]


def _drop(lines: Lines, chance: random.Random) -> None:
    del lines[chance.randrange(len(lines))]


def _double(lines: Lines, chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    lines[at:at] = lines[at : at + chance.randint(1, 6)]


def _swap(lines: Lines, chance: random.Random) -> None:
    one, two = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]


def _truncate(lines: Lines, chance: random.Random) -> None:
    del lines[chance.randrange(1, len(lines) + 1) :]


def _number(lines: Lines, chance: random.Random) -> None:
    found = [at for at, line in enumerate(lines) if line.startswith(b"@@")]
    if found:
        at = chance.choice(found)
        digits = [place for place, code in enumerate(lines[at]) if 48 <= code <= 57]
        line = bytearray(lines[at])
        line[chance.choice(digits)] = chance.randrange(48, 58)
        lines[at] = bytes(line)


def _header(lines: Lines, chance: random.Random) -> None:
    lines.insert(chance.randrange(len(lines) + 1), chance.choice(_HEADERS))


def _carriage(lines: Lines, chance: random.Random) -> None:
    some = chance.random()
    lines[:] = [line.replace(b"\n", b"\r\n") if some > 0.5 or chance.random() < some else line for line in lines]


def _unended(lines: Lines, _: random.Random) -> None:
    lines[-1] = lines[-1].rstrip(b"\n")


def _token(lines: Lines, chance: random.Random) -> None:
    """Change what an added line says: an operator, a number, a word."""
    added = [at for at, line in enumerate(lines) if line.startswith(b"+") and not line.startswith(b"+++")]
    if added:
        at = chance.choice(added)
        old, new = chance.choice(_TOKENS)
        lines[at] = lines[at].replace(old, new, 1)


_WAYS: tuple[Callable[[Lines, random.Random], None], ...] = (
    _flip, _sign, _drop, _double, _swap, _truncate, _number, _header, _carriage, _unended, _token, _token, _token,
)  # fmt: skip


def mutated(patch: bytes, chance: random.Random) -> bytes:
    """The patch with one to four damages."""
    lines = patch.splitlines(keepends=True)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        if lines:
            chance.choice(_WAYS)(lines, chance)
    return b"".join(lines)


def program(edits: dict[str, FileEdit | None]) -> dict[str, str]:
    """What the changed files say, with comments and layout of Python left out."""

    def said(name: str, edit: FileEdit | None) -> str:
        if edit is None:
            return "deleted"
        if name.endswith(".py"):
            try:
                return ast.dump(ast.parse(edit.content))
            except (SyntaxError, ValueError):
                pass
        return edit.content.hex()

    return {name: said(name, edit) for name, edit in edits.items()}


def confirmed(peer: Peer, patch: bytes) -> bool:
    """Whether the tests pass in a plain interpreter on the files that the patch leaves."""
    edits = apply_patch(read_patch(patch), peer.layout.base).edits
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place, "repo")
        subprocess.run(["cp", "-r", peer.layout.base, tree], check=True)
        for name, edit in edits.items():
            file = tree / name
            if edit is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(edit.content)
        test = (peer.layout.folder.tests / "test_script.py").read_bytes()
        (tree / "test_script.py").write_bytes(test)
        roots = ":".join(str(tree / part) for part in peer.layout.folder.task.environment.path)
        command: list[str | Path] = [
            peer.layout.environment / "bin/python",
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "test_script.py",
        ]
        env = {"PYTHONPATH": roots, "PATH": "/usr/bin:/bin"}
        done = subprocess.run(command, cwd=tree, env=env, capture_output=True, check=False, timeout=120)
        return done.returncode == 0


def fuzz(tasks: dict[str, TaskFolder], bench: GradingContext, count: int, seed: int, workers: int, place: Path) -> int:
    """Grade so many mutants; print what they came to; return how many verdicts were wrong."""
    chance = random.Random(seed)
    solutions = {name: (folder.solution / "changes.diff").read_bytes() for name, folder in tasks.items()}
    layouts = {name: lay_out(folder, None, bench.cache, bench.sandbox) for name, folder in tasks.items()}
    wanted = {name: program(dict(apply_patch(read_patch(solutions[name]), layouts[name].base).edits)) for name in tasks}
    given: list[bytes] = []

    def stream() -> Iterator[tuple[str, bytes]]:
        for _ in range(count):
            name = chance.choice(list(tasks))
            given.append(mutated(solutions[name], chance))
            yield name, given[-1]

    def judged(answer: GradedSubmission, patch: bytes) -> str:
        if answer.verdict.outcome is not Outcome.PASSED:
            return answer.verdict.outcome.value
        left = program(dict(apply_patch(read_patch(patch), layouts[answer.task].base).edits))
        if left == wanted[answer.task]:
            return "passed: the solution's program"
        peer = Peer(layouts[answer.task], place, "")
        return "passed: another program that its tests accept" if confirmed(peer, patch) else "FALSE PASS"

    ends: Counter[str] = Counter()
    started = time.perf_counter()
    with SubmissionEngine(tasks, bench, workers, VerdictCache(place / "verdicts.sqlite")) as engine:
        for number, answer in enumerate(engine.grade_many(stream())):
            end = judged(answer, given[number])
            given[number] = b"" if end not in ("FALSE PASS", "infra_fault") else given[number]
            if end in ("FALSE PASS", "infra_fault"):
                print(f"{answer.task}: {end}: {answer.verdict.comments}\n{given[number]!r}", flush=True)
            ends[end] += 1
            if number % 1000 == 999:
                rate = number / (time.perf_counter() - started)
                print(f"  {number + 1} mutants, {rate:.0f}/s: {dict(ends.most_common())}", flush=True)
    print(f"{count} mutants of {len(tasks)} solutions, seed {seed}:")
    for end, many in ends.most_common():
        print(f"  {many:>6}  {end}")
    return ends["FALSE PASS"] + ends["infra_fault"]


def main() -> None:
    """Fuzz and leave with 1 when a verdict was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        subprocess.run([sys.executable, DEMO / "build.py", "--out", place / "demo.jsonl"], check=True)
        tasks = tasks_of(place / "demo.jsonl", place / "tasks")
        cache = Cache()
        bench = GradingContext(None, cache, open_sandbox("namespaces", cache), timeout=5)
        raise SystemExit(1 if fuzz(tasks, bench, options.count, options.seed, options.workers, place) else 0)


if __name__ == "__main__":
    main()
