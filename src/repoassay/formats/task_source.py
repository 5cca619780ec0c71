"""From what a row calls its repository to what a task folder calls it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.text import quote
from repoassay.types import Repository

__all__ = ["repository_of", "row_url"]

_PINNED = re.compile(
    r"(pypi:[A-Za-z0-9_.-]+==[A-Za-z0-9_.!+-]+|npm:(?:@[a-z0-9_.-]+/)?[a-z0-9_.-]+==[0-9A-Za-z.+-]+)"
    r"\?sha256=([0-9a-f]{64})"
)
_URL = re.compile(
    r"(?:https?|ssh|git)://[A-Za-z0-9\[][^\s\x00-\x1f\x7f]*|[A-Za-z0-9_.]+@[A-Za-z0-9][A-Za-z0-9.-]*:[^\s:-]\S*"
)
_GITHUB = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*/[A-Za-z0-9_.-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}")


def repository_of(url: str, commit: str, mirrors: Mapping[str, str], licence: str = "unknown") -> Repository:
    """Return where a row's repository comes from; `homepage` keeps what the row says.

    Args:
        url: `pypi:NAME==VERSION?sha256=DIGEST` or the same with `npm:`, a git URL, or `OWNER/NAME` on GitHub.
        commit: Full commit id; not looked at for packages.
        mirrors: Git URL -> a local folder, a git bundle or another git URL to take in its place. A URL is found with
            or without `.git` at its end.
        licence: The repository's licence, which rows do not state.

    Raises:
        BadInput: When the repository cannot be named so; the sentence has no subject but the value.
    """
    if url.startswith(("pypi:", "npm:")):
        found = _PINNED.fullmatch(url)
        if found is None:
            form = f"{url.partition(':')[0]}:NAME==VERSION?sha256=DIGEST"
            raise BadInput(f"The repo_url {quote(url)} is malformed.", f"Write {form}.")
        return Repository(source=found[1], sha256=found[2], licence=licence, homepage=url)
    full = f"https://github.com/{url}" if _GITHUB.fullmatch(url) else url
    if not _COMMIT.fullmatch(commit):
        raise BadInput(f"The base_commit {quote(commit)} is no full commit id.", "Write its 40 hexadecimal digits.")
    known = {_bare(key): value for key, value in mirrors.items()}
    mirror = known.get(_bare(url)) or known.get(_bare(full))
    if mirror is not None:
        place = mirror if _URL.fullmatch(mirror) else _folder(mirror)
    elif _URL.fullmatch(full):
        place = full
    else:
        # A row from a stranger must not choose what is read from this machine's disk.
        raise BadInput(
            f"The repository {quote(url)} is no URL of https, ssh or git.",
            f"Say where it is: --mirror {quote(url)}=PATH.",
        )
    return Repository(source=f"git:{place}", revision=commit, licence=licence, homepage=url)


def row_url(repository: Repository) -> str:
    """Return what a row would call a task's repository.

    Raises:
        BadInput: When it is bundled with its suite, which a row cannot say.
    """
    kind, _, name = repository.source.partition(":")
    if kind in ("pypi", "npm"):
        return f"{repository.source}?sha256={repository.sha256}"
    if kind == "git":
        return name
    raise BadInput(
        f"The repository {quote(repository.source)} lies beside its task.",
        "Rows can name only pypi, npm and git sources.",
    )


def _bare(url: str) -> str:
    return url.rstrip("/").removesuffix(".git")


def _folder(mirror: str) -> Path:
    path = Path(mirror)
    try:
        if path.is_dir() or (path.suffix == ".bundle" and path.is_file()):
            return path.resolve()
    except (OSError, ValueError):  # a name too long, or with a NUL
        pass
    raise BadInput(f"The mirror {quote(mirror)} is neither a folder nor a git URL.", "Correct --mirror URL=PATH.")
