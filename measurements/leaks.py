"""Whether an agent could find the fix: searches what it sees of each task of a suite for lines of the solution.

The search is an agent itself, so it sees just what one sees: every file it may read, every object of every git
repository, reachable or not, the index, its environment, the instruction; the host's programs and our interpreter, the
same for all, are read once, and again where they hold a line. It is sent the lines of code that only the solution or
the hidden tests bring (of 20 characters or more, in no file of the base) and the names that git gives the changed
files. A line in the instruction, one of git's names, or half of a changed file's lines in one place is a leak; other
hits are kept for a reader, since short lines of code stand in many packages.

    python measurements/leaks.py ./mined --json leaks.jsonl
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import repoassay as ra
from repoassay.diffs import read

_CODE = (".py", ".js", ".ts", ".mjs", ".cjs")
_SHORTEST = 20
"""Characters of a line that says something of its own."""

_SEARCH = r"""
import json, os, subprocess, sys
sent = json.load(sys.stdin)
lines = {line.encode(): line for line in sent["lines"]}
objects, found, read = set(sent["objects"]), [], [0, 0]

def look(text, where):
    read[0] += 1
    read[1] += len(text)
    there = {line.strip() for line in text.split(b"\n")} & lines.keys()
    if len(lines) <= 100:  # of more, whole lines must do
        there |= {line for line in lines if len(line) > 60 and line in text}
    if there:
        found.append([where, sorted(lines[line] for line in there)])

def git(place, *words):
    done = subprocess.run(["git", "-c", "safe.directory=*", "-C", place, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return done.stdout

def search_git(place):
    listed = git(place, "cat-file", "--batch-all-objects", "--batch-check")
    names = [row.split() for row in listed.splitlines()]
    known = {row[0].decode() for row in names if len(row) == 3}
    for staged in git(place, "ls-files", "--stage").splitlines():
        known.add(staged.split()[1].decode())
    for name in sorted(known & objects):
        found.append([place + " object " + name, ["(the changed file itself)"]])
    for row in names:
        if len(row) == 3 and row[1] in (b"blob", b"commit", b"tag"):
            look(git(place, "cat-file", row[1].decode(), row[0].decode()), place + " object " + row[0].decode())

def look_into(path):
    try:
        if not os.path.islink(path) and os.path.isfile(path) and os.path.getsize(path) <= 64 * 2**20:
            with open(path, "rb") as stream:
                look(stream.read(), path)
    except OSError:
        pass

skip = {"/proc", "/sys", "/dev"} | set(sent["skip"])
for place in sent["tops"]:
    for top, folders, files in os.walk(place):
        folders[:] = [name for name in folders if os.path.join(top, name) not in skip]
        if "objects" in folders and "refs" in folders:
            search_git(top)
        for name in files:
            look_into(os.path.join(top, name))
for path in sent["files"]:
    look_into(path)
look("\n".join("%s=%s" % pair for pair in os.environ.items()).encode(), "environment")
print(json.dumps({"files": read[0], "bytes": read[1], "found": found}))
"""


def base_of(folder: Path) -> Path:
    """The tree that a mined task starts from, as its suite has it."""
    told: str = tomllib.loads((folder / "task.toml").read_text())["repository"]["source"]
    return folder.parents[1] / "repositories" / told.removeprefix("bundled:")


def secrets(folder: Path) -> tuple[dict[str, list[str]], list[str]]:
    """Lines only the change has, by patch and file, and git's names of the files it leaves."""
    base = base_of(folder)
    known = {line.strip() for path in base.rglob("*") if path.is_file() for line in _lines(path)}
    lines: dict[str, list[str]] = {}
    patches = [folder / "solution" / "changes.diff", folder / "tests" / "test.patch"]
    for patch in patches:
        for file in read(patch.read_bytes()):
            if not (file.new or "").endswith(_CODE):
                continue
            new = {row.text.strip() for row in file.rows if row.sign == "+"} - known
            if told := sorted(line for line in new if len(line) >= _SHORTEST):
                lines[f"{patch.name} {file.new}"] = told
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place) / "tree"
        shutil.copytree(base, tree, symlinks=True)
        subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
        subprocess.run(["git", "apply", *map(str, patches)], cwd=tree, check=True)
        changed = [file.new for patch in patches for file in read(patch.read_bytes()) if file.new]
        done = subprocess.run(["git", "hash-object", *changed], cwd=tree, check=True, capture_output=True, text=True)
    return lines, done.stdout.split()


def _lines(path: Path) -> list[str]:
    return path.read_bytes().decode(errors="replace").splitlines()


def search(suite: str, task: str, lines: set[str], objects: list[str], **where: list[str]) -> dict[str, Any]:
    """What an agent at one task finds: `files` and `bytes` read, `found` as pairs of place and lines.

    `where` has `tops`, folders to search but for those of `skip`, and `files`.
    """
    with ra.open_workspace(suite, task=task, timeout=1800) as workspace:
        sent = json.dumps({"lines": sorted(lines), "objects": objects, "tops": [], "skip": [], "files": [], **where})
        workspace.write("/tmp/search.py", _SEARCH)
        done = workspace.run(["/env/bin/python", "-I", "/tmp/search.py"], input=sent)
    if not done.ok:
        raise SystemExit(f"{task}: {done.stderr}")
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def leaks_among(hits: list[list[Any]], lines: dict[str, list[str]]) -> list[list[Any]]:
    """Of hits those that tell the change: place, file of the change, lines found, lines there are."""
    found = [(where, patch, len({*told} & {*each}), len(each)) for where, told in hits for patch, each in lines.items()]
    own = [[where, "", 0, 0] for where, told in hits if told == ["(the changed file itself)"]]
    plain = [list(each) for each in found if each[2] and (2 * each[2] >= each[3] or "instruction" in each[0])]
    return own + plain


def main() -> None:
    """Search every task of a suite."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite", type=Path)
    parser.add_argument("--json", type=Path, help="where each task's record goes, as a line")
    parser.add_argument("--task", action="append", help="only this task")
    given = parser.parse_args()
    folders = [each for each in sorted((given.suite / "tasks").iterdir()) if each.name in (given.task or [each.name])]
    told = {folder.name: secrets(folder) for folder in folders}
    every = {line for lines, _ in told.values() for each in lines.values() for line in each}
    host = search(str(given.suite), folders[0].name, every, [], tops=["/usr", sys.base_prefix])
    records = []
    for folder in folders:
        lines, objects = told[folder.name]
        own = {line for each in lines.values() for line in each}
        # What the system shows is the same for all, save copies of a task's own project, which are covered in it.
        again = [where for where, found in host["found"] if own & {*found}]
        skip = ["/usr", "/lib", "/lib64", "/bin", "/sbin", sys.base_prefix]
        seen = search(str(given.suite), folder.name, own, objects, tops=["/"], skip=skip, files=again)
        hits = seen["found"]
        record = {"task": folder.name, "lines": len(own), "files": seen["files"], "bytes": seen["bytes"]}
        record |= {"leaks": leaks_among(hits, lines), "hits": hits}
        records.append(record)
        for where, patch, found, lines in record["leaks"]:
            print(f"LEAK {folder.name}: {found} of {lines} lines of {patch} in {where}", flush=True)
        if given.json:
            with given.json.open("a") as stream:
                stream.write(json.dumps(record) + "\n")
    leaking = sum(bool(record["leaks"]) for record in records)
    single = sum(len(record["hits"]) for record in records) - sum(len(record["leaks"]) for record in records)
    files = host["files"] + sum(record["files"] for record in records)
    print(f"{leaking} of {len(records)} tasks leak; {files:,} files and objects read, {single} other hits")


if __name__ == "__main__":
    main()
