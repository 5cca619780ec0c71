"""A repository's history, copied into one of our own, so that nothing the original configures is ever in force."""

from __future__ import annotations

import contextlib
import datetime
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from repoassay.errors import BadInput, InfraFault
from repoassay.formats import repository_of
from repoassay.sandbox import git_program, temporary_folder
from repoassay.text import printable, quote
from repoassay.workspace import ATTRIBUTES, moment_of, run_git

__all__ = ["LONGEST_MESSAGE", "History", "HistoryEntry", "find_repository", "open_history"]

_COMMIT = re.compile(r"[0-9a-f]{40}")
_RELEASE = re.compile(r"(^|[^a-z0-9])v?\d+(\.\d+)+([.-]?(post|final)\.?\d*)?$", re.IGNORECASE)
_REGULAR = ("100644", "100755")
_MOST_SECONDS = 1800
LONGEST_MESSAGE = 2**15
"""Characters of a commit's message that are read: patterns that look for prose take the square of that in time."""
_LACKS = re.compile(r"promisor|unable to read|pack-objects died|missing (blob|tree|commit)")
"""What git says of a copy that lacks objects, in one place or another."""


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One entry of a commit's tree: git's mode, the id of its content, and bytes (0 for what is no file)."""

    mode: str
    object: str
    size: int

    @property
    def regular(self) -> bool:
        """Whether it is a file, not a link or another repository."""
        return self.mode in _REGULAR


@dataclass(frozen=True, slots=True)
class History:
    """A bare repository of our own, and what the original is called."""

    place: Path
    name: str

    def commit(self, revision: str) -> str:
        """Return the full id of the commit that a revision names.

        Raises:
            BadInput: When it names none.
        """
        try:
            found = run_git(
                self.place, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
            )
        except (InfraFault, ValueError) as error:
            raise BadInput(
                f"The repository {printable(self.name, 300)} has no commit {quote(revision)}.",
                "Name a branch, a tag or a commit id, as `git log --oneline --all` lists them there.",
            ) from error
        return found.decode().strip()

    def parents(self, commit: str) -> tuple[str, ...]:
        """Full ids of a commit's parents, the first first."""
        return tuple(run_git(self.place, "log", "-1", "--format=%P", commit).decode().split())

    def message(self, commit: str) -> str:
        """What its author wrote about a commit, the beginning of it; bytes that are no UTF-8 are replaced."""
        whole = run_git(self.place, "log", "-1", "--format=%B", commit)
        return whole.decode(errors="replace")[:LONGEST_MESSAGE].strip()

    def day(self, commit: str) -> datetime.date:
        """The day (UTC) on which a commit was made."""
        return moment_of(run_git(self.place, "log", "-1", "--format=%ct", commit)).date()

    def count(self, commit: str) -> int:
        """How many commits lead to a commit, itself among them."""
        return int(run_git(self.place, "rev-list", "--count", commit))

    def described(self, commit: str) -> str | None:
        """The last tag before a commit, how many commits came since, and its id; None where there is no tag."""
        try:
            return run_git(self.place, "describe", "--tags", "--long", commit).decode(errors="replace").strip()
        except InfraFault:
            return None

    def patch_id(self, commit: str) -> str:
        """What a commit's patch is known by, wherever it was applied; empty where nothing differs."""
        shown = run_git(self.place, "diff-tree", "-p", "--no-ext-diff", "--no-textconv", "--root", commit)
        return run_git(self.place, "patch-id", "--stable", stdin=shown).decode().partition(" ")[0]

    def first_release(self, commit: str) -> tuple[str, datetime.date] | None:
        """The first tag with a version's number that holds a commit, and its day (UTC); None where there is none."""
        form = "--format=%(creatordate:unix) %(refname:short)"
        shown = run_git(self.place, "tag", "--contains", commit, "--sort=creatordate", form).decode(errors="replace")
        for line in shown.splitlines():
            stamp, _, name = line.partition(" ")
            if _RELEASE.search(name) and stamp.isdecimal():
                return name, moment_of(stamp).date()
        return None

    def tree(self, commit: str) -> dict[str, HistoryEntry]:
        """Every file, link and submodule of a commit by its path; bytes that are no UTF-8 are lone surrogates."""
        listing = run_git(self.place, "ls-tree", "-r", "-z", "-l", "--full-tree", commit)
        found: dict[str, HistoryEntry] = {}
        for line in listing.split(b"\0"):
            about, _, name = line.partition(b"\t")
            if name:
                mode, _, content, size = about.decode().split()
                found[name.decode(errors="surrogateescape")] = HistoryEntry(
                    mode, content, int(size) if size != "-" else 0
                )
        return found

    def content(self, entry: HistoryEntry) -> bytes:
        """What a file holds."""
        return run_git(self.place, "cat-file", "blob", entry.object)

    def diff(self, base: str, solution: str, paths: Iterable[str]) -> bytes:
        """The unified diff of these paths between two commits, in the form the grader reads."""
        return run_git(
            self.place, "diff", "--binary", "--full-index", "--no-renames", "--no-color", "--no-ext-diff",
            "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", base, solution, "--", *paths,
            env={"GIT_LITERAL_PATHSPECS": "1"},
        )  # fmt: skip


def find_repository(name: str) -> tuple[str, Path | None]:
    """Return what to fetch from, and the folder where it is one on this machine.

    Args:
        name: A folder, also as a URL of file; a URL of https, ssh or git, or `OWNER/NAME` on GitHub.

    Raises:
        BadInput: When it is none of them, or the folder is no git repository.
    """
    try:
        folder = unquote(name.removeprefix("file://")) if name.startswith("file:///") else name
        local = Path(folder).resolve() if folder and Path(folder).is_dir() else None
    except (OSError, ValueError, RuntimeError):
        local = None
    if local is None:
        try:
            return repository_of(name, "0" * 40, {}).source.removeprefix("git:"), None
        except BadInput as error:
            raise BadInput(
                f"{quote(name)} is neither a folder that is there nor a URL of https, ssh or git.",
                "Correct the name of the repository; clone a git bundle first.",
            ) from error
    if not ((local / ".git").exists() or (local / "HEAD").is_file()):
        raise BadInput(
            f"The folder {printable(str(local), 300)} is no git repository.",
            "Name the folder that holds .git, or make one of it: git init, git add, git commit.",
        )
    return str(local), local


@contextlib.contextmanager
def open_history(url: str, revisions: Iterable[str], *, tags: bool = False) -> Iterator[History]:
    """Copy a repository, and remove the copy in the end.

    The original is asked over git's protocol, as a server would be, so that its hooks, filters and configuration
    stay its own. Where two full commit ids are asked for and no tags, only these commits are copied. Where the original
    lacks files, as mirrors lack those of old pull requests or large ones of years ago, the default branch alone is; and
    of that no files but those of the commits that are asked for, and of their parents.

    Args:
        url: What `find_repository` found.
        revisions: What will be asked for.
        tags: Whether commits are to be described by the tags before them.

    Raises:
        BadInput: When it cannot be copied.
    """
    wanted = list(revisions)
    with temporary_folder("history") as folder:
        place = Path(folder, "copy.git")
        try:
            if not tags and len(wanted) == 2 and all(map(_COMMIT.fullmatch, wanted)):
                run_git(Path(folder), "init", "--quiet", "--bare", "--template=", str(place))
                run_git(place, "fetch", "--quiet", "--depth=1", "--no-tags", "--", url, *wanted, seconds=_MOST_SECONDS)
            else:
                _clone(url, place, wanted)
        except InfraFault as error:
            if _LACKS.search(error.message):
                raise BadInput(
                    f"The repository {printable(url, 300)} is a partial clone: it lacks files of its own history.",
                    "Get a whole one, with git clone --mirror.",
                ) from error
            message = _git_error(error)
            remedy = "Check its name, and that you may read it."
            if "not our ref" in message:
                remedy = "Check the commit ids; it has no such commit."
            elif "dubious ownership" in message:
                remedy = "It belongs to another account: work as that one, or on a copy of your own."
            raise BadInput(f"The repository {printable(url, 300)} cannot be read: {message}.", remedy) from error
        (place / "info").mkdir(exist_ok=True)
        (place / "info/attributes").write_text(ATTRIBUTES)
        yield History(place, url)


def _clone(url: str, place: Path, wanted: Sequence[str]) -> None:
    how = ("--no-local", "--quiet", "--template=", "--", url, str(place))
    serve = (
        f"{shlex.quote(git_program())} -c uploadpack.allowFilter=true -c uploadpack.allowAnySHA1InWant=true upload-pack"
    )
    for way in ("--mirror",), ("--bare", "--single-branch"):
        try:
            run_git(place.parent, "clone", *way, *how, seconds=_MOST_SECONDS)
        except InfraFault as error:
            if not _LACKS.search(error.message):
                raise
            lacking = error
        else:
            return
    if not wanted:
        raise lacking
    try:
        bare = ("--bare", "--filter=blob:none", f"--upload-pack={serve}")
        run_git(place.parent, "clone", *bare, *how, seconds=_MOST_SECONDS)
        _fetch_files(History(place, url), wanted, f"--upload-pack={serve}")
    except InfraFault as error:
        raise lacking from error


def _fetch_files(history: History, wanted: Sequence[str], serve: str) -> None:
    """Copy the files of commits and of their parents into a copy that has commits alone."""
    asked = [history.commit(name) for name in wanted]
    commits = [*asked, *(parent for commit in asked for parent in history.parents(commit))]
    listing = ("rev-list", "--objects", "--no-walk", "--missing=print", *commits)
    lacking = [line[1:] for line in run_git(history.place, *listing).splitlines() if line.startswith(b"?")]
    ask = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--filter=blob:none", serve, "--stdin", "origin")
    run_git(history.place, *ask, seconds=_MOST_SECONDS, stdin=b"\n".join(lacking) + b"\n")


def _git_error(error: InfraFault) -> str:
    """The line in which git says what is wrong, else all it said."""
    lines = error.message.splitlines() or [error.message]
    telling = [line for line in lines if "fatal:" in line or "error:" in line]
    return printable((telling or lines)[0].rpartition("fatal: ")[2].rstrip("."), 300)
