"""Reads the commits of a hostile repository inside a sandbox: git's own reading commands, bounded, and JSON as answer.

Started as `python -I -B read_commits.py` with a job as JSON on standard input: `base` (a commit id), `git` (a folder
with the repository's HEAD, refs and objects; no configuration of its), `given` (the objects of the base), `out` (an
empty folder for the files of the tip). Prints one JSON object. Needs nothing but the standard library and git.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

MOST_COMMITS = 200
MOST_FILES = 1000
MOST_BRANCHES = 50
SUBJECT, BODY, NAME = 500, 20_000, 200
SECONDS = 15
ID = re.compile(r"[0-9a-f]{40}")
SETTINGS = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null", "core.symlinks=true",
    "core.autocrlf=false", "core.quotePath=true", "core.protectNTFS=false", "core.protectHFS=false", "gc.auto=0",
    "core.commitGraph=false", "core.multiPackIndex=false", "protocol.allow=never",
)  # fmt: skip


class ReadFailed(Exception):
    """Git could not read something."""


class Reader:
    """A repository of our own whose objects are theirs."""

    def __init__(self, job: dict[str, str], place: Path) -> None:
        self.base, self.theirs, self.out = job["base"], Path(job["git"]), job["out"]
        self.env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_OPTIONAL_LOCKS": "0",
            "GIT_DIR": str(place), "GIT_WORK_TREE": self.out, "GIT_OBJECT_DIRECTORY": str(self.theirs / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": job["given"], "GIT_INDEX_FILE": str(place / "read-index"),
        }  # fmt: skip
        for folder in ("refs", "objects", "info"):
            (place / folder).mkdir(parents=True)
        (place / "HEAD").write_text("ref: refs/heads/none\n")
        (place / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
        (place / "info/attributes").write_text("* !text !eol !filter !ident !working-tree-encoding !export-subst\n")

    def git(self, *arguments: str, most: int = 1 << 24) -> bytes:
        """What a reading command prints, at most `most` bytes of it."""
        settings = [part for setting in SETTINGS for part in ("-c", setting)]
        with subprocess.Popen(
            ["/usr/bin/env", "git", *settings, *arguments], env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/",
        ) as process:  # fmt: skip
            assert process.stdout is not None
            late = threading.Timer(SECONDS, process.kill)  # a tree may unfold to more than any disk holds
            late.start()
            data = process.stdout.read(most + 1)
            if len(data) > most:
                process.kill()
            process.wait()
            late.cancel()
        if len(data) <= most and process.returncode != 0:
            raise ReadFailed(arguments[0])
        return data[:most]

    def refs(self) -> dict[str, str]:
        """Commit ids by branch, loose ones before packed ones."""
        found: dict[str, str] = {}
        packed = text(self.theirs / "packed-refs", 1 << 20)
        for line in packed.splitlines():
            name, _, ref = line.partition(" ")
            if ID.fullmatch(name) and ref.startswith("refs/heads/"):
                found[ref.removeprefix("refs/heads/")] = name
        heads = self.theirs / "refs/heads"
        for number, path in enumerate(sorted(heads.rglob("*")) if heads.is_dir() else []):
            if number > 1000:
                break
            name = text(path, 100).strip() if path.is_file() and not path.is_symlink() else ""
            if ID.fullmatch(name):
                found[path.relative_to(heads).as_posix()] = name
        return found

    def ahead(self, tip: str) -> list[str]:
        """Commits that a tip has and the base has not, the oldest first, of at most 10,000."""
        listing = self.git("rev-list", "--topo-order", "--max-count=10000", tip, f"^{self.base}", "--")
        return listing.decode().split()[::-1]

    def commit(self, name: str) -> dict[str, Any]:
        """One commit, every text cut."""
        form = "%P%x00%an <%ae>%x00%aI%x00%s%x00%b"
        shown = self.git("log", "-1", "--no-show-signature", "--encoding=UTF-8", f"--format={form}", name, "--")
        parents, author, time, subject, body = (shown.decode(errors="replace").split("\0", 4) + [""] * 5)[:5]
        first = parents.split()[:1]
        against = first or ["4b825dc642cb6eb9a060e54bf8d69288fbee4904"]  # the empty tree
        parts = self.git("diff-tree", "-r", "-z", "--no-renames", "--name-status", *against, name, "--").split(b"\0")
        pairs = list(zip(parts[::2], parts[1::2], strict=False))
        files = [{"path": path.decode("utf-8", "backslashreplace")[:1000], "status": status.decode("ascii", "replace")}
                 for status, path in pairs[:MOST_FILES]]  # fmt: skip
        return {
            "id": name, "parents": parents.split()[:16], "author": author[:NAME], "time": time[:40],
            "subject": subject[:SUBJECT], "body": body.strip("\n")[:BODY], "files": files,
            "more": max(0, len(pairs) - MOST_FILES),
        }  # fmt: skip

    def write(self, tip: str) -> None:
        """Put the files of a commit into the folder `out`."""
        self.git("read-tree", "--no-sparse-checkout", tip)
        self.git("checkout-index", "--all", "--force", f"--prefix={self.out}/")


def text(path: Path, most: int) -> str:
    """The first bytes of a regular file; empty when it is none."""
    try:
        if path.is_symlink() or not path.is_file():
            return ""
        with path.open("rb") as stream:
            return stream.read(most).decode(errors="replace")
    except OSError:
        return ""


def read(reader: Reader) -> dict[str, Any]:
    """The answer: branch, tip, commits, and how many there are."""
    refs = reader.refs()
    head = text(reader.theirs / "HEAD", 1000).strip()
    branch = head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else ""
    tip = refs.get(branch, "") if branch else head if ID.fullmatch(head) else ""
    ahead = {}
    notes = []
    for name, at in [(branch, tip), *list(refs.items())[:MOST_BRANCHES]]:
        if at and name not in ahead:
            try:
                ahead[name] = reader.ahead(at)
            except ReadFailed:
                notes.append(f"The branch {name[:NAME]} cannot be read.")
    others = [name for name, commits in ahead.items() if commits and name != branch]
    if not ahead.get(branch) and len(others) == 1:
        branch, tip = others[0], refs[others[0]]
    elif others:
        notes.append(f"Other branches with commits of their own were left out: {', '.join(sorted(others))[:NAME]}.")
    commits = ahead.get(branch, [])
    if not commits:
        return {"branch": branch, "tip": "", "commits": [], "more": 0, "notes": notes}
    roots = reader.git("merge-base", "--all", reader.base, tip) if related(reader, tip) else b""
    if reader.base.encode() not in roots.split():
        notes.append("The commits do not build on the one that was given.")
    documents = []
    for name in commits[:MOST_COMMITS]:
        try:
            documents.append(reader.commit(name))
        except ReadFailed:
            notes.append(f"The commit {name[:12]} cannot be read.")
    wrote = False
    try:
        reader.write(tip)
        wrote = True
    except ReadFailed:
        notes.append("The files of the last commit cannot be read.")
    more = max(0, len(commits) - MOST_COMMITS)
    return {"branch": branch, "tip": tip, "commits": documents, "more": more, "notes": notes, "wrote": wrote}


def related(reader: Reader, tip: str) -> bool:
    """Whether a tip and the base have a commit in common."""
    try:
        reader.git("merge-base", reader.base, tip)
    except ReadFailed:
        return False
    return True


def main() -> None:
    """Read one job, print one answer."""
    job = json.load(sys.stdin)
    place = Path(tempfile.mkdtemp(), "git")
    try:
        answer = read(Reader(job, place))
    except (ReadFailed, OSError, ValueError) as error:
        answer = {"failed": str(error)[:200]}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
