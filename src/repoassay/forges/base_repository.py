"""A clone of the repository whose pull requests they are: files before a change, and commits that reverted others."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from repoassay.diffs import FileDiff, read
from repoassay.errors import BadInput, InfraFault
from repoassay.forges.outcomes import LandedCommit
from repoassay.forges.pull import ForgePull
from repoassay.sandbox import temporary_folder
from repoassay.text import quote
from repoassay.workspace import moment_of, run_git

__all__ = ["landed_commits", "lay_files_before", "opened_clone"]

_MOST_COMMITS = 20_000


@contextlib.contextmanager
def opened_clone(clone: Path) -> Iterator[Path]:
    """A repository of our own with the clone's branches and tags, which takes its objects from there.

    The clone is asked over git's protocol, as a server would be, and its objects are read where they lie: git runs what
    a repository's own configuration names (to check a signature, to fetch what is absent), and a stranger may have
    written that of a clone.

    Raises:
        BadInput: When git cannot read it.
    """
    with temporary_folder("clone") as folder:
        place = Path(folder, "ours.git")
        try:
            places = run_git(clone, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir")
            own, common = places.decode("utf-8", "surrogateescape").splitlines()
            how = ("--mirror", "--no-local", "--template=", "--reference-if-able", common)
            run_git(Path(folder), "clone", "--quiet", *how, "--", own, str(place), seconds=1800)
        except (InfraFault, OSError, ValueError):
            raise BadInput(
                f"{quote(clone)} is no git repository that can be read.", "Give a clone with --repo."
            ) from None
        yield place


def landed_commits(clone: Path) -> tuple[LandedCommit, ...]:
    """Return the newest commits of the current branch of a clone that was opened which speak of reverting."""
    log = run_git(
        clone, "log", "-i", "--grep=revert", "-z", f"--max-count={_MOST_COMMITS}", "--format=%H%n%ct%n%B", "HEAD"
    ).decode("utf-8", "replace")
    found = []
    for part in log.split("\0"):
        sha, _, rest = part.partition("\n")
        seconds, _, message = rest.partition("\n")
        if re.fullmatch(r"[0-9a-f]{40,64}", sha) and seconds.isdigit():
            found.append(LandedCommit(sha, message, moment_of(seconds)))
    return tuple(found)


def lay_files_before(clone: Path, pull: ForgePull, into: Path) -> int:
    """Write the changed files as they were before the change, and return how many.

    They are those of the commit where the branch began, else of the base that the forge names, else of what it was
    merged into: of the first that agrees with every line the diff shows of a file. A file on which none does is left
    out, for context that is not the change's own would mislead.

    Args:
        clone: One that was opened, with the base; heads of forks may be missing.
        pull: The change.
        into: An empty folder.
    """
    left = {file.old: file for file in read(pull.diff) if file.old is not None and _stays_within(file.old)}
    count = 0
    for commit in _commits_before(clone, pull):
        for path, content in _contents(clone, commit, list(left)):
            if _agrees(left[path], content):
                del left[path]
                with contextlib.suppress(OSError):  # a diff may have both `a` and `a/b`
                    place = into / path
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_bytes(content)
                    count += 1
    return count


def _stays_within(path: str) -> bool:
    # Git reads `../` from the folder it is in, and so may lead out of `into`, or fail for all files.
    return not {"", ".", "..", ".git"} & set(path.split("/")) and "\n" not in path and "\0" not in path


def _commits_before(clone: Path, pull: ForgePull) -> Iterator[str]:
    for head in (pull.head, pull.merge):
        if head and pull.base:
            with contextlib.suppress(InfraFault):
                yield run_git(clone, "merge-base", pull.base, head).decode().strip()
    for name in (pull.base, f"{pull.merge}^" if pull.merge else ""):
        if name:
            with contextlib.suppress(InfraFault):
                yield run_git(clone, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").decode().strip()


def _contents(clone: Path, commit: str, paths: list[str]) -> Iterator[tuple[str, bytes]]:
    """Files of a commit, those that it has."""
    request = "".join(f"{commit}:{path}\n" for path in paths).encode("utf-8", "surrogateescape")
    contents, at = run_git(clone, "cat-file", "--batch", stdin=request), 0
    for path in paths:
        end = contents.index(b"\n", at)
        kind = re.fullmatch(rb"[0-9a-f]+ (\w+) (\d+)", contents[at:end])
        at = end + 1
        if kind is not None:
            size = int(kind[2])
            if kind[1] == b"blob":
                yield path, contents[at : at + size]
            at += size + 1


def _agrees(file: FileDiff, content: bytes) -> bool:
    """Whether every line that the diff shows of the file before the change stands in it."""
    lines = content.decode("utf-8", "replace").split("\n")
    return all(
        row.old <= len(lines) and lines[row.old - 1].rstrip("\r") == row.text.rstrip("\r")
        for row in file.rows
        if row.old is not None and row.sign in {" ", "-"}
    )
